/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the checks over a fabric. The registry is generated from the names of the files in checks/. */
#ifndef SPARKFAB_JUDGE_JUDGE_H
#define SPARKFAB_JUDGE_JUDGE_H

#include "checks/check.h"

extern const struct check *const check_registry[]; /* in file-name order; ends with NULL */

const struct check *check_find(const char *id); /* NULL if there is none */

struct judge_options {
	enum level level;
	const char *const *only; /* ids or families ("mtu") to run; NULL: all */
};

/* Adds the findings of every check to `results`, which may hold some already (peers that did not answer), fills in hosts,
 * profile, not_run and the picture of the rails, and finishes it. Pure: the same snapshots give the same results. */
void judge_fabric(struct results *results, const struct fabric *fabric, const struct profile *profile,
		  const struct judge_options *options);

#endif
