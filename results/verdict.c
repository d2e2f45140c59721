// SPDX-License-Identifier: Apache-2.0
/* The verdict over all findings: their order, what is required, what decided (designs 4, 8 and 9). */
#include "results/results.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/buf.h"
#include "results/exit_codes.h"

#define NAMES_SHOWN 3 /* of hosts or checks in the sentence; the others are counted */

/* Why a required check counts as UNKNOWN. */
enum gap { GAP_IS_NONE, GAP_UNKNOWN, GAP_SKIPPED, GAP_NOT_RUN, GAP_MISSING };

struct undecided {
	const char *check;
	enum gap gap;
	const char *host; /* where; NULL: everywhere */
};

static const char *first_host(const struct finding *finding)
{
	return finding->n_hosts ? finding->hosts[0] : "";
}

/* Place in the order of results.h; not the enum's order: what was not judged is less news than what holds. */
static int verdict_rank(enum verdict verdict)
{
	static const int ranks[] = {
		[VERDICT_FAIL] = 0, [VERDICT_UNKNOWN] = 1, [VERDICT_WARN] = 2, [VERDICT_PASS] = 3, [VERDICT_SKIP] = 4,
	};

	return ranks[verdict];
}

static int finding_compare(const void *pa, const void *pb)
{
	const struct finding *a = pa, *b = pb;
	int order = verdict_rank(a->verdict) - verdict_rank(b->verdict);

	if (!order)
		order = (int)b->required - (int)a->required;
	if (!order)
		order = strcmp(a->check, b->check);
	if (!order)
		order = strverscmp(first_host(a), first_host(b));
	if (!order)
		order = strverscmp(a->subject, b->subject);
	if (!order)
		order = (a->seq > b->seq) - (a->seq < b->seq);
	return order;
}

static bool list_has(const char *const list[], const char *id)
{
	for (; list && *list; list++)
		if (strcmp(*list, id) == 0)
			return true;
	return false;
}

/* What the findings of one check say about one host. */
struct host_mark {
	const char *host;
	bool decided;
};

static int host_mark_compare(const void *pa, const void *pb)
{
	const struct host_mark *a = pa, *b = pb;

	return strverscmp(a->host, b->host);
}

/* All that one check's findings say. */
struct tally {
	struct host_mark *marks; size_t n_marks;
	bool found;
	bool decided_for_all;	       /* a finding that names no host, and is no SKIP */
	const struct finding *unknown; /* the first UNKNOWN */
};

static struct tally tally_check(const struct results *results, const char *check, struct arena *arena)
{
	struct tally tally = { 0 };

	for (size_t i = 0; i < results->n_findings; i++) {
		const struct finding *finding = &results->findings[i];
		bool decided = finding->verdict != VERDICT_SKIP;

		if (strcmp(finding->check, check) != 0)
			continue;
		tally.found = true;
		if (finding->verdict == VERDICT_UNKNOWN && !tally.unknown)
			tally.unknown = finding;
		if (!finding->n_hosts && decided)
			tally.decided_for_all = true;
		for (size_t h = 0; h < finding->n_hosts; h++)
			*arena_push(arena, &tally.marks, &tally.n_marks) = (struct host_mark){ finding->hosts[h], decided };
	}
	return tally;
}

/* The first host on which all findings are SKIPs; NULL if there is none. */
static const char *skipped_host(struct tally *tally)
{
	qsort(tally->marks, tally->n_marks, sizeof(*tally->marks), host_mark_compare);
	for (size_t i = 0; i < tally->n_marks;) {
		const char *host = tally->marks[i].host;
		bool decided = false;

		for (; i < tally->n_marks && strcmp(tally->marks[i].host, host) == 0; i++)
			decided = decided || tally->marks[i].decided;
		if (!decided)
			return host;
	}
	return NULL;
}

static struct undecided check_gap(const struct results *results, const char *check, struct arena *arena)
{
	struct tally tally = tally_check(results, check, arena);
	struct undecided gap = { .check = check };

	if (!tally.found) {
		gap.gap = GAP_MISSING;
		for (size_t i = 0; i < results->n_not_run; i++)
			if (strcmp(results->not_run[i], check) == 0)
				gap.gap = GAP_NOT_RUN;
	} else if (tally.unknown) {
		gap.gap = GAP_UNKNOWN;
		gap.host = tally.unknown->n_hosts ? tally.unknown->hosts[0] : NULL;
	} else if (!tally.decided_for_all) {
		gap.host = tally.n_marks ? skipped_host(&tally) : NULL;
		gap.gap = gap.host || !tally.n_marks ? GAP_SKIPPED : GAP_IS_NONE;
	}
	return gap;
}

/* "head", "head and worker", "a, b, c and 5 more". */
static void add_names(struct buf *out, const char *const names[], size_t n)
{
	size_t shown = n > NAMES_SHOWN ? NAMES_SHOWN : n;

	for (size_t i = 0; i < shown; i++) {
		if (i)
			buf_adds(out, i + 1 == n ? " and " : ", ");
		buf_adds(out, names[i]);
	}
	if (n > shown)
		buf_addf(out, " and %zu more", n - shown);
}

/* "mtu.parity failed on worker, and 2 more checks failed": the first of that verdict names itself. */
static void add_worst(struct buf *out, const struct results *results, enum verdict verdict, const char *verb)
{
	const struct finding *first = NULL;
	const char *last_check = NULL;
	size_t n_checks = 0;

	for (size_t i = 0; i < results->n_findings; i++) {
		const struct finding *finding = &results->findings[i];

		if (finding->verdict != verdict)
			continue;
		if (!first)
			first = finding;
		/* Sorted by check within required and not: a check is never in both halves. */
		if (!last_check || strcmp(last_check, finding->check) != 0)
			n_checks++;
		last_check = finding->check;
	}
	if (!first)
		return;
	buf_addf(out, "%s %s", first->check, verb);
	if (first->n_hosts) {
		buf_adds(out, " on ");
		add_names(out, first->hosts, first->n_hosts);
	}
	if (n_checks > 1)
		buf_addf(out, ", and %zu more check%s", n_checks - 1, n_checks > 2 ? "s" : "");
}

static void add_undecided(struct buf *out, const struct undecided *undecided, size_t n)
{
	if (n > 1) {
		const char **names = xcalloc(n, sizeof(*names));

		for (size_t i = 0; i < n; i++)
			names[i] = undecided[i].check;
		buf_addf(out, "%zu required checks could not be decided: ", n);
		add_names(out, names, n);
		free(names);
		return;
	}
	buf_addf(out, "required check %s ", undecided->check);
	if (undecided->gap == GAP_UNKNOWN)
		buf_adds(out, "could not be decided");
	else if (undecided->gap == GAP_SKIPPED)
		buf_adds(out, "was skipped");
	else if (undecided->gap == GAP_NOT_RUN)
		buf_adds(out, "is not part of this level");
	else
		buf_adds(out, "found nothing to judge");
	if (undecided->host)
		buf_addf(out, " on %s", undecided->host);
}

/* Required checks that were skipped or not run beside the ones that are UNKNOWN themselves. */
static void add_consequences(struct buf *out, const struct undecided *undecided, size_t n)
{
	size_t n_others = 0;

	for (size_t i = 0; i < n; i++)
		n_others += undecided[i].gap != GAP_UNKNOWN;
	if (n_others)
		buf_addf(out, ", and with it %zu required check%s stay%s open", n_others, n_others > 1 ? "s" : "",
			 n_others > 1 ? "" : "s");
}

static void decide(struct results *results, const struct undecided *undecided, size_t n_undecided)
{
	const size_t *counts = results->counts;
	cleanup_buf struct buf why = BUF_INIT;

	if (counts[VERDICT_FAIL]) {
		results->verdict = VERDICT_FAIL;
		add_worst(&why, results, VERDICT_FAIL, "failed");
	} else if (counts[VERDICT_UNKNOWN]) {
		results->verdict = VERDICT_UNKNOWN;
		add_worst(&why, results, VERDICT_UNKNOWN, "could not be decided");
		add_consequences(&why, undecided, n_undecided);
	} else if (n_undecided) {
		results->verdict = VERDICT_UNKNOWN;
		add_undecided(&why, undecided, n_undecided);
	} else if (!counts[VERDICT_PASS]) {
		results->verdict = VERDICT_UNKNOWN;
		buf_adds(&why, results->n_findings ? "nothing passed" : "nothing was judged");
	} else if (counts[VERDICT_WARN]) {
		results->verdict = VERDICT_WARN;
		add_worst(&why, results, VERDICT_WARN, "warns");
	} else {
		results->verdict = VERDICT_PASS;
		buf_addf(&why, "nothing is wrong: %zu passed", counts[VERDICT_PASS]);
		if (counts[VERDICT_SKIP])
			buf_addf(&why, ", %zu skipped", counts[VERDICT_SKIP]);
	}
	results->verdict_why = arena_strdup(results->arena, buf_str(&why));
}

void results_finish(struct results *results, const char *const required[], const char *const may_skip[])
{
	struct arena *scratch = arena_new();
	struct undecided *undecided = NULL;
	size_t n = 0;

	memset(results->counts, 0, sizeof(results->counts));
	for (size_t i = 0; i < results->n_findings; i++) {
		struct finding *finding = &results->findings[i];

		finding->required = list_has(required, finding->check);
		results->counts[finding->verdict]++;
	}
	if (results->n_findings)
		qsort(results->findings, results->n_findings, sizeof(*results->findings), finding_compare);
	for (; required && *required; required++) {
		struct undecided one = check_gap(results, *required, scratch);

		if (one.gap == GAP_IS_NONE || (one.gap == GAP_SKIPPED && list_has(may_skip, *required)))
			continue;
		*arena_push(scratch, &undecided, &n) = one;
	}
	decide(results, undecided, n);
	arena_free(scratch);
}

int results_exit_code(const struct results *results, bool warn_ok)
{
	switch (results->verdict) {
	case VERDICT_FAIL:
		return EXIT_CODE_FAIL;
	case VERDICT_WARN:
		return warn_ok ? EXIT_CODE_PASS : EXIT_CODE_WARN;
	case VERDICT_PASS:
		return EXIT_CODE_PASS;
	case VERDICT_SKIP:
	case VERDICT_UNKNOWN:
		break;
	}
	return EXIT_CODE_UNKNOWN;
}
