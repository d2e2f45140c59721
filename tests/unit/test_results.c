// SPDX-License-Identifier: Apache-2.0
/* The result tree: what is kept, the order, the verdict and its reason, exit codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "results/results.h"

static struct finding *add(struct results *results, const char *check, enum verdict verdict, const char *host,
			   const char *subject)
{
	struct finding *finding = finding_add(results, check, verdict, subject, "a message");

	finding_host(results, finding, host);
	return finding;
}

static void test_strings_are_copied(void **state)
{
	struct results *results = results_new();
	char text[] = "abc";
	struct finding *f = finding_add(results, text, VERDICT_FAIL, text, "%s-%d", text, 7);

	(void)state;
	finding_host(results, f, text);
	finding_num(results, f, text, text, num_of(5, text), text);
	finding_text(results, f, text, text, text_of(text, text));
	finding_text(results, f, NULL, text, text_err(EACCES, NULL));
	finding_expect(results, f, text, "%s", text);
	finding_remedy(results, f, (struct remedy){ .host = text, .command = text, .advice = text, .disturbs = text });
	memcpy(text, "xyz", 3);
	assert_string_equal(f->check, "abc");
	assert_string_equal(f->subject, "abc");
	assert_string_equal(f->message, "abc-7");
	assert_string_equal(f->hosts[0], "abc");
	assert_string_equal(f->evidence[0].num.origin, "abc");
	assert_string_equal(f->evidence[0].unit, "abc");
	assert_string_equal(f->evidence[1].text.val, "abc");
	assert_true(f->evidence[1].is_text);
	assert_int_equal(f->evidence[2].text.err, EACCES);
	assert_null(f->evidence[2].host);
	assert_string_equal(f->expected, "abc");
	assert_string_equal(f->expected_source, "abc");
	assert_string_equal(f->remedies[0].command, "abc");
	assert_string_equal(f->remedies[0].disturbs, "abc");
	results_free(results);
	assert_null(results_free(NULL));
}

static void test_hosts_once(void **state)
{
	struct results *results = results_new();
	struct finding *f = finding_add(results, "a.b", VERDICT_PASS, NULL, "x");
	char name[] = "head";

	(void)state;
	finding_host(results, f, "head");
	finding_host(results, f, name);
	finding_host(results, f, NULL);
	finding_host(results, f, "worker");
	assert_int_equal(f->n_hosts, 2);
	assert_string_equal(f->hosts[1], "worker");
	assert_string_equal(f->subject, "");
	results_free(results);
}

static void test_many_strings(void **state)
{
	struct results *results = results_new();
	size_t used;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 20000; i++) {
			char subject[32];

			snprintf(subject, sizeof(subject), "mlx5_%d/1", i);
			add(results, "link.state", VERDICT_PASS, i % 2 ? "head" : "worker", subject);
		}
	}
	assert_int_equal(results->n_findings, 40000);
	for (size_t i = 0; i < 20000; i++)
		assert_ptr_equal(results->findings[i].subject, results->findings[i + 20000].subject);
	used = arena_used(results->arena);
	assert_in_range(used, 1, 40000u * 600); /* bytes a finding, growing arrays and all */
	results_free(results);
}

static void test_order(void **state)
{
	static const char *const required[] = { "z.needed", NULL };
	static const char *const want[] = {
		"z.needed fail b 0", "a.x fail  1", "a.x fail a 10", "m.n unknown a ", "m.n warn a ", "z.needed pass a ",
		"a.x pass a rail 2", "a.x pass a rail 10", "a.x pass b rail 1", "a.x skip a ",
	};
	struct results *results = results_new();

	(void)state;
	add(results, "a.x", VERDICT_SKIP, "a", "");
	add(results, "a.x", VERDICT_PASS, "b", "rail 1");
	add(results, "a.x", VERDICT_PASS, "a", "rail 10");
	add(results, "a.x", VERDICT_PASS, "a", "rail 2");
	add(results, "m.n", VERDICT_WARN, "a", "");
	add(results, "z.needed", VERDICT_PASS, "a", "");
	add(results, "m.n", VERDICT_UNKNOWN, "a", "");
	add(results, "a.x", VERDICT_FAIL, "a", "10");
	add(results, "a.x", VERDICT_FAIL, NULL, "1");
	add(results, "z.needed", VERDICT_FAIL, "b", "0");
	results_finish(results, required, NULL);
	assert_int_equal(results->n_findings, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < results->n_findings; i++) {
		const struct finding *f = &results->findings[i];
		char got[128];

		snprintf(got, sizeof(got), "%s %s %s %s", f->check, verdict_name(f->verdict), f->n_hosts ? f->hosts[0] : "",
			 f->subject);
		assert_string_equal(got, want[i]);
		assert_int_equal(f->required, strcmp(f->check, "z.needed") == 0);
	}
	assert_int_equal(results->counts[VERDICT_FAIL], 3);
	assert_int_equal(results->counts[VERDICT_PASS], 4);
	assert_int_equal(results->counts[VERDICT_SKIP], 1);
	assert_int_equal(results->counts[VERDICT_WARN], 1);
	assert_int_equal(results->counts[VERDICT_UNKNOWN], 1);
	results_free(results);
}

/* Findings as "CHECK:VERDICT@HOST …"; then what results_finish() has to make of them. */
static const struct verdict_case {
	const char *findings;
	const char *required[4], *may_skip[2], *not_run;
	enum verdict want;
	const char *why;
} verdict_cases[] = {
	{ .findings = "", .want = VERDICT_UNKNOWN, .why = "nothing was judged" },
	{ .findings = "a.a:s@h", .want = VERDICT_UNKNOWN, .why = "nothing passed" },
	{ .findings = "a.a:w@h", .want = VERDICT_UNKNOWN, .why = "nothing passed" },
	{ .findings = "a.a:p@h", .want = VERDICT_PASS, .why = "nothing is wrong: 1 passed" },
	{ .findings = "a.a:p@h a.b:s@h", .want = VERDICT_PASS, .why = "nothing is wrong: 1 passed, 1 skipped" },
	{ .findings = "a.a:p@h a.b:w@h", .want = VERDICT_WARN, .why = "a.b warns on h" },
	{ .findings = "a.a:p@h a.b:w@h a.c:u@h", .want = VERDICT_UNKNOWN, .why = "a.c could not be decided on h" },
	{ .findings = "a.a:p@h a.b:w@h a.c:u@h a.d:f@worker", .want = VERDICT_FAIL, .why = "a.d failed on worker" },
	{ .findings = "a.d:f@h a.d:f@w a.e:f@h a.f:f@h", .want = VERDICT_FAIL, .why = "a.d failed on h, and 2 more checks" },
	{ .findings = "a.d:f@h a.z:f@w", .required = { "a.z" }, .want = VERDICT_FAIL, .why = "a.z failed on w, and 1 more check" },
	{ .findings = "a.a:p@h", .required = { "a.b" }, .want = VERDICT_UNKNOWN,
	  .why = "required check a.b found nothing to judge" },
	{ .findings = "a.a:p@h", .required = { "a.b" }, .may_skip = { "a.b" }, .want = VERDICT_UNKNOWN,
	  .why = "required check a.b found nothing to judge" },
	{ .findings = "a.a:p@h", .required = { "a.b" }, .not_run = "a.b", .want = VERDICT_UNKNOWN,
	  .why = "required check a.b is not part of this level" },
	{ .findings = "a.a:p@h a.b:s@h", .required = { "a.b" }, .want = VERDICT_UNKNOWN,
	  .why = "required check a.b was skipped on h" },
	{ .findings = "a.a:p@h a.b:s@", .required = { "a.b" }, .want = VERDICT_UNKNOWN, .why = "required check a.b was skipped" },
	{ .findings = "a.a:p@h a.b:s@h", .required = { "a.b" }, .may_skip = { "a.b" }, .want = VERDICT_PASS,
	  .why = "nothing is wrong: 1 passed, 1 skipped" },
	{ .findings = "a.a:p@h a.b:s@h", .required = { "a.b" }, .may_skip = { "a.a" }, .want = VERDICT_UNKNOWN,
	  .why = "required check a.b was skipped on h" },
	/* one unused port beside a good one decides nothing; a whole host that could not be asked does */
	{ .findings = "a.b:s@h a.b:p@h", .required = { "a.b" }, .want = VERDICT_PASS, .why = "nothing is wrong: 1 passed, 1 skipped" },
	{ .findings = "a.b:s@w a.b:p@h", .required = { "a.b" }, .want = VERDICT_UNKNOWN,
	  .why = "required check a.b was skipped on w" },
	{ .findings = "a.b:s@w a.b:p@", .required = { "a.b" }, .want = VERDICT_PASS, .why = "nothing is wrong: 1 passed, 1 skipped" },
	{ .findings = "a.b:s@w a.b:w@w a.a:p@h", .required = { "a.b" }, .want = VERDICT_WARN, .why = "a.b warns on w" },
	{ .findings = "a.a:p@h a.b:u@w", .required = { "a.b" }, .want = VERDICT_UNKNOWN,
	  .why = "a.b could not be decided on w" },
	/* what was skipped or is missing beside it waits for the same answer */
	{ .findings = "a.a:p@h a.b:s@h a.d:s@h", .required = { "a.b", "a.d" }, .want = VERDICT_UNKNOWN,
	  .why = "2 required checks could not be decided: a.b and a.d" },
	{ .findings = "a.a:p@h a.b:s@h a.c:u@h", .required = { "a.b", "a.c", "a.d" }, .want = VERDICT_UNKNOWN,
	  .why = "a.c could not be decided on h, and with it 2 required checks stay open" },
	/* a FAIL decides, whatever else is open */
	{ .findings = "a.a:f@h", .required = { "a.b" }, .want = VERDICT_FAIL, .why = "a.a failed on h" },
	{ .findings = "a.a:f@", .want = VERDICT_FAIL, .why = "a.a failed" },
};

static enum verdict verdict_of(char c)
{
	return c == 'p' ? VERDICT_PASS : c == 's' ? VERDICT_SKIP : c == 'w' ? VERDICT_WARN : c == 'u' ? VERDICT_UNKNOWN
														    : VERDICT_FAIL;
}

static void test_verdict(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(verdict_cases) / sizeof(verdict_cases[0]); i++) {
		const struct verdict_case *one = &verdict_cases[i];
		struct results *results = results_new();
		char check[32], host[32], verdict;
		const char *pos = one->findings;
		int len;

		while (sscanf(pos, " %31[^:]:%c@%n", check, &verdict, &len) == 2) {
			size_t host_len = strcspn(pos + len, " ");

			snprintf(host, sizeof(host), "%.*s", (int)host_len, pos + len);
			add(results, check, verdict_of(verdict), host_len ? host : NULL, "");
			pos += (size_t)len + host_len;
		}
		if (one->not_run)
			*arena_push(results->arena, &results->not_run, &results->n_not_run) = one->not_run;
		results_finish(results, one->required[0] ? one->required : NULL, one->may_skip[0] ? one->may_skip : NULL);
		if (strcmp(results->verdict_why, one->why) != 0 || results->verdict != one->want)
			fail_msg("%s: %s, %s", one->findings, verdict_name(results->verdict), results->verdict_why);
		results_free(results);
	}
}

static void test_finish_twice(void **state)
{
	struct results *results = results_new();

	(void)state;
	add(results, "a.a", VERDICT_PASS, "h", "");
	results_finish(results, NULL, NULL);
	results_finish(results, NULL, NULL);
	assert_int_equal(results->counts[VERDICT_PASS], 1);
	results_free(results);
}

static void test_exit_codes(void **state)
{
	struct results *results = results_new();

	(void)state;
	assert_int_equal(results_exit_code(results, true), 3); /* not finished: nothing decided */
	results->verdict = VERDICT_PASS;
	assert_int_equal(results_exit_code(results, false), 0);
	results->verdict = VERDICT_WARN;
	assert_int_equal(results_exit_code(results, false), 1);
	assert_int_equal(results_exit_code(results, true), 0);
	results->verdict = VERDICT_FAIL;
	assert_int_equal(results_exit_code(results, true), 2);
	results->verdict = VERDICT_UNKNOWN;
	assert_int_equal(results_exit_code(results, true), 3);
	results->verdict = VERDICT_SKIP;
	assert_int_equal(results_exit_code(results, true), 3);
	results_free(results);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(verdict_name(VERDICT_PASS), "pass");
	assert_string_equal(verdict_name(VERDICT_SKIP), "skip");
	assert_string_equal(verdict_name(VERDICT_WARN), "warn");
	assert_string_equal(verdict_name(VERDICT_UNKNOWN), "unknown");
	assert_string_equal(verdict_name(VERDICT_FAIL), "fail");
	assert_string_equal(level_name(LEVEL_PASSIVE), "passive");
	assert_string_equal(level_name(LEVEL_PROBE), "probe");
	assert_string_equal(level_name(LEVEL_FULL), "full");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings_are_copied), cmocka_unit_test(test_hosts_once),
		cmocka_unit_test(test_many_strings),	   cmocka_unit_test(test_order),
		cmocka_unit_test(test_verdict),		   cmocka_unit_test(test_finish_twice),
		cmocka_unit_test(test_exit_codes),	   cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("results", tests, NULL, NULL);
}
