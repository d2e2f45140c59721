/* SPDX-License-Identifier: Apache-2.0 */
/* What main and the verbs share. One file a verb: cli/check.c defines verb_check. */
#ifndef SPARKFAB_CLI_VERB_H
#define SPARKFAB_CLI_VERB_H

#include <stdbool.h>

#include "core/fault.h"
#include "core/option.h"

struct verb {
	const char *name;
	const char *synopsis; /* "[--peer HOST]… [OPTIONS]" */
	const char *help;     /* one line */
	const char *details;  /* a paragraph or two for --help; NULL */
	int (*run)(const struct verb *verb, int argc, char *argv[]); /* returns the exit code */
};

extern const struct verb verb_check, verb_snapshot, verb_list, verb_explain;
extern const struct verb *const verb_table[]; /* ends with NULL */

/* Becomes true when SIGINT, SIGTERM or SIGHUP came. The only global that changes: a handler can reach nothing else. */
extern volatile bool verb_stop;

/* From here on a signal ends the program at once: there is nothing left to clean up. Transports and agents end with us. */
void verb_end_at_once(void);

/*
 * Parses the verb's arguments. Returns -1 to go on, else the exit code to end with: after --help (0) or a usage error (64,
 * already told on stderr).
 */
int verb_parse(const struct verb *verb, const struct option_def options[], int argc, char *argv[],
	       struct option_list *ret_operands);

/* Tells `fault` on stderr as "sparkfab VERB: message", made visible, and returns `exit_code`. */
int verb_fail(const struct verb *verb, int exit_code, const struct fault *fault);

/* The exit code for a library's -errno: usage 64, configuration 78, permission 77, input/output 74, else 70. */
int verb_exit_code(int err);

#endif
