// SPDX-License-Identifier: Apache-2.0
/*
 * Small tables. Not libsmartcols, which we tried (2.38): it measures by the locale of the process, so that the same results
 * would give another report under LANG=C; it prints wider than asked where columns cannot shrink further; and with wide
 * characters in the C locale and a narrow terminal it does not return.
 */
#include "report/terminal.h"

#include <string.h>

#include "core/text.h"

#define COLUMNS_MAX 8
#define LEAST_WIDTH 4 /* of a column that is cut */

struct layout {
	size_t width[COLUMNS_MAX]; /* 0: dropped */
	size_t gap;		   /* blanks between columns */
};

static const struct table_cell *cell_at(const struct table *table, size_t row, size_t column)
{
	return &table->cells[row * table->n_columns + column];
}

struct table_cell *table_row(struct pen *pen, struct table *table)
{
	size_t n = table->n_columns * table->n_rows;
	struct table_cell *row;

	for (size_t i = 0; i < table->n_columns; i++)
		arena_push(pen->arena, &table->cells, &n);
	row = &table->cells[table->n_columns * table->n_rows++];
	return row;
}

static size_t cell_width(struct pen *pen, const char *text)
{
	return text ? text_columns(pen_text(pen, text)) : 0;
}

static struct layout natural_layout(struct pen *pen, const struct table *table)
{
	struct layout layout = { .gap = 2 };

	for (size_t c = 0; c < table->n_columns; c++) {
		for (size_t r = 0; r < table->n_rows; r++) {
			size_t width = cell_width(pen, cell_at(table, r, c)->text);

			if (width > layout.width[c])
				layout.width[c] = width;
		}
		/* A column without a single value says nothing. */
		if (layout.width[c] && !table->untitled && strlen(table->columns[c].title) > layout.width[c])
			layout.width[c] = strlen(table->columns[c].title);
	}
	return layout;
}

static size_t layout_width(const struct layout *layout)
{
	size_t sum = 0;

	for (size_t c = 0; c < COLUMNS_MAX; c++)
		if (layout->width[c])
			sum += layout->width[c] + (sum ? layout->gap : 0);
	return sum;
}

size_t table_width(struct pen *pen, const struct table *table)
{
	struct layout layout = natural_layout(pen, table);

	return layout_width(&layout);
}

/* Too wide: first narrower gaps, then without the columns that may go, then the widest ones cut. */
static void squeeze(const struct table *table, struct layout *layout, size_t room)
{
	if (layout_width(layout) > room)
		layout->gap = 1;
	while (layout_width(layout) > room) {
		size_t drop = table->n_columns, widest = 0;

		for (size_t c = 0; c < table->n_columns; c++) {
			if (layout->width[c] > layout->width[widest])
				widest = c;
			if (layout->width[c] && table->columns[c].drop &&
			    (drop == table->n_columns || table->columns[c].drop > table->columns[drop].drop))
				drop = c;
		}
		if (drop < table->n_columns)
			layout->width[drop] = 0;
		else if (layout->width[widest] > LEAST_WIDTH)
			layout->width[widest]--;
		else
			return;
	}
}

/* The start of a text that does not fit, and a sign that it is cut. */
static const char *cut_text(struct pen *pen, const char *text, size_t width)
{
	const char *sign = pen_text(pen, "…");
	size_t room = width - text_columns(sign), len = 0, next;
	char *start = arena_strdup(pen->arena, text);

	for (;;) {
		char saved;

		for (next = len + 1; ((unsigned char)text[next] & 0xc0) == 0x80; next++)
			;
		saved = start[next];
		start[next] = '\0';
		if (text_columns(start) > room)
			break;
		start[next] = saved;
		len = next;
	}
	return arena_printf(pen->arena, "%.*s%s", (int)len, text, sign);
}

static void print_row(struct pen *pen, size_t indent, const struct table *table, const struct layout *layout,
		      const struct table_cell *cells)
{
	size_t edge = 0;

	pen_begin(pen, indent);
	for (size_t c = 0; c < table->n_columns; c++) {
		const char *text = cells ? cells[c].text : table->columns[c].title;
		size_t width;

		if (!layout->width[c])
			continue;
		text = pen_text(pen, text ? text : "");
		if (text_columns(text) > layout->width[c])
			text = cut_text(pen, text, layout->width[c]);
		width = text_columns(text);
		pen_pad(pen, edge + (table->columns[c].is_right ? layout->width[c] - width : 0));
		pen_put(pen, cells ? cells[c].ink : INK_DIM, "%s", text);
		edge += layout->width[c] + layout->gap;
	}
	pen_end(pen, indent);
}

void table_print(struct pen *pen, size_t indent, const struct table *table)
{
	struct layout layout = natural_layout(pen, table);

	squeeze(table, &layout, pen->columns - indent);
	if (!table->untitled)
		print_row(pen, indent, table, &layout, NULL);
	for (size_t r = 0; r < table->n_rows; r++)
		print_row(pen, indent, table, &layout, cell_at(table, r, 0));
}
