/* SPDX-License-Identifier: Apache-2.0 */
/* What a peer sends goes all the way: records, typed readers, fabric with a healthy head, every check, both reports. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "facts/hosts.h"
#include "judge/judge.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fixtures start from others: their bases come from where the seeds lie, named by the environment. */
static struct records *load_head(void)
{
	const char *path = getenv("FUZZ_HEAD");
	struct records *records = records_new();
	struct fault fault = { 0 };

	if (!path || records_load(records, path, &fault))
		abort();
	return records;
}

static void judge(struct hosts *hosts)
{
	const struct fabric *fabric = hosts_fabric(hosts, NULL);
	struct profile *profile = profile_detect(fabric);
	struct results *results = results_new();
	const struct judge_options options = { .level = LEVEL_FULL };
	const struct report_style style = { .columns = 60, .unicode = true };
	struct buf out = BUF_INIT;

	judge_fabric(results, fabric, profile, &options);
	report_terminal(results, &style, &out);
	for (size_t i = 0; i < out.len; i++)
		if (out.data[i] == '\033' || out.data[i] == '\0')
			abort(); /* foreign text reached the terminal as it was */
	buf_clear(&out);
	report_json(results, &out);
	buf_release(&out);
	results_free(results);
	profile_free(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct records *head;
	struct records *peer = records_new();
	struct fault fault = { 0 };

	if (!head)
		head = load_head();
	if (records_parse(peer, "fuzz", (const char *)data, size, NULL, NULL, &fault) == 0) {
		struct hosts *hosts = hosts_new();

		hosts_add(hosts, head, false);
		hosts_add(hosts, peer, false);
		judge(hosts);
		hosts_free(hosts);
	}
	records_free(peer);
	return 0;
}
