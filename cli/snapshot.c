/* SPDX-License-Identifier: Apache-2.0 */
/* sparkfab snapshot: records what a check would look at, to be judged later with `check --snapshot`. */
#include <errno.h>

#include "cli/gather.h"
#include "cli/output.h"
#include "cli/verb.h"
#include "results/exit_codes.h"

static int write_snapshot(const struct verb *verb, const struct gathering *gathering, const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fault fault = { 0 };
	int err;

	records_write(gathering_records(gathering, 0), false, &text);
	if (!path)
		return output_write(verb->name, &text, EXIT_CODE_PASS);
	err = output_file(path, &text, &fault);
	return err ? verb_fail(verb, verb_exit_code(err), &fault) : EXIT_CODE_PASS;
}

static int record(const struct verb *verb, const struct gather_options *options, const char *path)
{
	struct gathering *gathering = NULL;
	struct fault fault = { 0 };
	int code, err = gather_live(options, &gathering, &fault);

	if (err == -EINTR)
		return EXIT_CODE_UNKNOWN; /* main raises the signal again */
	if (err)
		return verb_fail(verb, verb_exit_code(err), &fault);
	code = write_snapshot(verb, gathering, path);
	gathering_free(gathering);
	return code;
}

static int run(const struct verb *verb, int argc, char *argv[])
{
	struct gather_options gather = { .level = LEVEL_PROBE }; /* both readings of the counters */
	const char *path = NULL;
	bool quick = false;
	const struct option_def options[] = {
		{ "output", 'o', "FILE", "where to write it; standard output by default", OPTION_TEXT, &path },
		{ "quick", 'q', NULL, "one reading of the counters instead of two a second apart", OPTION_FLAG, &quick },
		{ 0 },
	};
	struct option_list operands = { 0 };
	struct fault fault = { 0 };
	int code = verb_parse(verb, options, argc, argv, &operands);

	if (code < 0 && operands.n) {
		fault_set(&fault, 0, "'%s' is not expected here; the file is given with -o", operands.items[0]);
		code = verb_fail(verb, EXIT_CODE_USAGE, &fault);
	}
	if (quick)
		gather.level = LEVEL_PASSIVE;
	if (code < 0)
		code = record(verb, &gather, path);
	option_list_release(&operands);
	return code;
}

const struct verb verb_snapshot = {
	.name = "snapshot",
	.synopsis = "[-o FILE]",
	.help = "Records this host's facts as a text file",
	.details = "Several hosts at once, with what a check found between them: sparkfab check --peer HOST --record DIR.\n"
		   "Judge again: sparkfab check --snapshot FILE --snapshot FILE.",
	.run = run,
};
