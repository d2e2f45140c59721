/* SPDX-License-Identifier: Apache-2.0 */
/* Where output goes: the terminal's width and colours, and writing that notices a full disk. */
#ifndef SPARKFAB_CLI_OUTPUT_H
#define SPARKFAB_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/fault.h"
#include "report/report.h"

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
extern const char *const color_choices[]; /* "auto", "always", "never", NULL */

/* Columns of standard output's terminal, else of $COLUMNS, else 80. */
size_t output_columns(void);

/* Style for standard output. NO_COLOR and TERM=dumb are honoured by COLOR_AUTO. */
struct report_style output_style(enum color_choice color, bool verbose);

/* Writes everything to standard output. Returns `exit_code`, or 74 after telling on stderr that it could not be written. */
int output_write(const char *who, const struct buf *content, int exit_code);

/* Writes a file whole or not at all: a temporary one beside it, synced, renamed. 0 or -errno. */
int output_file(const char *path, const struct buf *content, struct fault *reterr);

#endif
