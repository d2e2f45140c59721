// SPDX-License-Identifier: Apache-2.0
/* Faults and clocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fault.h"

static void test_fault_set(void **state)
{
	struct fault fault = { 0 };

	(void)state;
	assert_int_equal(fault_set(&fault, EPROTO, "frame %d is too long", 3), -EPROTO);
	assert_int_equal(fault.err, EPROTO);
	assert_string_equal(fault.msg, "frame 3 is too long");
	assert_int_equal(fault_set(NULL, EIO, "no one listens"), -EIO);
	fault_prefix(&fault, "peer %s", "worker");
	assert_string_equal(fault.msg, "peer worker: frame 3 is too long");
	assert_int_equal(fault.err, EPROTO);
	fault_prefix(NULL, "nothing");
	assert_int_equal(fault_set(&fault, EIO, "again: %s", fault.msg), -EIO);
	assert_string_equal(fault.msg, "again: peer worker: frame 3 is too long");
}

static void test_fault_cuts_at_a_character(void **state)
{
	struct fault fault = { 0 };
	char text[2000];
	size_t len;

	(void)state;
	for (size_t shift = 0; shift < 3; shift++) {
		memset(text, 'a', shift);
		for (size_t i = shift; i + 3 < sizeof(text); i += 3)
			memcpy(text + i, "\xe2\x82\xac", 4); /* a euro sign */
		fault_set(&fault, EIO, "%s", text);
		len = strlen(fault.msg);
		assert_in_range(len, sizeof(fault.msg) - 4, sizeof(fault.msg) - 1);
		assert_string_equal(fault.msg + len - 3, "…");
		assert_int_equal((len - 3 - shift) % 3, 0);
	}
	fault_prefix(&fault, "front");
	assert_memory_equal(fault.msg, "front: aa", 9);
	assert_string_equal(fault.msg + strlen(fault.msg) - 3, "…");
}

static void test_rfc3339(void **state)
{
	char out[32];

	(void)state;
	assert_string_equal(clock_rfc3339(0, out, sizeof(out)), "1970-01-01T00:00:00.000Z");
	assert_string_equal(clock_rfc3339(1796052215999999999, out, sizeof(out)), "2026-11-30T15:23:35.999Z");
	assert_string_equal(clock_rfc3339(-1, out, sizeof(out)), "1969-12-31T23:59:59.999Z");
	assert_string_equal(clock_rfc3339(INT64_MAX, out, sizeof(out)), "2262-04-11T23:47:16.854Z");
	assert_string_equal(clock_rfc3339(0, out, 5), "");
}

static void test_deadlines(void **state)
{
	struct deadline never = { .at_ns = INT64_MAX };
	struct deadline later = deadline_in_ms(60000), past = deadline_in_ms(-5);

	(void)state;
	assert_false(deadline_passed(never));
	assert_int_equal(deadline_poll_ms(never), -1);
	assert_true(deadline_in_ms(INT64_MAX).at_ns == INT64_MAX);
	assert_true(deadline_passed(past));
	assert_int_equal(deadline_poll_ms(past), 0);
	assert_true(deadline_passed(deadline_in_ms(INT64_MIN)));
	assert_true(deadline_passed(deadline_in_ms(0)));
	assert_in_range(deadline_poll_ms(later), 1000, 60000);
	assert_true(deadline_earlier(later, past).at_ns == past.at_ns);
	assert_true(deadline_earlier(never, later).at_ns == later.at_ns);
	/* Rounded up: poll() must not spin in the last millisecond. */
	assert_in_range(deadline_poll_ms((struct deadline){ .at_ns = clock_boot_ns() + 999999000 }), 2, 1000);
	assert_int_equal(deadline_poll_ms((struct deadline){ .at_ns = INT64_MAX - 1 }), INT_MAX);
}

static void test_clocks_move_on(void **state)
{
	int64_t first = clock_boot_ns();

	(void)state;
	assert_true(first > 0);
	assert_true(clock_boot_ns() >= first);
	assert_true(clock_real_ns() > 1600000000ll * 1000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault_set),
		cmocka_unit_test(test_fault_cuts_at_a_character),
		cmocka_unit_test(test_rfc3339),
		cmocka_unit_test(test_deadlines),
		cmocka_unit_test(test_clocks_move_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
