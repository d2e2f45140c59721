/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and deadlines. Ages and waits use the boot clock, which no one sets; wall time is only ever shown. */
#ifndef SPARKFAB_CORE_CLOCK_H
#define SPARKFAB_CORE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t clock_boot_ns(void);
int64_t clock_real_ns(void);

/* "2026-11-30T15:23:35.123Z" into out (32 bytes hold it; "" if it does not fit); returns out. */
char *clock_rfc3339(int64_t real_ns, char *out, size_t size);

struct deadline {
	int64_t at_ns; /* boot clock; INT64_MAX: never */
};

struct deadline deadline_in_ms(int64_t ms);
struct deadline deadline_earlier(struct deadline a, struct deadline b);
bool deadline_passed(struct deadline d);

/* For poll(2): milliseconds left, rounded up, 0 if passed, -1 for never. */
int deadline_poll_ms(struct deadline d);

#endif
