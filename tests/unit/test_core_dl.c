// SPDX-License-Identifier: Apache-2.0
/* Libraries opened at run time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "core/dl.h"

struct table {
	double (*cosine)(double);
	double (*versioned)(double);
	int (*missing)(void);
};

#define AT(member) offsetof(struct table, member)

static const char *const names[] = { "libsparkfab-no-such.so.9", "libm.so.6", NULL };

static void test_opens_the_first_that_is_there(void **state)
{
	static const struct dl_symbol symbols[] = {
		{ "cos", AT(cosine), NULL, 0 },
		{ "no_such_function", AT(missing), NULL, 1 },
		{ 0 },
	};
	struct table table = { 0 };
	struct fault fault = { 0 };

	(void)state;
	assert_int_equal(dl_open_table(names, symbols, &table, &fault), 0);
	assert_non_null(table.cosine);
	assert_true(table.cosine(0.0) > 0.999);
	assert_null(table.missing);
	assert_int_equal(fault.err, 0);
}

static void test_no_library(void **state)
{
	static const char *const none[] = { "libsparkfab-no-such.so.9", "libsparkfab-no-such.so", NULL };
	static const struct dl_symbol symbols[] = { { 0 } };
	struct table table = { 0 };
	struct fault fault = { 0 };

	(void)state;
	assert_int_equal(dl_open_table(none, symbols, &table, &fault), -ENOENT);
	assert_int_equal(fault.err, ENOENT);
	assert_non_null(strstr(fault.msg, "cannot load libsparkfab-no-such.so.9: "));
	assert_int_equal(dl_open_table(none, symbols, &table, NULL), -ENOENT);
}

static void test_a_missing_symbol_leaves_the_table_alone(void **state)
{
	static const struct dl_symbol symbols[] = {
		{ "cos", AT(cosine), NULL, 0 },
		{ "no_such_function", AT(missing), NULL, 0 },
		{ 0 },
	};
	struct table table = { 0 };
	struct fault fault = { 0 };

	(void)state;
	assert_int_equal(dl_open_table(names, symbols, &table, &fault), -ELIBACC);
	assert_null(table.cosine);
	assert_string_equal(fault.msg, "libm.so.6 has no no_such_function: too old, or not the library it should be");
}

static void test_symbol_versions(void **state)
{
#if defined(__x86_64__)
	static const struct dl_symbol right[] = { { "cos", AT(versioned), "GLIBC_2.2.5", 0 }, { 0 } };
#else
	static const struct dl_symbol right[] = { { "cos", AT(versioned), "GLIBC_2.17", 0 }, { 0 } };
#endif
	static const struct dl_symbol wrong[] = { { "cos", AT(versioned), "NOPE_1.0", 0 }, { 0 } };
	struct table table = { 0 };
	struct fault fault = { 0 };

	(void)state;
	assert_int_equal(dl_open_table(names, wrong, &table, &fault), -ELIBACC);
	assert_non_null(strstr(fault.msg, "cos@NOPE_1.0"));
	assert_int_equal(dl_open_table(names, right, &table, &fault), 0);
	assert_true(table.versioned(0.0) > 0.999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opens_the_first_that_is_there),
		cmocka_unit_test(test_no_library),
		cmocka_unit_test(test_a_missing_symbol_leaves_the_table_alone),
		cmocka_unit_test(test_symbol_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
