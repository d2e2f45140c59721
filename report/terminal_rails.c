// SPDX-License-Identifier: Apache-2.0
/*
 * The picture of the fabric: head on the left, worker on the right, one line a rail. Where the terminal is too narrow for
 * that, or there are more than two hosts, the same as a table with one row an end, values to compare below each other.
 */
#include "report/terminal.h"

#include <string.h>

#include "core/text.h"

#define RAILS_SHOWN 16
#define MANY_RAILS 5

enum { LEFT, RIGHT, N_SIDES };
enum { PORT, NETDEV, ADDRESS, N_PARTS };

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *state_word(const struct rail_picture *rail)
{
	if (rail->is_broken)
		return "✗ broken";
	return rail->is_proven ? "✓ proven" : "? unproven";
}

static enum ink state_ink(const struct rail_picture *rail)
{
	if (rail->is_broken)
		return INK_FAIL;
	return rail->is_proven ? INK_PASS : INK_UNKNOWN;
}

static const char *rate_word(const struct rail_picture_end *end)
{
	if (!end->active)
		return "down";
	return end->rate ? end->rate : "rate ?";
}

static const char *mtu_word(const struct rail_picture_end *end)
{
	return end->mtu ? end->mtu : "?";
}

/* What both ends have, or both values. */
static const char *both(struct arena *arena, const char *left, const char *right)
{
	return same(left, right) ? left : arena_printf(arena, "%s ≠ %s", left, right);
}

static bool ends_agree(const struct rail_picture_end *a, const struct rail_picture_end *b)
{
	return a->active == b->active && same(a->rate, b->rate) && same(a->mtu, b->mtu);
}

/* "── 200G, MTU 9000/4096 ──"; all wires of the picture are equally long. */
static const char *wire_label(struct pen *pen, const struct rail_picture *rail)
{
	const struct rail_picture_end *left = &rail->ends[LEFT], *right = &rail->ends[RIGHT];

	return pen_text(pen, arena_printf(pen->arena, " %s, MTU %s ", both(pen->arena, rate_word(left), rate_word(right)),
					  both(pen->arena, mtu_word(left), mtu_word(right))));
}

static const char *wire_end(const struct rail_picture *rail, bool is_right)
{
	if (rail->is_broken)
		return is_right ? "─✗──" : "──✗─";
	return rail->is_proven ? "────" : "╌╌╌╌";
}

/* What stands at one end, from the outside to the wire; the right end is read from right to left. */
static const char *end_part(const struct rail_picture_end *end, size_t i)
{
	const char *parts[N_PARTS] = { [PORT] = end->port, [NETDEV] = end->netdev, [ADDRESS] = end->addr };

	return parts[i] ? parts[i] : "";
}

struct picture {
	size_t part[N_SIDES][N_PARTS]; /* widths; 0: not shown */
	size_t name, state, wire;
};

static void widen(struct pen *pen, size_t *width, const char *text)
{
	size_t columns = text_columns(pen_text(pen, text));

	if (columns > *width)
		*width = columns;
}

static struct picture measure(struct pen *pen, const struct results *results, size_t n)
{
	struct picture picture = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct rail_picture *rail = &results->rails[i];

		widen(pen, &picture.name, rail->name);
		widen(pen, &picture.state, state_word(rail));
		widen(pen, &picture.wire, wire_label(pen, rail));
		for (size_t side = 0; side < N_SIDES; side++)
			for (size_t part = 0; part < N_PARTS; part++)
				widen(pen, &picture.part[side][part], end_part(&rail->ends[side], part));
	}
	return picture;
}

static size_t side_width(const struct picture *picture, size_t side)
{
	size_t width = 0;

	for (size_t part = 0; part < N_PARTS; part++)
		width += picture->part[side][part] ? picture->part[side][part] + 2 : 0;
	return width;
}

static size_t wire_width(const struct picture *picture)
{
	return picture->wire + 8;
}

static size_t picture_width(const struct picture *picture)
{
	return picture->name + 2 + picture->state + 2 + side_width(picture, LEFT) + wire_width(picture) +
	       side_width(picture, RIGHT);
}

/* Without the netdevs if need be: a Spark's port is named like its netdev. Without addresses the table says more, but many
 * rails as a table push the findings off the screen. */
static bool fit_picture(struct pen *pen, const struct results *results, size_t n, struct picture *ret_picture)
{
	*ret_picture = measure(pen, results, n);
	if (picture_width(ret_picture) <= pen->columns)
		return true;
	ret_picture->part[LEFT][NETDEV] = ret_picture->part[RIGHT][NETDEV] = 0;
	if (picture_width(ret_picture) > pen->columns && n >= MANY_RAILS)
		ret_picture->part[LEFT][ADDRESS] = ret_picture->part[RIGHT][ADDRESS] = 0;
	return picture_width(ret_picture) <= pen->columns;
}

static void put_side(struct pen *pen, const struct picture *picture, const struct rail_picture_end *end, size_t side)
{
	for (size_t i = 0; i < N_PARTS; i++) {
		size_t part = side == LEFT ? i : N_PARTS - 1 - i;
		size_t edge = pen_width(pen) + picture->part[side][part] + 2;

		if (!picture->part[side][part])
			continue;
		if (side == RIGHT)
			pen_put(pen, INK_PLAIN, "  ");
		pen_put(pen, part == ADDRESS ? INK_PLAIN : INK_DIM, "%s", end_part(end, part));
		pen_pad(pen, edge);
	}
}

static void put_wire(struct pen *pen, const struct picture *picture, const struct rail_picture *rail)
{
	enum ink ink = ends_agree(&rail->ends[LEFT], &rail->ends[RIGHT]) && !rail->is_broken ? INK_BOLD : INK_FAIL;
	const char *label = wire_label(pen, rail);
	size_t spare = picture->wire - text_columns(label);

	pen_put(pen, state_ink(rail), "%s", wire_end(rail, false));
	pen_put(pen, ink, "%s", label);
	for (size_t i = 0; i < spare; i++)
		pen_put(pen, state_ink(rail), rail->is_proven || rail->is_broken ? "─" : "╌");
	pen_put(pen, state_ink(rail), "%s", wire_end(rail, true));
}

static void put_note(struct pen *pen, const struct rail_picture *rail, size_t indent)
{
	if (!rail->note)
		return;
	pen_begin(pen, indent);
	pen_put(pen, INK_DIM, "%s", rail->note);
	pen_end(pen, indent);
}

static void print_picture(struct pen *pen, const struct results *results, size_t n, const struct picture *picture)
{
	size_t indent = picture->name + 2 + picture->state + 2;
	const struct rail_picture *first = &results->rails[0];
	size_t right = picture_width(picture) - side_width(picture, RIGHT) + 2;

	pen_begin(pen, 0);
	pen_pad(pen, indent);
	pen_put(pen, INK_BOLD, "%s", first->ends[LEFT].host);
	pen_put(pen, INK_PLAIN, "  ");
	pen_pad(pen, right);
	pen_put(pen, INK_BOLD, "%s", first->ends[RIGHT].host);
	pen_end(pen, indent);
	for (size_t i = 0; i < n; i++) {
		const struct rail_picture *rail = &results->rails[i];

		pen_begin(pen, 0);
		pen_put(pen, INK_BOLD, "%s", rail->name);
		pen_pad(pen, picture->name + 2);
		pen_put(pen, state_ink(rail), "%s", state_word(rail));
		pen_pad(pen, indent);
		put_side(pen, picture, &rail->ends[LEFT], LEFT);
		put_wire(pen, picture, rail);
		put_side(pen, picture, &rail->ends[RIGHT], RIGHT);
		pen_end(pen, indent);
		put_note(pen, rail, indent);
	}
}

/* Ends of one rail that look alike share a row, so that a rail of sixty hosts is not sixty rows. */
struct fold {
	const struct rail_picture_end *end; /* the first of them */
	const char **hosts; size_t n_hosts;
};

static bool fold_takes(const struct fold *fold, const struct rail_picture_end *end)
{
	return ends_agree(fold->end, end) && same(fold->end->port, end->port) && same(fold->end->netdev, end->netdev);
}

static size_t fold_ends(struct pen *pen, const struct rail_picture *rail, struct fold **ret_folds)
{
	struct fold *folds = NULL;
	size_t n = 0;

	for (size_t e = 0; e < rail->n_ends; e++) {
		size_t f = 0;

		while (rail->n_ends > N_SIDES && f < n && !fold_takes(&folds[f], &rail->ends[e]))
			f++;
		if (rail->n_ends <= N_SIDES || f == n) {
			f = n;
			arena_push(pen->arena, &folds, &n)->end = &rail->ends[e];
		}
		*arena_push(pen->arena, &folds[f].hosts, &folds[f].n_hosts) = rail->ends[e].host;
	}
	*ret_folds = folds;
	return n;
}

static const char *if_differs(struct pen *pen, const char *word, const char *first)
{
	return same(word, first) ? word : arena_printf(pen->arena, "%s ≠", word);
}

/* The rest of a row: an end, or several alike, beside the rail's first one. */
static void fill_row(struct pen *pen, struct table_cell *row, const struct fold *fold, const struct rail_picture_end *first)
{
	const struct rail_picture_end *end = fold->end;

	row[1].text = host_words(pen->arena, fold->hosts, fold->n_hosts, 2);
	row[2] = (struct table_cell){ end->port, INK_DIM };
	row[3] = (struct table_cell){ end->netdev, INK_DIM };
	row[4].text = fold->n_hosts > 1 ? NULL : end->addr;
	row[5] = (struct table_cell){ if_differs(pen, rate_word(end), rate_word(first)),
				      same(rate_word(end), rate_word(first)) && end->active ? INK_PLAIN : INK_FAIL };
	row[6] = (struct table_cell){ if_differs(pen, mtu_word(end), mtu_word(first)),
				      same(mtu_word(end), mtu_word(first)) ? INK_PLAIN : INK_FAIL };
}

static void add_rows(struct pen *pen, struct table *table, const struct rail_picture *rail)
{
	struct fold *folds = NULL;
	size_t n = fold_ends(pen, rail, &folds);

	for (size_t i = 0; i < n || i < N_SIDES; i++) {
		struct table_cell *row = table_row(pen, table);
		if (i == 0)
			row[0] = (struct table_cell){ rail->name, INK_BOLD };
		else if (i == 1)
			row[0] = (struct table_cell){ state_word(rail), state_ink(rail) };
		if (folds && i < n)
			fill_row(pen, row, &folds[i], folds[0].end);
	}
}

static void print_table(struct pen *pen, const struct results *results, size_t n)
{
	static const struct table_column columns[] = {
		{ .title = "RAIL" }, { .title = "HOST" },
		{ .title = "PORT", .drop = 1 }, { .title = "NETDEV", .drop = 3 }, { .title = "ADDRESS", .drop = 2 },
		{ .title = "RATE" }, { .title = "MTU" },
	};
	struct table table = { .columns = columns, .n_columns = sizeof(columns) / sizeof(columns[0]) };

	for (size_t i = 0; i < n; i++)
		add_rows(pen, &table, &results->rails[i]);
	table_print(pen, 0, &table);
	for (size_t i = 0; i < n; i++) {
		const struct rail_picture *rail = &results->rails[i];

		if (!rail->note)
			continue;
		pen_begin(pen, 0);
		pen_put(pen, INK_BOLD, "%s: ", rail->name);
		pen_put(pen, INK_PLAIN, "%s", rail->note);
		pen_end(pen, 2);
	}
}

static bool is_pair(const struct results *results, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (results->rails[i].n_ends != N_SIDES ||
		    !same(results->rails[i].ends[LEFT].host, results->rails[0].ends[LEFT].host) ||
		    !same(results->rails[i].ends[RIGHT].host, results->rails[0].ends[RIGHT].host))
			return false;
	return true;
}

/* Broken rails first where not all are shown. */
static size_t choose_rails(struct pen *pen, const struct results *all, struct results *ret_chosen)
{
	size_t n = 0;

	*ret_chosen = *all;
	if (all->n_rails <= RAILS_SHOWN || pen->style->verbose)
		return all->n_rails;
	ret_chosen->rails = arena_array(pen->arena, RAILS_SHOWN, sizeof(*ret_chosen->rails));
	for (int is_good = 0; is_good < 2; is_good++)
		for (size_t i = 0; i < all->n_rails && n < RAILS_SHOWN; i++)
			if ((all->rails[i].is_proven && !all->rails[i].is_broken) == (bool)is_good)
				ret_chosen->rails[n++] = all->rails[i];
	return n;
}

void terminal_rails(struct pen *pen, const struct results *results)
{
	struct results chosen;
	size_t n = choose_rails(pen, results, &chosen);
	struct picture picture;

	if (results->n_hosts < 2)
		return;
	pen_newline(pen);
	if (!n) {
		pen_begin(pen, 0);
		pen_put(pen, INK_FAIL, "No rail: nothing joins an RDMA port of one host to one of another.");
		pen_end(pen, 0);
		return;
	}
	if (is_pair(&chosen, n) && fit_picture(pen, &chosen, n, &picture))
		print_picture(pen, &chosen, n, &picture);
	else
		print_table(pen, &chosen, n);
	if (n < results->n_rails) {
		pen_begin(pen, 0);
		pen_put(pen, INK_DIM, "and %zu more rails (--verbose)", results->n_rails - n);
		pen_end(pen, 0);
	}
}
