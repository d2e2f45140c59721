/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries opened at run time (libibverbs, NVML, …): both programs start on any host and say what is missing. */
#ifndef SPARKFAB_CORE_DL_H
#define SPARKFAB_CORE_DL_H

#include <stddef.h>

#include "core/fault.h"

struct dl_symbol {
	const char *name;
	size_t offset;	/* of the function pointer in the table struct */
	const char *version; /* symbol version for dlvsym, or NULL */
	int optional;	/* may be missing: the pointer stays NULL */
};

/* Opens the first of `names` (NULL-terminated) that loads and fills `table` from `symbols` (ends with name NULL).
 * Stays loaded for the life of the process. 0, -ENOENT (no such library) or -ELIBACC (a symbol is missing). */
int dl_open_table(const char *const names[], const struct dl_symbol symbols[], void *table, struct fault *reterr);

#endif
