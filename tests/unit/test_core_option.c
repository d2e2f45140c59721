// SPDX-License-Identifier: Apache-2.0
/* Options: every way to write them, every way to get them wrong, and the help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/option.h"

static const char *const levels[] = { "passive", "probe", "full", NULL };

static struct {
	bool quiet, verbose;
	const char *output;
	struct option_list peers;
	int64_t timeout;
	int level;
} arg;

static const struct option_def options[] = {
	{ "peer", 'p', "[USER@]HOST", "a host to check together with this one", OPTION_LIST, &arg.peers, NULL },
	{ "output", 'o', "FILE", "where to write", OPTION_TEXT, &arg.output, NULL },
	{ "quiet", 'q', NULL, "say less", OPTION_FLAG, &arg.quiet, NULL },
	{ "verbose", 'v', NULL, "say more", OPTION_FLAG, &arg.verbose, NULL },
	{ "timeout", 't', "SECONDS", "give up after that", OPTION_I64, &arg.timeout, NULL },
	{ "level", 0, NULL, "how much is done", OPTION_CHOICE, &arg.level, levels },
	{ 0 },
};

static struct option_list operands;
static struct fault fault;

#define MOST_WORDS 16

/* Parses the words after "check"; operands and what was set are left in the statics above. */
static int parse(const char *const words[])
{
	static char *argv[MOST_WORDS + 2];
	int argc = 0;

	option_list_release(&arg.peers);
	option_list_release(&operands);
	memset(&arg, 0, sizeof(arg));
	memset(&fault, 0, sizeof(fault));
	for (int i = 0; argv[i]; i++) {
		free(argv[i]);
		argv[i] = NULL;
	}
	argv[argc++] = xstrdup("check");
	for (; argc <= MOST_WORDS && words[argc - 1]; argc++)
		argv[argc] = xstrdup(words[argc - 1]);
	return option_parse(options, argc, argv, &operands, &fault);
}

#define PARSE(...) parse((const char *const[]){ __VA_ARGS__, NULL })

static void test_nothing(void **state)
{
	(void)state;
	assert_int_equal(PARSE(NULL), 0);
	assert_int_equal(operands.n, 0);
	assert_int_equal(arg.peers.n, 0);
}

static void test_every_form_of_a_value(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--peer=a", "--peer", "b", "-p", "c", "-pd", "-p=e", "--peer="), 0);
	assert_int_equal(arg.peers.n, 6);
	assert_string_equal(arg.peers.items[0], "a");
	assert_string_equal(arg.peers.items[1], "b");
	assert_string_equal(arg.peers.items[2], "c");
	assert_string_equal(arg.peers.items[3], "d");
	assert_string_equal(arg.peers.items[4], "=e"); /* as getopt has it */
	assert_string_equal(arg.peers.items[5], "");
	assert_int_equal(PARSE("--output", "-", "--timeout", "-5", "--level=full"), 0);
	assert_string_equal(arg.output, "-");
	assert_int_equal(arg.timeout, -5);
	assert_int_equal(arg.level, 2);
	assert_int_equal(PARSE("-o", "x", "--output=y=z"), 0);
	assert_string_equal(arg.output, "y=z");
}

static void test_bundled_letters(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-qv"), 0);
	assert_true(arg.quiet && arg.verbose);
	assert_int_equal(PARSE("-qt30", "-vo", "file"), 0);
	assert_true(arg.quiet && arg.verbose);
	assert_int_equal(arg.timeout, 30);
	assert_string_equal(arg.output, "file");
	assert_int_equal(PARSE("-vx"), -EINVAL);
	assert_string_equal(fault.msg, "unknown option \"-x\", see --help");
	assert_int_equal(PARSE("-v\xc3\xbc"), -EINVAL);
	assert_string_equal(fault.msg, "unknown option in \"-v\xc3\xbc\", see --help");
}

static void test_operands_are_mixed_in(void **state)
{
	(void)state;
	assert_int_equal(PARSE("one", "-q", "two", "-", "--", "--quiet", "-x", "--"), 0);
	assert_true(arg.quiet);
	assert_int_equal(operands.n, 6);
	assert_string_equal(operands.items[0], "one");
	assert_string_equal(operands.items[1], "two");
	assert_string_equal(operands.items[2], "-");
	assert_string_equal(operands.items[3], "--quiet");
	assert_string_equal(operands.items[4], "-x");
	assert_string_equal(operands.items[5], "--");
	assert_int_equal(PARSE("", "a"), 0);
	assert_string_equal(operands.items[0], "");
}

static void test_unknown_options_get_the_nearest(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--pere"), -EINVAL);
	assert_string_equal(fault.msg, "unknown option \"--pere\", did you mean --peer?");
	assert_int_equal(PARSE("--qiuet=1"), -EINVAL);
	assert_string_equal(fault.msg, "unknown option \"--qiuet\", did you mean --quiet?");
	assert_int_equal(PARSE("--out", "x"), -EINVAL); /* no abbreviations: they break when options are added */
	assert_string_equal(fault.msg, "unknown option \"--out\", did you mean --output?");
	assert_int_equal(PARSE("--peers", "x"), -EINVAL);
	assert_string_equal(fault.msg, "unknown option \"--peers\", did you mean --peer?");
	assert_int_equal(PARSE("--something-else"), -EINVAL);
	assert_string_equal(fault.msg, "unknown option \"--something-else\", see --help");
	assert_int_equal(PARSE("--=x"), -EINVAL);
	assert_string_equal(fault.msg, "unknown option \"--\", see --help");
	assert_int_equal(PARSE("--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), -EINVAL);
	assert_int_equal(operands.n, 0);
}

static void test_missing_values(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--peer"), -EINVAL);
	assert_string_equal(fault.msg, "--peer wants [USER@]HOST after it");
	assert_int_equal(PARSE("-qp"), -EINVAL);
	assert_string_equal(fault.msg, "--peer wants [USER@]HOST after it");
	assert_int_equal(PARSE("--level"), -EINVAL);
	assert_string_equal(fault.msg, "--level wants one of passive, probe, full after it");
	assert_int_equal(PARSE("--output", "--timeout=3"), -EINVAL);
	assert_string_equal(fault.msg,
			    "--output wants FILE before --timeout=3 (or --output=--timeout=3, if that is meant)");
	assert_int_equal(PARSE("--output=--timeout=3"), 0);
	assert_string_equal(arg.output, "--timeout=3");
	assert_int_equal(PARSE("--quiet=yes"), -EINVAL);
	assert_string_equal(fault.msg, "--quiet takes no value, but has \"yes\"");
}

static void test_bad_numbers_and_choices(void **state)
{
	(void)state;
	assert_int_equal(PARSE("--timeout=abc"), -EINVAL);
	assert_string_equal(fault.msg, "--timeout wants a whole number, not \"abc\"");
	assert_int_equal(PARSE("-t", "9223372036854775808"), -EINVAL);
	assert_int_equal(PARSE("-t", ""), -EINVAL);
	assert_int_equal(PARSE("-t", "5\n"), -EINVAL);
	assert_int_equal(PARSE("-t0x10"), 0);
	assert_int_equal(arg.timeout, 16);
	assert_int_equal(PARSE("--level", "most"), -EINVAL);
	assert_string_equal(fault.msg, "--level wants one of passive, probe, full, not \"most\"");
	assert_int_equal(PARSE("--level="), -EINVAL);
}

static void test_a_verb_without_operands(void **state)
{
	char verb[] = "list", word[] = "extra";
	char *argv[] = { verb, word, NULL };

	(void)state;
	assert_int_equal(option_parse(options, 1, argv, NULL, &fault), 0);
	assert_int_equal(option_parse(options, 2, argv, NULL, &fault), -EINVAL);
	assert_string_equal(fault.msg, "nothing is expected here but options: \"extra\"");
	assert_int_equal(option_parse(options, 2, argv, NULL, NULL), -EINVAL);
	PARSE(NULL);
}

static void assert_help(size_t columns, const char *want)
{
	cleanup_free char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	option_print_help(options, out, columns);
	fclose(out);
	assert_string_equal(text, want);
}

static void test_help(void **state)
{
	static const char wide[] =
		"  -p, --peer [USER@]HOST  a host to check together with this one\n"
		"  -o, --output FILE       where to write\n"
		"  -q, --quiet             say less\n"
		"  -v, --verbose           say more\n"
		"  -t, --timeout SECONDS   give up after that\n"
		"      --level passive|probe|full\n"
		"                          how much is done\n";

	(void)state;
	assert_help(80, wide);
	assert_help(0, wide);
	assert_help(58,
		    "  -p, --peer [USER@]HOST  a host to check together with\n"
		    "                          this one\n"
		    "  -o, --output FILE       where to write\n"
		    "  -q, --quiet             say less\n"
		    "  -v, --verbose           say more\n"
		    "  -t, --timeout SECONDS   give up after that\n"
		    "      --level passive|probe|full\n"
		    "                          how much is done\n");
	assert_help(30,
		    "  -p, --peer [USER@]HOST\n"
		    "        a host to check\n"
		    "        together with this one\n"
		    "  -o, --output FILE\n"
		    "        where to write\n"
		    "  -q, --quiet\n"
		    "        say less\n"
		    "  -v, --verbose\n"
		    "        say more\n"
		    "  -t, --timeout SECONDS\n"
		    "        give up after that\n"
		    "      --level passive|probe|full\n"
		    "        how much is done\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_every_form_of_a_value),
		cmocka_unit_test(test_bundled_letters),
		cmocka_unit_test(test_operands_are_mixed_in),
		cmocka_unit_test(test_unknown_options_get_the_nearest),
		cmocka_unit_test(test_missing_values),
		cmocka_unit_test(test_bad_numbers_and_choices),
		cmocka_unit_test(test_a_verb_without_operands),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
