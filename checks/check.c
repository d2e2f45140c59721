/* SPDX-License-Identifier: Apache-2.0 */
/* The short forms that checks are written in: check.h. */
#include "checks/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/text.h"

static struct finding *vadd(struct verdicts *v, enum verdict verdict, const struct snapshot *host, const char *subject,
			    const char *format, va_list args)
{
	const char *message = arena_vprintf(v->results->arena, format, args);
	struct finding *f = finding_add(v->results, v->check->id, verdict, subject, "%s", message);

	if (host)
		finding_host(v->results, f, host->name);
	return f;
}

#define DEFINE_VERDICT(name, verdict)                                                                                  \
	struct finding *name(struct verdicts *v, const struct snapshot *host, const char *subject, const char *format, \
			     ...)                                                                                      \
	{                                                                                                              \
		va_list args;                                                                                          \
		struct finding *f;                                                                                     \
                                                                                                                       \
		va_start(args, format);                                                                                \
		f = vadd(v, verdict, host, subject, format, args);                                                     \
		va_end(args);                                                                                          \
		return f;                                                                                              \
	}

DEFINE_VERDICT(pass, VERDICT_PASS)
DEFINE_VERDICT(warn, VERDICT_WARN)
DEFINE_VERDICT(fail, VERDICT_FAIL)
DEFINE_VERDICT(skip, VERDICT_SKIP)
DEFINE_VERDICT(unknown, VERDICT_UNKNOWN)

struct finding *unread(struct verdicts *v, const struct snapshot *host, const char *subject, const char *what,
		       struct num value)
{
	enum verdict verdict = value_gap(value.err) == GAP_UNREADABLE ? VERDICT_UNKNOWN : VERDICT_SKIP;
	struct finding *f = finding_add(v->results, v->check->id, verdict, subject, "%s: %s", what,
					value_gap_text(value.err));

	if (host)
		finding_host(v->results, f, host->name);
	if (value.origin)
		saw_num(v, f, host, what, value, NULL);
	return f;
}

void each_contact(struct verdicts *v, void (*judge)(struct verdicts *v, const struct contact *peer))
{
	for (size_t i = 0; i < v->fabric->n_contacts; i++)
		judge(v, &v->fabric->contacts[i]);
}

void saw_num(struct verdicts *v, struct finding *f, const struct snapshot *host, const char *name, struct num value,
	     const char *unit)
{
	finding_num(v->results, f, host ? host->name : NULL, name, value, unit);
}

void saw_text(struct verdicts *v, struct finding *f, const struct snapshot *host, const char *name, struct text value)
{
	finding_text(v->results, f, host ? host->name : NULL, name, value);
}

void expected(struct verdicts *v, struct finding *f, const char *source, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	finding_expect(v->results, f, source, "%s", arena_vprintf(v->results->arena, format, args));
	va_end(args);
}

void expected_threshold(struct verdicts *v, struct finding *f, const struct threshold *threshold, const char *unit)
{
	finding_expect(v->results, f, threshold->source, "%s %" PRId64 "%s%s", threshold->key, threshold->val,
		       unit ? " " : "", unit ? unit : "");
}

/* Hosts that gave the same value. */
struct group {
	const struct parity_value *first;
	size_t n;
};

static int value_err(const struct parity_value *value)
{
	return value->is_text ? value->text.err : value->num.err;
}

static bool values_equal(const struct parity_value *a, const struct parity_value *b)
{
	return a->is_text ? !strcmp(a->text.val, b->text.val) : a->num.val == b->num.val;
}

static const char *value_words(struct verdicts *v, const struct parity_value *value, const char *unit)
{
	struct arena *arena = v->results->arena;

	if (value->is_text)
		return arena_strdup(arena, value->text.val);
	return arena_printf(arena, "%" PRId64 "%s%s", value->num.val, unit ? " " : "", unit ? unit : "");
}

/* Groups in order of first appearance; the largest one's index in *ret_major, or n_groups if no group has a majority. */
static struct group *group_values(struct arena *arena, const struct parity_value *values, size_t n, size_t *ret_n,
				  size_t *ret_major)
{
	struct group *groups = NULL;
	size_t n_groups = 0, n_read = 0;

	for (size_t i = 0; i < n; i++) {
		size_t g = 0;

		if (value_err(&values[i]))
			continue;
		n_read++;
		while (g < n_groups && !values_equal(groups[g].first, &values[i]))
			g++;
		if (g == n_groups)
			arena_push(arena, &groups, &n_groups)->first = &values[i];
		groups[g].n++;
	}
	*ret_n = *ret_major = n_groups;
	for (size_t g = 0; g < n_groups; g++)
		if (groups[g].n * 2 > n_read)
			*ret_major = g;
	return groups;
}

#define GROUPS_NAMED 4 /* a message names so many of the differing hosts */

static const char *difference_words(struct verdicts *v, const char *what, const char *unit,
				    const struct parity_value *values, size_t n, const struct group *major)
{
	struct arena *arena = v->results->arena;
	const char *words = "";
	size_t named = 0, odd = 0;

	for (size_t i = 0; i < n; i++) {
		if (value_err(&values[i]) || (major && values_equal(major->first, &values[i])))
			continue;
		if (odd++ >= GROUPS_NAMED)
			continue;
		words = arena_printf(arena, "%s%s%s has %s", words, named++ ? ", " : "", values[i].host->name,
				     value_words(v, &values[i], unit));
	}
	if (odd > GROUPS_NAMED)
		words = arena_printf(arena, "%s and %zu more differ", words, odd - GROUPS_NAMED);
	if (major)
		words = arena_printf(arena, "%s; %zu other host%s ha%s %s", words, major->n, major->n == 1 ? "" : "s",
				     major->n == 1 ? "s" : "ve", value_words(v, major->first, unit));
	return arena_printf(arena, "%s differs: %s", what, words);
}

static void parity_evidence(struct verdicts *v, struct finding *f, const char *what, const char *unit,
			    const struct parity_value *values, size_t n, const struct group *major)
{
	/* The odd ones first: they are what the finding is about. */
	for (int odd = 1; odd >= 0; odd--)
		for (size_t i = 0; i < n; i++) {
			bool is_odd = !major || value_err(&values[i]) || !values_equal(major->first, &values[i]);
			const char *name = what;

			if (is_odd != (odd == 1))
				continue;
			if (values[i].subject_on_host)
				name = arena_printf(v->results->arena, "%s of %s", what, values[i].subject_on_host);
			if (odd || !major || n <= 8)
				finding_host(v->results, f, values[i].host->name);
			if (values[i].is_text)
				saw_text(v, f, values[i].host, name, values[i].text);
			else
				saw_num(v, f, values[i].host, name, values[i].num, unit);
		}
}

static struct finding *parity_unread(struct verdicts *v, const char *subject, const char *what,
				     const struct parity_value *values, size_t n)
{
	const struct parity_value *worst = NULL;
	const char *who = "";
	size_t n_unread = 0;

	for (size_t i = 0; i < n; i++) {
		if (!value_err(&values[i]))
			continue;
		if (!worst || value_gap(value_err(&values[i])) == GAP_UNREADABLE)
			worst = &values[i];
		if (n_unread++ < GROUPS_NAMED)
			who = arena_printf(v->results->arena, "%s%s%s", who, *who ? ", " : "", values[i].host->name);
	}
	if (!worst)
		return skip(v, NULL, subject, "%s: fewer than two hosts to compare", what);
	return finding_add(v->results, v->check->id,
			   value_gap(value_err(worst)) == GAP_UNREADABLE ? VERDICT_UNKNOWN : VERDICT_SKIP, subject,
			   "%s on %s: %s", what, who, value_gap_text(value_err(worst)));
}

struct finding *parity(struct verdicts *v, const char *subject, const char *what, const char *unit,
		       enum verdict if_differs, const struct parity_value *values, size_t n)
{
	size_t n_groups, i_major, n_read = 0, n_bad = 0;
	struct group *groups = group_values(v->results->arena, values, n, &n_groups, &i_major);
	const struct group *major = i_major < n_groups ? &groups[i_major] : NULL;
	struct finding *f;

	for (size_t i = 0; i < n; i++) {
		n_read += value_err(&values[i]) == 0;
		n_bad += value_gap(value_err(&values[i])) == GAP_UNREADABLE;
	}
	if (n_groups > 1)
		f = finding_add(v->results, v->check->id, if_differs, subject, "%s",
				difference_words(v, what, unit, values, n, major));
	else if (n_read < 2 || n_bad > 0)
		f = parity_unread(v, subject, what, values, n);
	else
		f = pass(v, NULL, subject, "%s is %s on %zu hosts%s", what, value_words(v, groups[0].first, unit), n_read,
			 n_read < n ? "; the others do not tell" : "");
	parity_evidence(v, f, what, unit, values, n, major);
	return f;
}

void each_used_port(struct verdicts *v, const struct snapshot *host, port_judge_fn *judge)
{
	size_t n_used = 0;

	for (size_t i = 0; i < host->n_ports; i++) {
		if (!fabric_port_is_used(v->fabric, host->ports[i]))
			continue;
		n_used++;
		judge(v, host, host->ports[i]);
	}
	if (n_used == 0)
		skip(v, host, "", "no RDMA port is in use here");
}

bool skipped_as_down(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	if (port_is_active(port))
		return false;
	if (port->state.err)
		unread(v, host, port->name, "port state", port->state);
	else
		skip(v, host, port->name, "the port is %s (see link.state)", port_state_name(port->state.val));
	return true;
}

const struct pci_dev *judged_function(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct pci_dev *pci = port->dev->pci;

	if (port->dev->is_soft)
		skip(v, host, port->name, "soft RDMA device: no PCIe link of its own");
	else if (!pci)
		skip(v, host, port->name, "not a PCI device, or not visible here");
	else if (pci->is_vf)
		skip(v, host, port->name, "virtual function %s: its physical function has the PCIe link",
		     pci->bdf);
	else
		return pci;
	return NULL;
}

struct num sample_interval_ns(const struct snapshot *host)
{
	const struct identity *id = &host->id;

	if (id->boot2_ns.err)
		return id->boot2_ns;
	if (id->boot_ns.err)
		return id->boot_ns;
	if (id->boot2_ns.val <= id->boot_ns.val)
		return num_err(VALUE_MALFORMED, id->boot2_ns.origin);
	return num_of(id->boot2_ns.val - id->boot_ns.val, id->boot2_ns.origin);
}

bool port_rides_on(const struct rdma_port *port, const struct netdev *netdev)
{
	const struct netdev *own = port->netdev;

	return own && (own == netdev || own->lower == netdev || netdev->master == own);
}
