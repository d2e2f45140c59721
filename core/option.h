/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of options drives parsing, --help and completion. A verb declares an array that ends with a zero entry:
 *
 *	const struct option_def options[] = {
 *		{ "peer", 'p', "[USER@]HOST", "a host to check together with this one", OPTION_LIST, &arg.peers },
 *		{ 0 },
 *	};
 */
#ifndef SPARKFAB_CORE_OPTION_H
#define SPARKFAB_CORE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/fault.h"

enum option_type {
	OPTION_FLAG,   /* bool *      */
	OPTION_TEXT,   /* const char ** */
	OPTION_LIST,   /* struct option_list *: repeatable */
	OPTION_I64,    /* int64_t *   */
	OPTION_CHOICE, /* int *: index into choices[], a NULL-terminated array */
};

struct option_list {
	const char **items; /* point into argv */
	size_t n;
};

struct option_def {
	const char *name; /* without the dashes; NULL ends the table */
	char letter;	  /* 0: none */
	const char *arg;  /* name of the value in the help; NULL for flags */
	const char *help;
	enum option_type type;
	void *target;
	const char *const *choices;
};

/* Parses argv[1…] of a verb (argv[0] is its name). Options and operands may be mixed, "--" ends options. Operands land in
 * *ret_operands (free with option_list_release). 0 or -EINVAL with a message that names the option and what is wanted. */
int option_parse(const struct option_def options[], int argc, char *argv[], struct option_list *ret_operands,
		 struct fault *reterr);
void option_list_release(struct option_list *list);

/* The options part of a verb's help, wrapped to `columns`. */
void option_print_help(const struct option_def options[], FILE *out, size_t columns);

#endif
