// SPDX-License-Identifier: Apache-2.0
/*
 * The report for people: verdict, picture of the rails, findings worst first, counts by family, what to do next. The shape
 * is for somebody who was woken up: the first line answers, the middle mends, the last line says how to go on.
 */
#include "report/terminal.h"

#include <inttypes.h>
#include <string.h>

#define LEAST_COLUMNS 40
#define REASONS_SHOWN 5
#define REASON_MAX 60 /* bytes of a reason that are shown */
#define NS_PER_MS 1000000

/* "head ↔ worker", "head ↔ 15 hosts (2 did not answer)". */
static const char *hosts_text(struct pen *pen, const struct results *results)
{
	const char *silent = "", *far;
	size_t n_silent = 0;

	for (size_t i = 0; i < results->n_hosts; i++)
		n_silent += !results->hosts[i].answered;
	if (!results->n_hosts)
		return "no host";
	if (n_silent)
		silent = results->n_hosts <= 2 ? " (no answer)"
					       : arena_printf(pen->arena, " (%zu did not answer)", n_silent);
	if (results->n_hosts == 1)
		return arena_printf(pen->arena, "%s%s", results->hosts[0].name, silent);
	far = results->n_hosts == 2 ? results->hosts[1].name
				    : arena_printf(pen->arena, "%zu hosts", results->n_hosts - 1);
	return arena_printf(pen->arena, "%s ↔ %s%s", results->hosts[0].name, far, silent);
}

static const char *duration_text(struct pen *pen, int64_t duration_ns)
{
	if (duration_ns < 1000 * (int64_t)NS_PER_MS)
		return arena_printf(pen->arena, "%" PRId64 " ms", duration_ns / NS_PER_MS);
	return arena_printf(pen->arena, "%.1f s", (double)duration_ns / 1e9);
}

static void put_verdict(struct pen *pen, const struct results *results)
{
	const char *frame = arena_printf(pen->arena, "%s, profile %s, level %s, %s", hosts_text(pen, results),
					 results->profile ? results->profile : "none", level_name(results->level),
					 duration_text(pen, results->duration_ns));
	size_t indent = strlen(verdict_word(results->verdict)) + 2;
	size_t width;

	pen_begin(pen, 0);
	pen_put(pen, INK_PLAIN, "%s", frame);
	width = pen_width(pen);
	pen_begin(pen, 0);
	pen_put(pen, verdict_ink(results->verdict), "%s", verdict_word(results->verdict));
	pen_put(pen, INK_BOLD, "  %s", results->verdict_why);
	/* One line if it fits, else the frame has its own. */
	if (pen_width(pen) + width + 4 > pen->columns) {
		pen_end(pen, indent);
		pen_begin(pen, indent);
		pen_put(pen, INK_DIM, "%s", frame);
	} else {
		pen_put(pen, INK_DIM, "  (%s)", frame);
	}
	pen_end(pen, indent);
	if (pen->style->verbose && results->profile_why) {
		pen_begin(pen, indent);
		pen_put(pen, INK_DIM, "profile: %s", results->profile_why);
		pen_end(pen, indent);
	}
}

struct family {
	const char *name;
	size_t counts[VERDICT_FAIL + 1];
};

/* Families in the order of the alphabet: the same place in every report. */
static size_t count_families(struct pen *pen, const struct results *results, struct family **ret_families)
{
	struct family *families = NULL;
	size_t n = 0;

	for (size_t i = 0; i < results->n_findings; i++) {
		const char *check = results->findings[i].check;
		size_t len = strcspn(check, "."), k = 0;
		int order = -1;

		while (k < n && (order = strncmp(families[k].name, check, len)) < 0)
			k++;
		if (k == n || order > 0 || families[k].name[len]) {
			arena_push(pen->arena, &families, &n);
			memmove(&families[k + 1], &families[k], (n - 1 - k) * sizeof(*families));
			families[k] = (struct family){ .name = arena_strndup(pen->arena, check, len) };
		}
		families[k].counts[results->findings[i].verdict]++;
	}
	*ret_families = families;
	return n;
}

static void put_families(struct pen *pen, const struct results *results)
{
	static const enum verdict order[] = { VERDICT_FAIL, VERDICT_UNKNOWN, VERDICT_WARN, VERDICT_PASS, VERDICT_SKIP };
	static const struct table_column columns[] = {
		{ .title = "FAMILY" },
		{ .title = "FAIL", .is_right = true }, { .title = "UNKNOWN", .is_right = true },
		{ .title = "WARN", .is_right = true }, { .title = "PASS", .is_right = true },
		{ .title = "SKIP", .is_right = true },
	};
	struct table table = { .columns = columns, .n_columns = sizeof(columns) / sizeof(columns[0]) };
	struct family *families;
	size_t n = count_families(pen, results, &families);

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		struct table_cell *row = table_row(pen, &table);

		row[0].text = families[i].name;
		for (size_t v = 0; v < sizeof(order) / sizeof(order[0]); v++) {
			size_t count = families[i].counts[order[v]];

			row[v + 1].text = count ? arena_printf(pen->arena, "%zu", count) : "-";
			row[v + 1].ink = count ? verdict_ink(order[v]) : INK_DIM;
		}
	}
	pen_newline(pen);
	table_print(pen, 0, &table);
}

struct reason {
	const char *text;
	size_t n;
};

/* Why this was not judged: by the class of what could not be read, else in the check's own words. */
static const char *skip_reason(const struct finding *finding)
{
	for (size_t i = 0; i < finding->n_evidence; i++) {
		const struct evidence *evidence = &finding->evidence[i];

		switch (value_gap(evidence->is_text ? evidence->text.err : evidence->num.err)) {
		case GAP_NOT_PERMITTED:
			return "not permitted: run as root to see";
		case GAP_UNSUPPORTED:
			return "not offered by the driver or platform";
		case GAP_ABSENT:
			return "not there";
		case GAP_NONE:
		case GAP_UNREADABLE:
			break;
		}
	}
	return finding->message;
}

static void add_reason(struct pen *pen, struct reason **reasons, size_t *n, const char *text)
{
	size_t len = strlen(text);
	size_t i = 0;

	if (len > REASON_MAX) /* where a character ends; the pen writes what is no character as bytes */
		for (len = REASON_MAX; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
			len--;
	while (i < *n && (strncmp((*reasons)[i].text, text, len) != 0))
		i++;
	if (i == *n)
		arena_push(pen->arena, reasons, n)->text =
			arena_printf(pen->arena, "%.*s%s", (int)len, text, text[len] ? "…" : "");
	(*reasons)[i].n++;
	/* The most frequent first; one step is enough, as only this one grew. */
	for (; i > 0 && (*reasons)[i].n > (*reasons)[i - 1].n; i--) {
		struct reason saved = (*reasons)[i];

		(*reasons)[i] = (*reasons)[i - 1];
		(*reasons)[i - 1] = saved;
	}
}

static void put_skips(struct pen *pen, const struct results *results)
{
	struct reason *reasons = NULL;
	size_t n = 0, n_other = 0;

	for (size_t i = 0; i < results->n_findings; i++)
		if (results->findings[i].verdict == VERDICT_SKIP)
			add_reason(pen, &reasons, &n, skip_reason(&results->findings[i]));
	if (!n)
		return;
	pen_begin(pen, 0);
	pen_put(pen, INK_DIM, "SKIP %zu: ", results->counts[VERDICT_SKIP]);
	for (size_t i = 0; i < n; i++) {
		if (i < REASONS_SHOWN)
			pen_put(pen, INK_DIM, "%s%s (%zu)", i ? "; " : "", reasons[i].text, reasons[i].n);
		else
			n_other += reasons[i].n;
	}
	if (n_other)
		pen_put(pen, INK_DIM, "; other (%zu)", n_other);
	pen_end(pen, 2);
}

static void put_ids(struct pen *pen, const char *why, const char *const ids[], size_t n)
{
	if (!n)
		return;
	pen_begin(pen, 0);
	pen_put(pen, INK_DIM, "%s: %s", why, host_words(pen->arena, ids, n, pen->style->verbose ? SIZE_MAX - 1 : 3));
	pen_end(pen, 2);
}

static void put_not_run(struct pen *pen, const struct results *results)
{
	const char *level = arena_printf(pen->arena, "Not run at level %s", level_name(results->level));

	put_ids(pen, level, results->not_run, results->n_not_run);
	put_ids(pen,
		results->n_hosts > 1 ? "Not run, since only one host answered" : "Not run without a second host (--peer HOST)",
		results->not_compared, results->n_not_compared);
}

static void put_next(struct pen *pen, const struct results *results)
{
	static const char *const meaning[] = {
		[VERDICT_PASS] = "Exit 0: nothing is wrong.",
		[VERDICT_WARN] = "Exit 1 (0 with --warn-ok): it works, but not as it should.",
		[VERDICT_FAIL] = "Exit 2: broken.",
		[VERDICT_UNKNOWN] = "Exit 3: not decided; that is not the same as good.",
		[VERDICT_SKIP] = "Exit 3: not decided; that is not the same as good.",
	};
	const struct finding *worst = results->n_findings ? &results->findings[0] : NULL;

	pen_begin(pen, 0);
	pen_put(pen, INK_PLAIN, "%s", meaning[results->verdict]);
	if (worst && worst->verdict != VERDICT_PASS && worst->verdict != VERDICT_SKIP)
		pen_put(pen, INK_PLAIN, " Why: sparkfab explain %s.", worst->check);
	if (!pen->style->verbose && results->n_findings > 1)
		pen_put(pen, INK_PLAIN, " All %zu findings: --verbose.", results->n_findings);
	pen_end(pen, 2);
}

void report_terminal(const struct results *results, const struct report_style *style, struct buf *out)
{
	struct pen pen = {
		.style = style,
		.out = out,
		.arena = arena_new(),
		.columns = style->columns < LEAST_COLUMNS ? LEAST_COLUMNS : style->columns,
	};

	put_verdict(&pen, results);
	terminal_rails(&pen, results);
	terminal_findings(&pen, results);
	put_families(&pen, results);
	put_skips(&pen, results);
	put_not_run(&pen, results);
	pen_newline(&pen);
	put_next(&pen, results);
	buf_release(&pen.glyphs);
	arena_free(pen.arena);
}
