// SPDX-License-Identifier: Apache-2.0
/*
 * link.fabric - each two hosts have at least one rail that works, and as many as the platform should have.
 *
 * One cause makes one FAIL: a rail that is missing because a port in use is down belongs to link.state, unless it was
 * the last one; a host without RDMA devices belongs to link.present, InfiniBand's subnet to link.ib_sm and
 * link.ib_fabric. What is left for this check: no rail at all, ports without addresses, addresses in no common subnet,
 * silent far ends.
 */
#include <inttypes.h>
#include <string.h>

#include "checks/check.h"
#include "core/alloc.h"
#include "core/text.h"
#include "rules/causes.h"

/* What there is to say about two hosts; worse ones later. */
enum pair_case {
	PAIR_GOOD,
	PAIR_UNPROVEN,	/* joined by subnet only although this run tried to reach the far end */
	PAIR_TOLD,	/* fewer rails than there should be; another check fails for the cause */
	PAIR_ODD,	/* a rail may be missing: a port of the same name is in use on one host alone */
	PAIR_UNDECIDED, /* no rail; another check fails for the cause */
	PAIR_SHORT,	/* fewer rails than there should be */
	PAIR_CUT,	/* no rail */
};

struct pairs {
	struct verdicts *v;
	struct rail_count *count;
	size_t n_hosts;
	bool *told;   /* per host: a port in use of it is down, or devices are missing: another check fails for that */
	bool *idle;   /* per host: has a port that could be used and is not */
	size_t *open; /* per host: ports in use that reach nobody */
};

static bool is_idle(const struct fabric *fabric, const struct rdma_port *port)
{
	return !fabric_port_is_used(fabric, port);
}

/* In use, and joined to no port of `other`; ACTIVE, or its being down would be the whole story. */
static bool is_open_towards(const struct fabric *fabric, const struct rdma_port *port, const struct snapshot *other)
{
	const struct port_info *info = fabric_port(fabric, port);

	if (!info || !port_is_active(port) || (info->use == PORT_UNUSED && !port_is_ib(port)))
		return false;
	return !info->rail || !rail_end_on(info->rail, other);
}

/* This idle port's namesake on the other host is in use and reaches nobody here: they look like two ends of one rail.
 */
static bool is_missed(const struct fabric *fabric, const struct rdma_port *idle, const struct snapshot *host,
		      const struct snapshot *other)
{
	const struct rdma_port *used = is_idle(fabric, idle) ? snapshot_find_port(other, idle->name) : NULL;

	return used && is_open_towards(fabric, used, host);
}

/* A pair of ports of one name, in use on `host` and idle on `other`: looks like a rail that should be there. */
static const struct rdma_port *idle_twin(const struct fabric *fabric, const struct snapshot *host,
					 const struct snapshot *other, bool want_active)
{
	for (size_t i = 0; i < other->n_ports; i++) {
		const struct rdma_port *idle = other->ports[i];

		if (port_is_active(idle) == want_active && is_missed(fabric, idle, other, host))
			return idle;
	}
	return NULL;
}

/* What is known of each host by itself, so that pairs cost little. */
static void look_at_host(struct pairs *p, size_t h)
{
	const struct fabric *fabric = p->v->fabric;
	const struct threshold *devices = profile_threshold(p->v->profile, "rdma_devices");
	const struct snapshot *host = fabric->hosts[h];

	p->told[h] = devices && (int64_t)host->n_devs < devices->val;
	for (size_t i = 0; i < host->n_ports; i++) {
		const struct rdma_port *port = host->ports[i];
		enum port_judge judge = port_judged_by(p->count, fabric, h, port);

		p->told[h] |= judge != JUDGE_NOBODY && judge != JUDGE_UNUSED && judge != JUDGE_LINK_FABRIC;
		p->idle[h] |= is_idle(fabric, port);
		p->open[h] += fabric_port_is_used(fabric, port) && !fabric_port(fabric, port)->rail;
	}
}

static bool misses_a_rail(const struct pairs *p, size_t a, size_t b, bool want_active)
{
	const struct fabric *fabric = p->v->fabric;

	if (p->idle[b] && (p->open[a] || rails_missed(p->count, a, b)) &&
	    idle_twin(fabric, fabric->hosts[a], fabric->hosts[b], want_active))
		return true;
	return p->idle[a] && (p->open[b] || rails_missed(p->count, b, a)) &&
	       idle_twin(fabric, fabric->hosts[b], fabric->hosts[a], want_active);
}

/* Was a far end tried in this run and gave no proof? What was only recorded passively is not asked for proofs. */
static bool is_unproven(const struct pairs *p, size_t a, size_t b)
{
	const struct fabric *fabric = p->v->fabric;

	if (a != 0 || fabric->hosts[0]->n_reaches == 0)
		return false;
	for (size_t r = 0; r < fabric->n_rails; r++) {
		const struct rail_end *end = rail_end_on(&fabric->rails[r], fabric->hosts[b]);

		if (end && end->proof == PROOF_SUBNET && port_is_active(end->port))
			return true;
	}
	return false;
}

/* Fewer than two hosts' worth of rails: whose finding is it? */
static enum pair_case short_or_told(const struct pairs *p, size_t a, size_t b)
{
	return p->told[a] || p->told[b] ? PAIR_TOLD : PAIR_SHORT;
}

static enum pair_case pair_case(const struct pairs *p, size_t a, size_t b)
{
	const struct fabric *fabric = p->v->fabric;
	const struct threshold *wanted = profile_threshold(p->v->profile, "rails");
	size_t joined = rails_joined(p->count, a, b), live = rails_live(p->count, a, b);

	if (live == 0)
		return hosts_are_cut(p->count, fabric, a, b) ? PAIR_CUT : PAIR_UNDECIDED;
	if (live < joined || (wanted && (int64_t)live < wanted->val))
		return short_or_told(p, a, b);
	if (misses_a_rail(p, a, b, true))
		return short_or_told(p, a, b);
	if (misses_a_rail(p, a, b, false))
		return PAIR_ODD;
	return is_unproven(p, a, b) ? PAIR_UNPROVEN : PAIR_GOOD;
}

static const char *address_words(struct arena *arena, const struct rdma_port *port)
{
	const struct ip_addr *addr = port->netdev ? netdev_address(port->netdev) : NULL;

	return addr ? arena_printf(arena, "%s/%u", addr->text, addr->prefix_len) : "its address";
}

/* A port that is down: of interest if it should be up. */
static const char *why_down(struct arena *arena, const struct fabric *fabric, const struct rdma_port *port,
			    const struct snapshot *host, const struct snapshot *other, bool all)
{
	if (!all && is_idle(fabric, port) && !is_missed(fabric, port, host, other))
		return NULL;
	return arena_printf(arena, "%s: %s", port_state_name(port->state.val), port_trouble_text(port));
}

/* Why this port of `host` is no rail to `other`, for people; NULL if it is one, or is not meant to be. */
static const char *why_no_rail(struct arena *arena, const struct fabric *fabric, const struct rdma_port *port,
			       const struct snapshot *host, const struct snapshot *other, bool all)
{
	const struct port_info *info = fabric_port(fabric, port);
	const struct rail *rail = info ? info->rail : NULL;
	const struct rail_end *far = rail ? rail_end_on(rail, other) : NULL;

	if (far && rail_joins(rail, host, other))
		return NULL;
	if (!port_is_active(port))
		return why_down(arena, fabric, port, host, other, all);
	if (far && !port_is_active(far->port))
		return NULL; /* told at the far end */
	if (far)
		return far->proof_text ? far->proof_text : "the far end does not answer";
	if (port_is_ib(port))
		return all ? "no port of the other host is on its fabric" : NULL;
	if (is_idle(fabric, port))
		return "no address: it cannot be joined to a rail";
	return arena_printf(arena, "%s lies in no subnet of %s", address_words(arena, port), other->name);
}

struct reasons {
	const char *first; /* "worker's rocep1s0f1/1: no address: …" */
	size_t n;
};

/* Adds each port's reason as evidence. */
static void add_reasons(struct verdicts *v, struct finding *f, const struct snapshot *host,
			const struct snapshot *other, bool all)
{
	for (size_t i = 0; i < host->n_ports; i++) {
		const struct rdma_port *port = host->ports[i];
		const char *why = why_no_rail(v->results->arena, v->fabric, port, host, other, all);

		if (why)
			saw_text(v, f, host, port->name, text_of(why, port->state.origin));
	}
}

static void count_reasons(struct verdicts *v, const struct snapshot *host, const struct snapshot *other, bool all,
			  struct reasons *reasons)
{
	struct arena *arena = v->results->arena;

	for (size_t i = 0; i < host->n_ports; i++) {
		const struct rdma_port *port = host->ports[i];
		const char *why = why_no_rail(arena, v->fabric, port, host, other, all);

		if (why && reasons->n++ == 0)
			reasons->first = arena_printf(arena, "%s's %s%s%s%s: %s", host->name, port->name,
						      port->netdev ? " (" : "", port->netdev ? port->netdev->name : "",
						      port->netdev ? ")" : "", why);
	}
}

/* A port without an address, and one that is down, beat an address without a partner: that is only their consequence.
 */
static size_t weight_of_faults(const struct fabric *fabric, const struct snapshot *host, const struct snapshot *other)
{
	size_t n = 0;

	for (size_t i = 0; i < host->n_ports; i++) {
		const struct rdma_port *port = host->ports[i];

		n += fabric_port_is_used(fabric, port) != port_is_active(port) || is_missed(fabric, port, host, other);
	}
	return n;
}

/* Both ends are ACTIVE, and the far one was asked and did not answer. */
static bool is_silent(const struct fabric *fabric, const struct rdma_port *port, const struct snapshot *other)
{
	const struct port_info *info = fabric_port(fabric, port);
	const struct rail_end *far = info && info->rail ? rail_end_on(info->rail, other) : NULL;

	return far && far->addr && far->proof == PROOF_REFUTED && port_is_active(port) && port_is_active(far->port);
}

static void advise_address(struct verdicts *v, struct finding *f, const struct snapshot *host,
			   const struct rdma_port *port, const struct snapshot *other)
{
	const struct rdma_port *same = snapshot_find_port(other, port->name);

	if (same && fabric_port_is_used(v->fabric, same))
		remedy_advice(v->results, f, host, "give %s an address in the subnet of its partner, where %s has %s",
			      port->netdev->name, other->name, address_words(v->results->arena, same));
	else
		remedy_advice(v->results, f, host,
			      "give %s an address, and its partner one in the same subnet; each rail needs a subnet of "
			      "its own",
			      port->netdev->name);
}

static void advise(struct verdicts *v, struct finding *f, const struct snapshot *host, const struct snapshot *other)
{
	for (size_t i = 0; i < host->n_ports; i++) {
		const struct rdma_port *port = host->ports[i];
		bool used = fabric_port_is_used(v->fabric, port) || is_missed(v->fabric, port, host, other);

		if (!port->netdev || port_is_ib(port))
			continue;
		if (is_silent(v->fabric, port, other))
			remedy_advice(v->results, f, host,
				      "see that %s and its partner hang on one cable or in one VLAN; to look: ping -c "
				      "3 -I %s %s",
				      port->netdev->name, text_shell_word(v->results->arena, port->netdev->name),
				      rail_end_on(fabric_port(v->fabric, port)->rail, other)->addr->text);
		else if (!fabric_port_is_used(v->fabric, port) && port_is_active(port))
			advise_address(v, f, host, port, other);
		else if (used && port_trouble(port) == TROUBLE_SET_DOWN)
			remedy_set_up(v->results, f, host, port->netdev);
		else if (used && !port_is_active(port))
			remedy_advice(v->results, f, host, "plug the cable of %s in, at both ends", port->netdev->name);
	}
}

static const char *rails_words(struct arena *arena, size_t n)
{
	return arena_printf(arena, "%zu rail%s", n, n == 1 ? "" : "s");
}

static const char *pair_name(struct arena *arena, const struct snapshot *a, const struct snapshot *b)
{
	return arena_printf(arena, "%s - %s", a->name, b->name);
}

/* How many rails this pair should have, in words; "" if nobody says. */
static const char *wanted_words(const struct pairs *p, size_t a, size_t b)
{
	const struct threshold *wanted = profile_threshold(p->v->profile, "rails");
	size_t joined = rails_joined(p->count, a, b);

	if (wanted && wanted->val > (int64_t)joined)
		return arena_printf(p->v->results->arena, " of %" PRId64, wanted->val);
	if (joined > rails_live(p->count, a, b))
		return arena_printf(p->v->results->arena, " of %zu", joined);
	return "";
}

static struct finding *pair_finding(const struct pairs *p, enum pair_case what, size_t a, size_t b, const char *first,
				    const char *others)
{
	const struct fabric *fabric = p->v->fabric;
	struct arena *arena = p->v->results->arena;
	const struct snapshot *one = fabric->hosts[a], *other = fabric->hosts[b];
	const char *pair = pair_name(arena, one, other);
	const char *have = arena_printf(arena, "%s%s", rails_words(arena, rails_live(p->count, a, b)),
					wanted_words(p, a, b));
	const char *colon = *first ? ": " : "";

	switch (what) {
	case PAIR_CUT:
		return fail(p->v, NULL, pair, "no rail joins %s and %s%s%s%s", one->name, other->name, colon, first,
			    others);
	case PAIR_SHORT:
		return fail(p->v, NULL, pair, "%s between %s and %s, another is missing%s%s%s", have, one->name,
			    other->name, colon, first, others);
	case PAIR_TOLD:
		return warn(p->v, NULL, pair, "%s between %s and %s works%s%s%s (another check fails for the cause)",
			    have, one->name, other->name, colon, first, others);
	case PAIR_ODD:
		return warn(p->v, NULL, pair, "%s between %s and %s; one more may be missing%s%s%s", have, one->name,
			    other->name, colon, first, others);
	case PAIR_UNDECIDED:
		return unknown(p->v, NULL, pair, "no rail joins %s and %s; another check fails for the cause%s%s%s",
			       one->name, other->name, colon, first, others);
	default:
		return unknown(p->v, NULL, pair,
			       "%s between %s and %s, tried in this run, but nobody was seen at the far end", have,
			       one->name, other->name);
	}
}

/* A host without RDMA ports: there is nothing more to say about its pairs. */
static bool tell_portless(const struct pairs *p, size_t a, size_t b)
{
	const struct snapshot *one = p->v->fabric->hosts[a], *other = p->v->fabric->hosts[b];
	const struct snapshot *portless = one->n_ports == 0 ? one : other;
	struct finding *f;

	if (portless->n_ports > 0)
		return false;
	f = unknown(p->v, portless, pair_name(p->v->results->arena, one, other),
		    "no rail can be judged: %s has no RDMA port (see link.present)", portless->name);
	finding_host(p->v->results, f, portless == one ? other->name : one->name);
	return true;
}

static void tell_pair(const struct pairs *p, enum pair_case what, size_t a, size_t b, size_t n_like_it)
{
	const struct fabric *fabric = p->v->fabric;
	const struct threshold *wanted = profile_threshold(p->v->profile, "rails");
	struct arena *arena = p->v->results->arena;
	bool swap = weight_of_faults(fabric, fabric->hosts[b], fabric->hosts[a]) >
		    weight_of_faults(fabric, fabric->hosts[a], fabric->hosts[b]);
	const struct snapshot *odd = fabric->hosts[swap ? b : a], *other = fabric->hosts[swap ? a : b];
	struct reasons reasons = { .first = "" };
	const char *others = "";
	struct finding *f;
	bool all;

	if (tell_portless(p, a, b))
		return;
	count_reasons(p->v, odd, other, false, &reasons);
	count_reasons(p->v, other, odd, false, &reasons);
	all = reasons.n == 0 && what != PAIR_UNPROVEN;
	if (all) {
		count_reasons(p->v, odd, other, true, &reasons);
		count_reasons(p->v, other, odd, true, &reasons);
	}
	if (reasons.n > 1)
		others = arena_printf(arena, "; %zu more below", reasons.n - 1);
	if (n_like_it > 1)
		others = arena_printf(arena, "%s; the same towards %zu other host%s", others, n_like_it - 1,
				      n_like_it == 2 ? "" : "s");
	f = pair_finding(p, what, a, b, reasons.first, others);
	finding_host(p->v->results, f, odd->name);
	finding_host(p->v->results, f, other->name);
	saw_num(p->v, f, NULL, "rails that work",
		num_of((int64_t)rails_live(p->count, a, b), "addresses, routes and neighbours"), NULL);
	add_reasons(p->v, f, odd, other, all);
	add_reasons(p->v, f, other, odd, all);
	if (wanted)
		expected_threshold(p->v, f, wanted, NULL);
	if (what == PAIR_CUT || what == PAIR_SHORT || what == PAIR_ODD) {
		advise(p->v, f, odd, other);
		advise(p->v, f, other, odd);
	}
}

/* Pairs of this case that each host is part of. */
static void count_partners(const uint8_t *cases, size_t n, enum pair_case what, size_t *partners)
{
	for (size_t a = 0; a < n; a++) {
		partners[a] = 0;
		for (size_t b = 0; b < n; b++)
			partners[a] += cases[a * n + b] == what;
	}
}

/* The host that most of the pairs of this case have in common tells for all of them: one broken host, one finding. */
static void tell_case(const struct pairs *p, enum pair_case what, uint8_t *cases)
{
	size_t n = p->n_hosts;
	cleanup_free size_t *partners = xcalloc(n, sizeof(*partners));

	count_partners(cases, n, what, partners);
	for (;;) {
		size_t worst = n - 1, partner = n, n_like_it;

		for (size_t a = n; a-- > 0;)
			if (partners[a] > partners[worst])
				worst = a;
		if (partners[worst] == 0)
			return;
		for (size_t b = n; b-- > 0;) {
			if (cases[worst * n + b] != what)
				continue;
			partner = b;
			partners[b]--;
			cases[worst * n + b] = cases[b * n + worst] = PAIR_GOOD;
		}
		n_like_it = partners[worst];
		partners[worst] = 0;
		tell_pair(p, what, partner < worst ? partner : worst, partner < worst ? worst : partner, n_like_it);
	}
}

static const char *proof_words(struct arena *arena, const struct fabric *fabric)
{
	size_t n_proven = 0;

	for (size_t r = 0; r < fabric->n_rails; r++)
		n_proven += fabric->rails[r].is_proven;
	if (n_proven == fabric->n_rails)
		return "";
	return arena_printf(arena, "; %zu of %zu not proven: addresses fit, the far end was not seen",
			    fabric->n_rails - n_proven, fabric->n_rails);
}

static void tell_good(const struct pairs *p, size_t n_good)
{
	const struct fabric *fabric = p->v->fabric;
	const struct threshold *wanted = profile_threshold(p->v->profile, "rails");
	struct arena *arena = p->v->results->arena;
	struct finding *f;

	if (p->n_hosts == 2) {
		size_t live = rails_live(p->count, 0, 1);

		f = pass(p->v, NULL, pair_name(arena, fabric->hosts[0], fabric->hosts[1]), "%s join%s %s and %s%s",
			 rails_words(arena, live), live == 1 ? "s" : "", fabric->hosts[0]->name, fabric->hosts[1]->name,
			 proof_words(arena, fabric));
		finding_host(p->v->results, f, fabric->hosts[0]->name);
		finding_host(p->v->results, f, fabric->hosts[1]->name);
	} else {
		f = pass(p->v, NULL, "", "%zu pair%s of %zu hosts ha%s all rails, %zu in sum%s", n_good,
			 n_good == 1 ? "" : "s", p->n_hosts, n_good == 1 ? "s" : "ve", fabric->n_rails,
			 proof_words(arena, fabric));
	}
	if (wanted)
		expected_threshold(p->v, f, wanted, NULL);
}

static bool nothing_to_look_for(const struct pairs *p)
{
	const struct threshold *wanted = profile_threshold(p->v->profile, "rails");

	if (!rails_are_alike(p->count) || p->v->fabric->n_rails == 0 || p->v->fabric->hosts[0]->n_reaches > 0 ||
	    (wanted && wanted->val > (int64_t)p->v->fabric->n_rails))
		return false;
	for (size_t h = 0; h < p->n_hosts; h++)
		if (p->open[h] > 0)
			return false;
	return true;
}

static void compare_pairs(const struct pairs *p)
{
	size_t n = p->n_hosts, n_good = 0;
	cleanup_free uint8_t *cases = NULL;

	/* A thousand healthy hosts: no need to look at each of half a million pairs. */
	if (nothing_to_look_for(p)) {
		tell_good(p, n * (n - 1) / 2);
		return;
	}
	cases = xcalloc(n * n, sizeof(*cases));
	for (size_t a = 0; a < n; a++)
		for (size_t b = a + 1; b < n; b++) {
			cases[a * n + b] = cases[b * n + a] = (uint8_t)pair_case(p, a, b);
			n_good += cases[a * n + b] == PAIR_GOOD;
		}
	for (int what = PAIR_CUT; what > PAIR_GOOD; what--)
		tell_case(p, (enum pair_case)what, cases);
	if (n_good > 0)
		tell_good(p, n_good);
}

static void tell_absent(struct verdicts *v)
{
	for (size_t i = 0; i < v->fabric->n_contacts; i++) {
		const struct contact *contact = &v->fabric->contacts[i];
		struct finding *f;

		if (contact->fault == CONTACT_OK)
			continue;
		f = unknown(v, NULL, contact->name, "%s was not seen: no rail to it can be judged", contact->name);
		finding_host(v->results, f, contact->name);
	}
}

static void compare(struct verdicts *v)
{
	struct pairs p = { .v = v, .n_hosts = v->fabric->n_hosts };
	cleanup_free bool *told = xcalloc(p.n_hosts, sizeof(*told)), *idle = xcalloc(p.n_hosts, sizeof(*idle));
	cleanup_free size_t *open = xcalloc(p.n_hosts, sizeof(*open));

	p.told = told;
	p.idle = idle;
	p.open = open;
	p.count = rail_count_new(v->fabric);
	for (size_t h = 0; h < p.n_hosts; h++)
		look_at_host(&p, h);
	if (p.n_hosts > 1)
		compare_pairs(&p);
	tell_absent(v);
	rail_count_free(p.count);
}

const struct check check_link_fabric = {
	.id = "link.fabric",
	.title = "Each two hosts are joined by at least one working rail, and by as many as the platform has",
	.why = "without a rail NCCL uses TCP over the management network or hangs; with one too few it runs at a "
	       "fraction",
	.remedy = "plug the cable in, set the netdevs up, and give both ends of a rail addresses in one subnet",
	.source = "addresses, routes and neighbour tables of both hosts; the profile's number of rails",
	.needs = NEEDS_ASKED,
	.compare = compare,
};
