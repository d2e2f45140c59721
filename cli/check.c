/* SPDX-License-Identifier: Apache-2.0 */
/* sparkfab check: gather (or read snapshot files), judge, report. */
#include <errno.h>
#include <string.h>

#include "cli/config.h"
#include "cli/gather.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "core/arena.h"
#include "core/clock.h"
#include "facts/hosts.h"
#include "judge/judge.h"
#include "report/report.h"
#include "results/exit_codes.h"
#include "rules/profile.h"

#define REPORT_MAX ((size_t)1 << 30) /* bytes: a thousand hosts, every finding in full */

enum format { FORMAT_TEXT, FORMAT_JSON };
static const char *const format_choices[] = { "text", "json", NULL };
static const char *const level_choices[] = { "passive", "probe", "full", NULL };

struct arguments {
	struct gather_options gather;
	struct option_list snapshots, only;
	const char *profile, *record;
	int level; /* -1: by what is checked */
	int format, color;
	bool warn_ok, verbose;
};

/* What one run holds on to until its report is written: findings point into all of it. */
struct run {
	struct gathering *gathering;
	struct hosts *hosts;
	struct profile *profile;
	struct results *results;
};

static void run_release(struct run *run)
{
	results_free(run->results);
	profile_free(run->profile);
	hosts_free(run->hosts);
	gathering_free(run->gathering);
}

static int load_snapshots(const struct arguments *args, struct hosts *hosts, struct fault *reterr)
{
	int err = 0;

	for (size_t i = 0; i < args->snapshots.n && !err; i++)
		err = hosts_add_file(hosts, args->snapshots.items[i], reterr);
	return err;
}

/* Files are judged at the level that they were recorded at, live hosts at probe as soon as there is a peer. */
static enum level chosen_level(const struct arguments *args, const char *recorded)
{
	if (args->level >= 0)
		return (enum level)args->level;
	for (int i = 0; recorded && level_choices[i]; i++)
		if (!strcmp(recorded, level_choices[i]))
			return (enum level)i;
	return args->gather.peers.n ? LEVEL_PROBE : LEVEL_PASSIVE;
}

static int find_hosts(struct arguments *args, struct run *run, struct fault *reterr)
{
	int err;

	run->hosts = hosts_new();
	if (args->snapshots.n) {
		verb_end_at_once();
		err = load_snapshots(args, run->hosts, reterr);
		if (!err && hosts_count(run->hosts) == 0)
			err = fault_set(reterr, EINVAL, "none of the snapshot files holds a host's facts");
		args->gather.level = chosen_level(args, err ? NULL : hosts_level(run->hosts));
		return err;
	}
	args->gather.level = chosen_level(args, NULL);
	err = gather_live(&args->gather, &run->gathering, reterr);
	if (!err && args->record)
		err = gathering_save(run->gathering, args->record, reterr);
	if (err)
		return err;
	verb_end_at_once();
	gathering_add_to(run->gathering, run->hosts);
	return 0;
}

static int choose_profile(const char *name, const struct fabric *fabric, struct profile **ret, struct fault *reterr)
{
	if (name) /* whatever is wrong with it, a profile is configuration */
		return profile_load(name, ret, reterr) ? -EINVAL : 0;
	*ret = profile_detect(fabric);
	return 0;
}

/* Ids are checked before anything is asked of a host: a typo must not pass for a check that found nothing. */
static int check_only(const struct option_list *only, const char *const **ret, struct arena *arena, struct fault *reterr)
{
	const char **ids = arena_array(arena, only->n + 1, sizeof(*ids));

	for (size_t i = 0; i < only->n; i++) {
		bool known = check_find(only->items[i]) != NULL;
		size_t len = strlen(only->items[i]);

		for (const struct check *const *check = check_registry; *check && !known; check++)
			known = !strncmp((*check)->id, only->items[i], len) && (*check)->id[len] == '.';
		if (!known)
			return fault_set(reterr, EINVAL, "--only %s: no check and no family is called so; see `sparkfab list checks`",
					 only->items[i]);
		ids[i] = only->items[i];
	}
	*ret = only->n ? ids : NULL;
	return 0;
}

static int judge(struct arguments *args, struct run *run, const char *const *only, struct fault *reterr)
{
	struct judge_options options = { .only = only };
	int64_t started_ns = clock_boot_ns(), started_real_ns = clock_real_ns();
	const struct fabric *fabric;
	int err = find_hosts(args, run, reterr);

	if (err)
		return err;
	fabric = hosts_fabric(run->hosts, NULL);
	err = choose_profile(args->profile, fabric, &run->profile, reterr);
	if (err)
		return err;
	options.level = args->gather.level;
	run->results = results_new();
	run->results->started_real_ns = started_real_ns;
	judge_fabric(run->results, fabric, run->profile, &options);
	run->results->duration_ns = clock_boot_ns() - started_ns;
	return 0;
}

static int report(const struct verb *verb, const struct arguments *args, const struct results *results)
{
	cleanup_buf struct buf out = BUF_INIT_MAX(REPORT_MAX);
	struct report_style style = output_style((enum color_choice)args->color, args->verbose);

	if (args->format == FORMAT_JSON)
		report_json(results, &out);
	else
		report_terminal(results, &style, &out);
	return output_write(verb->name, &out, results_exit_code(results, args->warn_ok));
}

static int validate(struct arguments *args, struct arena *arena, const char *const **ret_only, struct fault *reterr)
{
	struct config config = { 0 };
	int err = config_read(CONFIG_PATH, arena, &config, reterr);

	if (err)
		return err;
	if (!args->profile)
		args->profile = config.profile;
	if (!args->gather.via)
		args->gather.via = config.via;
	if (args->snapshots.n && (args->gather.peers.n || args->record))
		return fault_set(reterr, EINVAL, "--snapshot judges files; it goes with neither --peer nor --record");
	if (args->gather.timeout_s < 1 || args->gather.timeout_s > 3600)
		return fault_set(reterr, EINVAL, "--timeout wants 1 to 3600 seconds");
	err = gather_check_peers(&args->gather, reterr);
	if (!err)
		err = check_only(&args->only, ret_only, arena, reterr);
	return err;
}

/* Where a complaint is about the command line and where about a file decides between usage and configuration. */
static int check(const struct verb *verb, struct arguments *args)
{
	struct arena *arena = arena_new();
	struct run run = { 0 };
	struct fault fault = { 0 };
	const char *const *only = NULL;
	int code, err = validate(args, arena, &only, &fault);

	if (err) {
		code = verb_fail(verb, strstr(fault.msg, CONFIG_PATH) ? EXIT_CODE_CONFIG : EXIT_CODE_USAGE, &fault);
	} else if ((err = judge(args, &run, only, &fault)) == -EINTR && verb_stop) {
		code = EXIT_CODE_UNKNOWN; /* main raises the signal again */
	} else if (err) {
		code = verb_fail(verb, verb_exit_code(err), &fault);
	} else {
		code = report(verb, args, run.results);
	}
	run_release(&run);
	arena_free(arena);
	return code;
}

static int run(const struct verb *verb, int argc, char *argv[])
{
	struct arguments args = { .level = -1, .gather.timeout_s = 20 };
	const struct option_def options[] = {
		{ "peer", 'p', "[USER@]HOST", "check that host too, and the fabric to it (repeatable)", OPTION_LIST,
		  &args.gather.peers },
		{ "via", 0, "CMD", "reach peers by this command in place of ssh, e.g. 'docker exec -i {host}'", OPTION_TEXT,
		  &args.gather.via },
		{ "no-deploy", 0, NULL, "never copy the agent to a peer; it must be installed there", OPTION_FLAG,
		  &args.gather.no_deploy },
		{ "timeout", 0, "SECONDS", "how long to try to reach a peer (default 20)", OPTION_I64, &args.gather.timeout_s },
		{ "level", 'l', "LEVEL",
		  "passive: reads only; probe: seconds of light tests (default with a peer); full: measurements too",
		  OPTION_CHOICE, &args.level, level_choices },
		{ "only", 0, "ID", "only this check or family, e.g. mtu (repeatable)", OPTION_LIST, &args.only },
		{ "profile", 0, "NAME|FILE", "what to expect; found from the hardware by default", OPTION_TEXT, &args.profile },
		{ "snapshot", 's', "FILE", "judge this recorded host, the first is the head (repeatable)", OPTION_LIST,
		  &args.snapshots },
		{ "record", 0, "DIR", "keep what was seen: one snapshot file a host", OPTION_TEXT, &args.record },
		{ "format", 'f', "FORMAT", "text or json", OPTION_CHOICE, &args.format, format_choices },
		{ "color", 0, "WHEN", "auto, always or never", OPTION_CHOICE, &args.color, color_choices },
		{ "verbose", 'v', NULL, "every finding in full", OPTION_FLAG, &args.verbose },
		{ "warn-ok", 0, NULL, "exit 0 where only warnings were found", OPTION_FLAG, &args.warn_ok },
		{ 0 },
	};
	struct option_list operands = { 0 };
	struct fault fault = { 0 };
	int code = verb_parse(verb, options, argc, argv, &operands);

	if (code < 0 && operands.n) {
		fault_set(&fault, 0, "'%s' is not expected here; a host is given with --peer", operands.items[0]);
		code = verb_fail(verb, EXIT_CODE_USAGE, &fault);
	}
	if (code < 0)
		code = check(verb, &args);
	option_list_release(&operands);
	option_list_release(&args.gather.peers);
	option_list_release(&args.snapshots);
	option_list_release(&args.only);
	return code;
}

const struct verb verb_check = {
	.name = "check",
	.synopsis = "[--peer HOST]… [OPTIONS]",
	.help = "Checks this host, or this host, its peers and the fabric between them",
	.details = "Exit codes: 0 pass, 1 warnings, 2 failures, 3 something could not be decided.",
	.run = run,
};
