// SPDX-License-Identifier: Apache-2.0
/*
 * Findings, worst first, each with what was seen, what was expected and what to do. Findings of one check that say the same
 * about other ports are folded into one; their commands are kept, for each is needed.
 */
#include "report/terminal.h"

#include <ctype.h>
#include <string.h>

#define GROUPS_SHOWN 40
#define KINDS_COMPARED 64 /* groups of one check that a finding is held against: linear, whatever the messages */
#define EVIDENCE_SHOWN 10
#define SUBJECTS_SHOWN 12
#define COMMANDS_SHOWN 12 /* a host and heading */
#define HOSTS_SHOWN 8	  /* with their own commands */

/* Findings first … first + n - 1 of the results, in their order. */
struct group {
	const struct finding *first;
	const struct finding **more; size_t n_more;
};

/* Next word of a message that is not a name or a number: names of ports, netdevs and addresses hold digits. */
static size_t next_plain_word(const struct finding *finding, const char **pos)
{
	for (;;) {
		size_t len;
		bool skip = false;

		*pos += strspn(*pos, " ");
		len = strcspn(*pos, " ");
		if (!len)
			return 0;
		for (size_t i = 0; i < len; i++)
			skip = skip || isdigit((unsigned char)(*pos)[i]);
		for (size_t h = 0; h < finding->n_hosts && h < 2; h++) {
			size_t host_len = strlen(finding->hosts[h]);

			skip = skip || (len >= host_len && len <= host_len + 1 && !memcmp(*pos, finding->hosts[h], host_len));
		}
		if (!skip)
			return len;
		*pos += len;
	}
}

/* A peer that was not reached is the subject and the host: named once. */
static bool has_subject(const struct finding *finding)
{
	return *finding->subject && !(finding->n_hosts == 1 && !strcmp(finding->subject, finding->hosts[0]));
}

/* Whether two findings of a check say the same about different subjects. */
static bool says_the_same(const struct finding *a, const struct finding *b)
{
	const char *pa = a->message, *pb = b->message;

	for (;;) {
		size_t la = next_plain_word(a, &pa), lb = next_plain_word(b, &pb);

		if (la != lb || memcmp(pa, pb, la) != 0)
			return false;
		if (!la)
			return true;
		pa += la;
		pb += lb;
	}
}

/* What is in order, or was not there to be judged, is told in one line. */
static bool is_quiet(const struct finding *finding)
{
	return finding->verdict == VERDICT_PASS || finding->verdict == VERDICT_SKIP;
}

static void put_headline(struct pen *pen, const struct finding *finding)
{
	pen_begin(pen, 0);
	pen_put(pen, verdict_ink(finding->verdict), "%s", verdict_word(finding->verdict));
	pen_put(pen, INK_BOLD, "  %s", finding->check);
	if (has_subject(finding))
		pen_put(pen, INK_PLAIN, "  %s", finding->subject);
	if (finding->n_hosts)
		pen_put(pen, INK_PLAIN, " on %s", host_words(pen->arena, finding->hosts, finding->n_hosts, 3));
	if (is_quiet(finding)) {
		pen_put(pen, INK_PLAIN, ": %s", finding->message);
		pen_end(pen, 6);
		return;
	}
	if (finding->required)
		pen_put(pen, INK_DIM, "  (required)");
	pen_end(pen, 6);
	pen_begin(pen, 2);
	pen_put(pen, INK_PLAIN, "%s", finding->message);
	pen_end(pen, 2);
}

static size_t pad_width(struct pen *pen, const struct finding *finding, size_t n, bool of_host)
{
	size_t width = 0, most = pen->columns / 3;

	for (size_t i = 0; i < n; i++) {
		const char *text = of_host ? finding->evidence[i].host : finding->evidence[i].name;
		size_t columns;

		pen_begin(pen, 0);
		pen_put(pen, INK_PLAIN, "%s", text ? text : "");
		columns = pen_width(pen);
		if (columns > width && columns <= most)
			width = columns;
	}
	return width ? width + 2 : 0;
}

static void put_evidence(struct pen *pen, const struct finding *finding)
{
	bool all = pen->style->verbose || finding->n_evidence <= EVIDENCE_SHOWN + 1;
	size_t n = all ? finding->n_evidence : EVIDENCE_SHOWN;
	size_t host_pad = pad_width(pen, finding, n, true), name_pad = pad_width(pen, finding, n, false);

	for (size_t i = 0; i < n; i++) {
		const struct evidence *evidence = &finding->evidence[i];
		const char *origin = evidence->is_text ? evidence->text.origin : evidence->num.origin;

		pen_begin(pen, 4);
		if (host_pad) {
			pen_put(pen, INK_PLAIN, "%s", evidence->host ? evidence->host : "");
			pen_pad(pen, host_pad);
		}
		pen_put(pen, INK_PLAIN, "%s", evidence->name ? evidence->name : "");
		pen_pad(pen, host_pad + name_pad);
		if (pen_width(pen) > host_pad + name_pad)
			pen_put(pen, INK_PLAIN, "  ");
		pen_put(pen, INK_BOLD, "%s", evidence_words(pen->arena, evidence));
		if (origin)
			pen_put(pen, INK_DIM, "  (%s)", origin);
		pen_end(pen, 6);
	}
	if (n < finding->n_evidence) {
		pen_begin(pen, 4);
		pen_put(pen, INK_DIM, "and %zu more values (--verbose)", finding->n_evidence - n);
		pen_end(pen, 6);
	}
}

static void put_expected(struct pen *pen, const struct finding *finding)
{
	if (!finding->expected)
		return;
	pen_begin(pen, 4);
	pen_put(pen, INK_PLAIN, "expected: ");
	pen_put(pen, INK_BOLD, "%s", finding->expected);
	if (finding->expected_source)
		pen_put(pen, INK_DIM, "  (%s)", finding->expected_source);
	pen_end(pen, 6);
}

/* "and 3 more ports: rocep1s0f1/1 on head, …" */
static void put_more(struct pen *pen, const struct group *group)
{
	size_t n = group->n_more <= SUBJECTS_SHOWN + 1 ? group->n_more : SUBJECTS_SHOWN;
	const char *first = group->first->subject;
	const char *kind = strchr(first, '/') ? " port" : strncmp(first, "rail", 4) == 0 ? " rail" : "";

	if (!group->n_more)
		return;
	pen_begin(pen, 2);
	pen_put(pen, INK_PLAIN, "and %zu more%s%s:", group->n_more, kind, *kind && group->n_more > 1 ? "s" : "");
	for (size_t i = 0; i < n; i++) {
		const struct finding *finding = group->more[i];

		pen_put(pen, INK_PLAIN, "%s %s", i ? "," : "", has_subject(finding) ? finding->subject : "");
		if (finding->n_hosts)
			pen_put(pen, INK_PLAIN, "%s%s", has_subject(finding) ? " on " : "",
				host_words(pen->arena, finding->hosts, finding->n_hosts, 3));
	}
	if (n < group->n_more)
		pen_put(pen, INK_DIM, ", and %zu more (--verbose)", group->n_more - n);
	pen_end(pen, 4);
}

/* All remedies of a group, each once. */
struct cures {
	const struct remedy **items; size_t n_items;
	const char **hosts; size_t n_hosts;
};

/* finding_remedy() keeps each string once: a thousand hosts' cures are compared by pointer. */
static bool same(const char *a, const char *b)
{
	return a == b;
}

static bool same_cure(const struct remedy *a, const struct remedy *b)
{
	return same(a->host, b->host) && same(a->command, b->command) && same(a->advice, b->advice);
}

static void add_cures(struct pen *pen, struct cures *cures, const struct finding *finding)
{
	for (size_t i = 0; i < finding->n_remedies; i++) {
		const struct remedy *remedy = &finding->remedies[i];
		size_t k = 0;

		while (k < cures->n_items && !same_cure(cures->items[k], remedy))
			k++;
		if (k < cures->n_items)
			continue;
		*arena_push(pen->arena, &cures->items, &cures->n_items) = remedy;
		for (k = 0; k < cures->n_hosts && !same(cures->hosts[k], remedy->host); k++)
			;
		if (k == cures->n_hosts)
			*arena_push(pen->arena, &cures->hosts, &cures->n_hosts) = remedy->host;
	}
}

static void put_cure_heading(struct pen *pen, const struct remedy *remedy)
{
	pen_begin(pen, 2);
	if (remedy->host)
		pen_put(pen, INK_BOLD, "on %s, ", remedy->host);
	pen_put(pen, INK_BOLD, remedy->is_persistent ? "to keep it after a reboot" : "now");
	if (remedy->disturbs)
		pen_put(pen, INK_DIM, " (%s)", remedy->disturbs);
	pen_put(pen, INK_PLAIN, ":");
	pen_end(pen, 4);
}

static void put_commands(struct pen *pen, const struct cures *cures, const char *host, bool is_persistent)
{
	const struct remedy *last = NULL;
	size_t n = 0, n_left_out = 0;

	for (size_t i = 0; i < cures->n_items; i++) {
		const struct remedy *remedy = cures->items[i];

		if (!remedy->command || remedy->is_persistent != is_persistent || !same(remedy->host, host))
			continue;
		if (n == COMMANDS_SHOWN && !pen->style->verbose) {
			n_left_out++;
			continue;
		}
		if (!last || !same(last->disturbs, remedy->disturbs))
			put_cure_heading(pen, remedy);
		pen_command(pen, 4, remedy->command);
		last = remedy;
		n++;
	}
	if (n_left_out) {
		pen_begin(pen, 4);
		pen_put(pen, INK_DIM, "# and %zu more commands (--verbose)", n_left_out);
		pen_end(pen, 4);
	}
}

/* The hosts that get this advice; empty if an earlier remedy said it already. */
static size_t advised_hosts(struct pen *pen, const struct cures *cures, size_t i, const char ***ret_hosts)
{
	const char **hosts = NULL;
	size_t n = 0;

	for (size_t k = 0; k < cures->n_items; k++) {
		if (!same(cures->items[k]->advice, cures->items[i]->advice))
			continue;
		if (k < i)
			return 0;
		*arena_push(pen->arena, &hosts, &n) = cures->items[k]->host ? cures->items[k]->host : "";
	}
	*ret_hosts = hosts;
	return n;
}

static void put_advice(struct pen *pen, const struct cures *cures)
{
	for (size_t i = 0; i < cures->n_items; i++) {
		const char **hosts;
		size_t n = cures->items[i]->advice ? advised_hosts(pen, cures, i, &hosts) : 0;

		if (!n)
			continue;
		pen_begin(pen, 2);
		if (*hosts[0])
			pen_put(pen, INK_BOLD, "on %s%s: ", host_words(pen->arena, hosts, n, 3),
				cures->items[i]->is_persistent ? ", after a reboot too" : "");
		pen_put(pen, INK_PLAIN, "%s", cures->items[i]->advice);
		pen_end(pen, 4);
	}
}

static void put_cures(struct pen *pen, const struct group *group)
{
	struct cures cures = { 0 };
	size_t n;

	add_cures(pen, &cures, group->first);
	for (size_t i = 0; i < group->n_more; i++)
		add_cures(pen, &cures, group->more[i]);
	n = cures.n_hosts > HOSTS_SHOWN && !pen->style->verbose ? HOSTS_SHOWN : cures.n_hosts;
	for (size_t i = 0; i < n; i++) {
		put_commands(pen, &cures, cures.hosts[i], false);
		put_commands(pen, &cures, cures.hosts[i], true);
	}
	if (n < cures.n_hosts) {
		pen_begin(pen, 2);
		pen_put(pen, INK_DIM, "and commands for %zu more hosts (--verbose)", cures.n_hosts - n);
		pen_end(pen, 4);
	}
	put_advice(pen, &cures);
}

static void put_group(struct pen *pen, const struct group *group)
{
	put_headline(pen, group->first);
	put_evidence(pen, group->first);
	put_expected(pen, group->first);
	put_more(pen, group);
	put_cures(pen, group);
}

static bool is_shown(const struct pen *pen, const struct finding *finding)
{
	return pen->style->verbose || !is_quiet(finding);
}

/* Adds the finding to a group of the same check and verdict that says the same, or starts one. */
static void group_finding(struct pen *pen, struct group **groups, size_t *n, const struct finding *finding)
{
	size_t oldest = *n > KINDS_COMPARED ? *n - KINDS_COMPARED : 0;

	for (size_t i = *n; i > oldest && !pen->style->verbose; i--) {
		struct group *group = &(*groups)[i - 1];

		if (group->first->verdict != finding->verdict || strcmp(group->first->check, finding->check) != 0)
			break;
		if (says_the_same(group->first, finding)) {
			*arena_push(pen->arena, &group->more, &group->n_more) = finding;
			return;
		}
	}
	arena_push(pen->arena, groups, n)->first = finding;
}

void terminal_findings(struct pen *pen, const struct results *results)
{
	struct group *groups = NULL;
	size_t n = 0, n_shown;

	for (size_t i = 0; i < results->n_findings; i++)
		if (is_shown(pen, &results->findings[i]))
			group_finding(pen, &groups, &n, &results->findings[i]);
	n_shown = n > GROUPS_SHOWN && !pen->style->verbose ? GROUPS_SHOWN : n;
	for (size_t i = 0; i < n_shown; i++) {
		if (!i || !is_quiet(groups[i].first) || groups[i].first->verdict != groups[i - 1].first->verdict)
			pen_newline(pen);
		put_group(pen, &groups[i]);
	}
	if (n_shown < n) {
		pen_newline(pen);
		pen_begin(pen, 0);
		pen_put(pen, INK_BOLD, "and %zu more kinds of findings (--verbose)", n - n_shown);
		pen_end(pen, 0);
	}
}
