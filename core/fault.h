/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why something could not be done, for the one who decides what to print. Library functions return 0 or -errno and never
 * print; where a bare errno does not tell the user what to mend (a line of a profile, a frame of a peer) their last
 * parameter is a `struct fault *reterr`, filled on failure and untouched on success. NULL is allowed. A message may quote
 * foreign text as it came: whoever prints it passes it through text_add_visible().
 */
#ifndef SPARKFAB_CORE_FAULT_H
#define SPARKFAB_CORE_FAULT_H

#include <stdarg.h>

struct fault {
	int err;	/* positive errno; 0 if nothing went wrong */
	char msg[512];	/* one line, no full stop at its end, names the thing and what to do */
};

/* Fills *reterr (if not NULL) and returns -err, so that `return fault_set(reterr, EPROTO, "…");` reads well. */
int fault_set(struct fault *reterr, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the message that is there already. */
void fault_prefix(struct fault *fault, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
