/* SPDX-License-Identifier: Apache-2.0 */
/* INI files (profiles, sparkfab.conf) through libinih, with the line in every complaint. */
#ifndef SPARKFAB_CORE_INI_H
#define SPARKFAB_CORE_INI_H

#include "core/fault.h"

/* One key = value; an indented next line goes on with the value, joined by one blank. Returns 0, or -errno after filling reterr with what is wrong (without file and line: the reader adds them). */
typedef int ini_entry_fn(void *ctx, const char *section, const char *key, const char *value, int line, struct fault *reterr);

/* Reads text (a whole file's content; `name` is for messages). Stops at the first error: -EINVAL with "NAME:LINE: …".
 * Nothing is handed to `entry` if the syntax is wrong anywhere. Lines have at most 198 bytes: go on in an indented one. */
int ini_read_text(const char *name, const char *text, ini_entry_fn *entry, void *ctx, struct fault *reterr);

/* Same for a file of at most 1 MiB. -ENOENT if it is not there. */
int ini_read_file(const char *path, ini_entry_fn *entry, void *ctx, struct fault *reterr);

#endif
