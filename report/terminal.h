/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the terminal report. Everything that reaches the terminal goes through the pen: it makes foreign text visible,
 * keeps to the width, and knows colour and ASCII.
 */
#ifndef SPARKFAB_REPORT_TERMINAL_H
#define SPARKFAB_REPORT_TERMINAL_H

#include "report/report.h"

enum ink { INK_PLAIN, INK_BOLD, INK_DIM, INK_PASS, INK_WARN, INK_FAIL, INK_UNKNOWN };

struct pen {
	const struct report_style *style;
	struct buf *out;
	struct arena *arena; /* scratch, lives as long as one report */
	size_t columns;
	struct buf glyphs; /* the paragraph that is being written: struct glyph of terminal_pen.c */
	size_t indent;	   /* of its first line */
	enum ink ink;	   /* what the terminal is set to */
};

/* Foreign text as this terminal may see it: visible, and ASCII where nothing else is wanted. */
const char *pen_text(struct pen *pen, const char *text);

/* A paragraph: begin, put (words break at blanks, blanks inside a line are kept), end. `rest`: indent of further lines. */
void pen_begin(struct pen *pen, size_t indent);
void pen_put(struct pen *pen, enum ink ink, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t pen_width(const struct pen *pen); /* columns of what was put so far, without the indent */
void pen_pad(struct pen *pen, size_t width); /* blanks up to that width */
void pen_end(struct pen *pen, size_t rest);
void pen_newline(struct pen *pen);

/* A shell line to be pasted: broken, where it must be, so that the shell joins it again. */
void pen_command(struct pen *pen, size_t indent, const char *command);

enum ink verdict_ink(enum verdict verdict);
const char *verdict_word(enum verdict verdict); /* "FAIL" */

struct table_column {
	const char *title;
	bool is_right; /* flush right */
	int drop;      /* where the table is too wide, the highest goes first; 0: stays */
};

struct table_cell {
	const char *text; /* NULL: empty */
	enum ink ink;
};

struct table {
	const struct table_column *columns;
	size_t n_columns;
	struct table_cell *cells; /* row by row */
	size_t n_rows;
	bool untitled;
};

/* The cells of a new row, all empty. */
struct table_cell *table_row(struct pen *pen, struct table *table);
size_t table_width(struct pen *pen, const struct table *table); /* as wide as it would like to be */
void table_print(struct pen *pen, size_t indent, const struct table *table);

/* "9000 bytes", "200 Gb/s", "unread: permission denied (EACCES)". */
const char *evidence_words(struct arena *arena, const struct evidence *evidence);

/* "head", "head and worker", "a, b, c and 5 more". */
const char *host_words(struct arena *arena, const char *const hosts[], size_t n, size_t n_shown);

/* The parts of the report, in this order. */
void terminal_rails(struct pen *pen, const struct results *results);
void terminal_findings(struct pen *pen, const struct results *results);

#endif
