// SPDX-License-Identifier: Apache-2.0
/* What an unread value means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "core/value.h"

static void test_gap_of_each_class(void **state)
{
	(void)state;
	assert_int_equal(value_gap(0), GAP_NONE);
	assert_int_equal(value_gap(ENOENT), GAP_ABSENT);
	assert_int_equal(value_gap(ENODEV), GAP_ABSENT);
	assert_int_equal(value_gap(VALUE_NOT_ASKED), GAP_ABSENT);
	assert_int_equal(value_gap(EOPNOTSUPP), GAP_UNSUPPORTED);
	assert_int_equal(value_gap(524), GAP_UNSUPPORTED); /* the kernel's ENOTSUPP, which drivers leak */
	assert_int_equal(value_gap(EINVAL), GAP_UNSUPPORTED);
	assert_int_equal(value_gap(ENOSYS), GAP_UNSUPPORTED);
	assert_int_equal(value_gap(VALUE_PLACEHOLDER), GAP_UNSUPPORTED);
	assert_int_equal(value_gap(VALUE_SATURATED), GAP_UNSUPPORTED);
	assert_int_equal(value_gap(EACCES), GAP_NOT_PERMITTED);
	assert_int_equal(value_gap(EPERM), GAP_NOT_PERMITTED);
	assert_int_equal(value_gap(EIO), GAP_UNREADABLE);
	assert_int_equal(value_gap(ETIMEDOUT), GAP_UNREADABLE);
	assert_int_equal(value_gap(VALUE_MALFORMED), GAP_UNREADABLE);
	assert_int_equal(value_gap(999999), GAP_UNREADABLE);
	assert_int_equal(value_gap(-EIO), GAP_UNREADABLE);
}

static void test_names_go_both_ways(void **state)
{
	(void)state;
	assert_string_equal(value_err_name(EINVAL), "EINVAL");
	assert_string_equal(value_err_name(EAGAIN), "EAGAIN");
	assert_string_equal(value_err_name(EOPNOTSUPP), "EOPNOTSUPP");
	assert_string_equal(value_err_name(524), "ENOTSUPP");
	assert_string_equal(value_err_name(VALUE_SATURATED), "SATURATED");
	assert_string_equal(value_err_name(0), "E?");
	assert_string_equal(value_err_name(777), "E?");
	assert_int_equal(value_err_number("EINVAL"), EINVAL);
	assert_int_equal(value_err_number("MALFORMED"), VALUE_MALFORMED);
	assert_int_equal(value_err_number("EWOULDBLOCK"), EAGAIN);
	assert_int_equal(value_err_number("ENOTSUP"), EOPNOTSUPP);
	assert_int_equal(value_err_number("einval"), 0);
	assert_int_equal(value_err_number("E?"), 0);
	assert_int_equal(value_err_number(""), 0);
	assert_int_equal(value_err_number(NULL), 0);
}

/* A snapshot names every error by its symbol, so none that libc knows may be missing. */
static void test_every_errno_of_libc_has_its_name(void **state)
{
	(void)state;
	for (int err = 1; err < 200; err++) {
		const char *name = strerrorname_np(err);

		if (!name)
			continue;
		assert_int_equal(value_err_number(name), err);
		assert_string_equal(value_err_name(err), err == EOPNOTSUPP ? "EOPNOTSUPP" : name);
	}
}

static void test_gap_text(void **state)
{
	(void)state;
	assert_string_equal(value_gap_text(EOPNOTSUPP), "not supported by the driver");
	assert_string_equal(value_gap_text(EACCES), "permission denied");
	assert_string_equal(value_gap_text(EIO), "Input/output error");
	assert_string_equal(value_gap_text(99999), "unknown error");
	assert_string_equal(value_gap_text(-1), "unknown error");
}

static void test_constructors(void **state)
{
	(void)state;
	assert_true(num_is(num_of(1500, "here"), 1500));
	assert_false(num_is(num_err(EIO, "here"), 0));
	assert_int_equal(text_err(VALUE_NOT_ASKED, NULL).err, VALUE_NOT_ASKED);
	assert_string_equal(text_of("x", "here").val, "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gap_of_each_class),
		cmocka_unit_test(test_names_go_both_ways),
		cmocka_unit_test(test_every_errno_of_libc_has_its_name),
		cmocka_unit_test(test_gap_text),
		cmocka_unit_test(test_constructors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
