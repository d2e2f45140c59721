// SPDX-License-Identifier: Apache-2.0
/*
 * link.fabric - each two hosts have at least one rail that works, and as many as the platform should have.
 *
 * One cause makes one FAIL: a rail that is missing because a port in use is down belongs to link.state, unless it was
 * the last one; a host without RDMA devices belongs to link.present, InfiniBand's subnet to link.ib_sm and
 * link.ib_fabric. What is left for this check: no rail at all, ports without addresses, addresses in no common subnet,
 * silent far ends. Why a port is no rail, and what to do about it: rules/no_rail.c.
 */
#include <inttypes.h>
#include <string.h>

#include "checks/check.h"
#include "core/alloc.h"
#include "core/text.h"
#include "rules/blame.h"
#include "rules/causes.h"
#include "rules/no_rail.h"

/* What there is to say about two hosts; worse ones later. */
enum pair_case {
	PAIR_GOOD,
	PAIR_UNPROVEN,	/* addresses fit, but nobody was seen at the far end */
	PAIR_TOLD,	/* fewer rails than there should be; another check fails for the cause */
	PAIR_ODD,	/* a rail may be missing: a port of the same name is in use on one host alone */
	PAIR_UNDECIDED, /* no rail; another check fails for the cause */
	PAIR_SHORT,	/* fewer rails than there should be */
	PAIR_CUT,	/* no rail */
};

/* How it is said: "1 rail of 2 between a and b" or "no rail joins a and b", `what`, the first reason, `end`. */
static const struct saying {
	enum verdict verdict;
	const char *what, *end;
	bool has_remedy;
} sayings[] = {
	[PAIR_UNPROVEN] = { VERDICT_UNKNOWN, " by their addresses, but nobody was seen at the far end", "", false },
	[PAIR_TOLD] = { VERDICT_WARN, " works", " (another check fails for the cause)", false },
	[PAIR_ODD] = { VERDICT_WARN, "; one more may be missing", "", true },
	[PAIR_UNDECIDED] = { VERDICT_SKIP, "; another check tells the cause", "", false },
	[PAIR_SHORT] = { VERDICT_FAIL, ", another is missing", "", true },
	[PAIR_CUT] = { VERDICT_FAIL, "", "", true },
};

struct judging {
	struct verdicts *v;
	const struct threshold *wanted; /* rails that two hosts should have; NULL: the profile does not say */
	bool *told;			/* by kind: another check fails for something on these hosts */
};

/* ---- what is the case ---- */

/* A rail from the head to this host of which only addresses speak: proofs are kept towards the head alone. */
static bool is_unproven(const struct verdicts *v, const struct host_kind *head, const struct host_kind *kind)
{
	if (head->host != v->fabric->hosts[0])
		return false;
	for (size_t i = 0; i < kind->host->n_ports; i++) {
		const struct port_info *info = fabric_port(v->fabric, kind->host->ports[i]);

		if (info->rail && info->rail->ends[0].host == head->host && info->end->proof == PROOF_SUBNET &&
		    port_is_active(info->port))
			return true;
	}
	return false;
}

static enum pair_case pair_case(const struct judging *j, const struct host_kind *a, const struct host_kind *b)
{
	const struct pairs *pairs = j->v->pairs;
	size_t joined = rails_joined(a, b), live = rails_live(a, b);

	if (live == 0)
		return kinds_are_cut(a, b) ? PAIR_CUT : PAIR_UNDECIDED;
	if (live < joined || (j->wanted && (int64_t)live < j->wanted->val) || kinds_miss_rail(pairs, a, b, true))
		return j->told[a - pairs->kinds] || j->told[b - pairs->kinds] ? PAIR_TOLD : PAIR_SHORT;
	if (kinds_miss_rail(pairs, a, b, false) || kinds_strand_rail(pairs, a, b))
		return PAIR_ODD;
	return is_unproven(j->v, a, b) ? PAIR_UNPROVEN : PAIR_GOOD;
}

/* ---- saying it ---- */

static const char *rails_words(struct arena *arena, size_t n)
{
	return arena_printf(arena, "%zu rail%s", n, n == 1 ? "" : "s");
}

static const char *pair_name(struct arena *arena, const struct snapshot *a, const struct snapshot *b)
{
	return arena_printf(arena, "%s - %s", a->name, b->name);
}

/* "1 rail of 2 between head and worker"; how many there should be only if somebody says. */
static const char *have_words(const struct judging *j, size_t a, size_t b)
{
	const struct pairs *pairs = j->v->pairs;
	const char *one = pairs->fabric->hosts[a]->name, *other = pairs->fabric->hosts[b]->name;
	struct arena *arena = j->v->results->arena;
	const struct host_kind *kind = kind_of_host(pairs, a), *other_kind = kind_of_host(pairs, b);
	size_t joined = rails_joined(kind, other_kind), live = rails_live(kind, other_kind);
	int64_t most = j->wanted && j->wanted->val > (int64_t)joined ? j->wanted->val : (int64_t)joined;
	const char *of = most > (int64_t)live ? arena_printf(arena, " of %" PRId64, most) : "";

	if (live == 0)
		return arena_printf(arena, "no rail joins %s and %s", one, other);
	return arena_printf(arena, "%s%s between %s and %s", rails_words(arena, live), of, one, other);
}

/* ": worker's rocep1s0f1/1 (eth2): no address: …; 1 more below; the same towards 6 other hosts" */
static const char *reason_words(struct arena *arena, const struct no_rail *reasons, size_t n, size_t n_like_it)
{
	const char *words = "";

	if (n > 0) {
		const struct netdev *netdev = reasons->port->netdev;

		words = arena_printf(arena, ": %s's %s%s%s%s: %s", reasons->host->name, reasons->port->name,
				     netdev ? " (" : "", netdev ? netdev->name : "", netdev ? ")" : "", reasons->why);
	}
	if (n > 1)
		words = arena_printf(arena, "%s; %zu more below", words, n - 1);
	if (n_like_it > 1)
		words = arena_printf(arena, "%s; the same towards %zu other host%s", words, n_like_it - 1,
				     n_like_it == 2 ? "" : "s");
	return words;
}

static void advise_proof(struct verdicts *v, struct finding *f)
{
	const struct snapshot *head = v->fabric->hosts[0];

	if (head->n_reaches == 0)
		remedy_advice(v->results, f, head, "try the rails: --level probe sends a packet or two over each");
	else
		remedy_advice(v->results, f, head,
			      "let echo requests or a UDP datagram pass on the rails, or send something over them and run again");
}

/* A host without RDMA ports: link.present says so. SKIPped where it is required, the check still closes the gate. */
static bool tell_portless(struct verdicts *v, const struct snapshot *one, const struct snapshot *other)
{
	const struct snapshot *portless = one->n_ports == 0 ? one : other;
	struct finding *f;

	if (portless->n_ports > 0)
		return false;
	f = skip(v, portless, pair_name(v->results->arena, one, other),
		    "no rail can be judged: %s has no RDMA port (see link.present)", portless->name);
	finding_host(v->results, f, portless == one ? other->name : one->name);
	return true;
}

/* The host with more faults of its own is named first, the head if they are equal. */
static void tell_group(const struct judging *j, enum pair_case what, const struct pair_group *group)
{
	struct verdicts *v = j->v;
	const struct saying *saying = &sayings[what];
	const struct snapshot *one = v->fabric->hosts[group->a], *two = v->fabric->hosts[group->b];
	bool swap = no_rail_faults(v->pairs, group->b, group->a) > no_rail_faults(v->pairs, group->a, group->b);
	size_t odd = swap ? group->b : group->a, other = swap ? group->a : group->b, n;
	struct no_rail *reasons;
	struct finding *f;

	if (tell_portless(v, one, two))
		return;
	reasons = no_rail_reasons(v->pairs, odd, other, what != PAIR_UNPROVEN, v->results->arena, &n);
	f = finding_add(v->results, v->check->id, saying->verdict, pair_name(v->results->arena, one, two), "%s%s%s%s",
			have_words(j, group->a, group->b), saying->what,
			reason_words(v->results->arena, reasons, what == PAIR_UNPROVEN ? 0 : n, group->n), saying->end);
	finding_host(v->results, f, v->fabric->hosts[odd]->name);
	finding_host(v->results, f, v->fabric->hosts[other]->name);
	saw_num(v, f, NULL, "rails that work",
		num_of((int64_t)rails_live(kind_of_host(v->pairs, odd), kind_of_host(v->pairs, other)),
		       "addresses, routes and neighbours"),
		NULL);
	for (size_t i = 0; i < n; i++)
		saw_text(v, f, reasons[i].host, reasons[i].port->name,
			 text_of(reasons[i].why, reasons[i].port->state.origin));
	if (j->wanted)
		expected_threshold(v, f, j->wanted, NULL);
	if (what == PAIR_UNPROVEN)
		advise_proof(v, f);
	else if (saying->has_remedy)
		no_rail_advise(v->pairs, odd, other, v->results, f);
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

static void tell_good(const struct judging *j, size_t n_good)
{
	struct verdicts *v = j->v;
	const struct fabric *fabric = v->fabric;
	const struct snapshot *one = fabric->hosts[0], *two = fabric->hosts[1];
	struct arena *arena = v->results->arena;
	struct finding *f;

	if (fabric->n_hosts == 2) {
		size_t live = rails_live(kind_of_host(v->pairs, 0), kind_of_host(v->pairs, 1));

		f = pass(v, NULL, pair_name(arena, one, two), "%s join%s %s and %s%s", rails_words(arena, live),
			 live == 1 ? "s" : "", one->name, two->name, proof_words(arena, fabric));
		finding_host(v->results, f, one->name);
		finding_host(v->results, f, two->name);
	} else {
		f = pass(v, NULL, "", "%zu pair%s of %zu hosts ha%s all rails, %zu in sum%s", n_good,
			 n_good == 1 ? "" : "s", fabric->n_hosts, n_good == 1 ? "s" : "ve", fabric->n_rails,
			 proof_words(arena, fabric));
	}
	if (j->wanted)
		expected_threshold(v, f, j->wanted, NULL);
}

/* ---- all pairs ---- */

static void tell_cases(const struct judging *j, const uint8_t *cases)
{
	for (int what = PAIR_CUT; what > PAIR_GOOD; what--) {
		size_t n;
		struct pair_group *groups = pairs_group(j->v->pairs, cases, (uint8_t)what, j->v->results->arena, &n);

		for (size_t i = 0; i < n; i++)
			tell_group(j, (enum pair_case)what, &groups[i]);
	}
}

static void compare_pairs(struct verdicts *v)
{
	const struct pairs *pairs = v->pairs;
	size_t n = pairs->n_kinds, n_good = 0;
	cleanup_free uint8_t *cases = xcalloc(n * n, sizeof(*cases));
	cleanup_free bool *told = xcalloc(n, sizeof(*told));
	struct judging j = { .v = v, .wanted = profile_threshold(v->profile, "rails"), .told = told };

	for (size_t k = 0; k < n; k++)
		told[k] = kind_is_told(pairs, v->profile, &pairs->kinds[k]);
	for (size_t a = 0; a < n; a++)
		for (size_t b = a; b < n; b++) {
			cases[a * n + b] = (uint8_t)pair_case(&j, &pairs->kinds[a], &pairs->kinds[b]);
			cases[b * n + a] = cases[a * n + b];
			if (cases[a * n + b] == PAIR_GOOD)
				n_good += pairs_between(&pairs->kinds[a], &pairs->kinds[b]);
		}
	tell_cases(&j, cases);
	if (n_good > 0)
		tell_good(&j, n_good);
}

static void tell_absent(struct verdicts *v)
{
	for (size_t i = 0; i < v->fabric->n_contacts; i++) {
		const struct contact *contact = &v->fabric->contacts[i];
		struct finding *f;

		if (contact->fault == CONTACT_OK)
			continue;
		f = skip(v, NULL, contact->name, "%s was not seen (peer.reach, peer.agent): no rail to it can be judged",
			 contact->name);
		finding_host(v->results, f, contact->name);
	}
}

/* ---- ends without an RDMA device ---- */

/* No RDMA port on, below or above it. */
static bool is_plain(const struct snapshot *host, const struct netdev *netdev)
{
	if (netdev->port || netdev->is_loopback || (netdev->lower && netdev->lower->port))
		return false;
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (host->netdevs[i].port && host->netdevs[i].master == netdev)
			return false;
	return true;
}

/* Both have an address in one subnet; link-local ones say nothing. */
static bool share_subnet(const struct netdev *a, const struct netdev *b)
{
	for (size_t i = 0; i < a->n_addrs; i++)
		for (size_t j = 0; j < b->n_addrs; j++)
			if (!addr_is_link_local(&a->addrs[i]) && addr_in_subnet_of(&a->addrs[i], &b->addrs[j]) &&
			    addr_in_subnet_of(&b->addrs[j], &a->addrs[i]))
				return true;
	return false;
}

/* The RDMA port of another host whose subnet this netdev is in, while its own host has no RDMA port there; or NULL. */
static const struct port_info *partner_of(const struct fabric *fabric, const struct snapshot *host,
					  const struct netdev *netdev)
{
	for (size_t i = 0; i < fabric->n_infos; i++) {
		const struct port_info *info = &fabric->infos[i];
		const struct snapshot *other = fabric->hosts[info->host];
		const struct netdev *far = info->end ? info->end->netdev : info->port->netdev;

		if (other == host || !far || (info->rail && info->end != info->rail->ends) || !share_subnet(netdev, far))
			continue; /* one end speaks for its rail */
		if (!(info->rail && rail_end_on(info->rail, host)) && !netdev_is_way_out(other, far))
			return info;
	}
	return NULL;
}

/* On machines that are alike a netdev of that name has an RDMA device; on others it may never have had one. */
static void tell_deviceless(struct verdicts *v, const struct snapshot *host, const struct netdev *netdev,
			    const struct port_info *far)
{
	const struct snapshot *other = v->fabric->hosts[far->host];
	const struct netdev *twin = far->port->netdev;
	bool other_driver = twin && !twin->driver.err && !netdev->driver.err && strcmp(twin->driver.val, netdev->driver.val);
	bool is_alike = twin && !strcmp(twin->name, netdev->name) && !other_driver;
	struct finding *f = (is_alike ? fail : warn)(v, host, netdev->name,
						     "%s has no RDMA device, so %s's %s in the same subnet has no "
						     "partner here",
						     netdev->name, other->name, far->port->name);

	finding_host(v->results, f, other->name);
	saw_text(v, f, other, "RDMA device", text_of(far->port->name, far->port->state.origin));
	remedy_advice(v->results, f, host,
		      "bring the RDMA device of %s back: load its driver's RDMA module (mlx5_ib, bnxt_re, irdma), or "
		      "for soft-RoCE: rdma link add NAME type rxe netdev %s",
		      netdev->name, text_shell_word(v->results->arena, netdev->name));
}

static void find_deviceless(struct verdicts *v, const struct snapshot *host)
{
	const struct threshold *devices = profile_threshold(v->profile, "rdma_devices");

	if (host->n_ports == 0 || (devices && (int64_t)host->n_devs < devices->val))
		return; /* link.present tells */
	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct netdev *netdev = &host->netdevs[i];
		const struct port_info *far = NULL;

		if (netdev->n_addrs > 0 && is_plain(host, netdev) && !netdev_is_way_out(host, netdev))
			far = partner_of(v->fabric, host, netdev);
		if (far)
			tell_deviceless(v, host, netdev, far);
	}
}

static void compare(struct verdicts *v)
{
	if (v->fabric->n_hosts > 1)
		compare_pairs(v);
	for (size_t h = 0; v->fabric->n_hosts > 1 && h < v->fabric->n_hosts; h++)
		find_deviceless(v, v->fabric->hosts[h]);
	tell_absent(v);
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
