/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports are pure functions of finished results: text in, bytes out, one file a format. A report that does not fit into
 * `out` (or into memory) sets out->truncated; what was added then is no report.
 */
#ifndef SPARKFAB_REPORT_REPORT_H
#define SPARKFAB_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "results/results.h"

struct report_style {
	size_t columns; /* never wider; at least 40 is honoured */
	bool color;
	bool unicode;	/* box drawing and arrows; else ASCII */
	bool verbose;	/* every finding in full, PASS and SKIP too */
};

void report_terminal(const struct results *results, const struct report_style *style, struct buf *out);

/* One document, docs/results.schema.json. */
void report_json(const struct results *results, struct buf *out);

#endif
