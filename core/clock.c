// SPDX-License-Identifier: Apache-2.0
/* Clocks and deadlines. */
#include "core/clock.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

#define NS_PER_MS 1000000
#define NS_PER_S 1000000000

static int64_t read_clock(clockid_t id)
{
	struct timespec now = { 0 };

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_boot_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

int64_t clock_real_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

char *clock_rfc3339(int64_t real_ns, char *out, size_t size)
{
	/* Rounds towards the past before 1970 too. */
	time_t seconds = (time_t)(real_ns / NS_PER_S - (real_ns % NS_PER_S < 0));
	int ms = (int)((real_ns - (int64_t)seconds * NS_PER_S) / 1000000);
	char text[40];
	struct tm tm;

	if (!size)
		return out;
	out[0] = '\0';
	if (gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) &&
	    snprintf(out, size, "%s.%03dZ", text, ms) >= (int)size)
		out[0] = '\0';
	return out;
}

struct deadline deadline_in_ms(int64_t ms)
{
	int64_t wait, at;

	if (__builtin_mul_overflow(ms, (int64_t)NS_PER_MS, &wait) || __builtin_add_overflow(clock_boot_ns(), wait, &at))
		at = ms < 0 ? 0 : INT64_MAX;
	return (struct deadline){ .at_ns = at };
}

struct deadline deadline_earlier(struct deadline a, struct deadline b)
{
	return a.at_ns < b.at_ns ? a : b;
}

bool deadline_passed(struct deadline d)
{
	return d.at_ns != INT64_MAX && clock_boot_ns() >= d.at_ns;
}

int deadline_poll_ms(struct deadline d)
{
	int64_t left;

	if (d.at_ns == INT64_MAX)
		return -1;
	left = d.at_ns - clock_boot_ns();
	if (left <= 0)
		return 0;
	left = left / NS_PER_MS + (left % NS_PER_MS != 0);
	return left > INT_MAX ? INT_MAX : (int)left;
}
