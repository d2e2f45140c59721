// SPDX-License-Identifier: Apache-2.0
/*
 * What judging many recorded hosts costs, by its parts: bench_judge FILE… prints processor time and memory of reading the
 * files, joining the hosts to a fabric, judging it, and writing the report. Processor time, since others may use the machine.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "core/buf.h"
#include "core/fault.h"
#include "facts/hosts.h"
#include "judge/judge.h"
#include "report/report.h"
#include "rules/profile.h"

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* One column: seconds since the last one, and how much the peak of memory has grown. */
static void column(const char *name)
{
	static double last_s;
	static long last_kib;
	double s = cpu_s();
	long kib = peak_kib();

	if (name)
		printf("  %s %6.3f s %+6.1f MiB", name, s - last_s, (double)(kib - last_kib) / 1024);
	last_s = cpu_s();
	last_kib = kib;
}

int main(int argc, char *argv[])
{
	struct hosts *hosts = hosts_new();
	struct results *results = results_new();
	struct judge_options options = { .level = LEVEL_PASSIVE };
	struct fault fault = { 0 };
	cleanup_buf struct buf out = BUF_INIT;
	const struct fabric *fabric;
	struct profile *profile;

	column(NULL);
	for (int i = 1; i < argc; i++) {
		if (hosts_add_file(hosts, argv[i], &fault)) {
			fprintf(stderr, "%s\n", fault.msg);
			return 1;
		}
	}
	printf("%4zu hosts:", hosts_count(hosts));
	column("read");
	fabric = hosts_fabric(hosts, NULL);
	profile = profile_detect(fabric);
	column("join");
	judge_fabric(results, fabric, profile, &options);
	column("judge");
	report_json(results, &out);
	column("report");
	printf("  %s, %zu findings, peak %.1f MiB\n", verdict_name(results->verdict), results->n_findings,
	       (double)peak_kib() / 1024);
	results_free(results);
	profile_free(profile);
	hosts_free(hosts);
	return 0;
}
