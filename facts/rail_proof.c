// SPDX-License-Identifier: Apache-2.0
/*
 * What two ends of a rail know of each other: probes of this run first, then both hosts' neighbour tables, then only
 * why they were joined. All lookups are by binary search: the readers sort neighbours and routes.
 */
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fabric_build.h"

/* ---- neighbours ---- */

static int64_t netdev_order(const struct netdev *netdev)
{
	return netdev ? (int64_t)netdev->index : -1;
}

/* First neighbour that is not before (netdev, family, addr), in the order of read_routes.c. */
static size_t neighbour_bound(const struct snapshot *host, const struct netdev *netdev, int family, const char *addr)
{
	size_t low = 0, high = host->n_neighbours;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct neighbour *at = &host->neighbours[middle];
		int64_t order = netdev_order(at->netdev) - netdev_order(netdev);

		if (!order)
			order = at->family - family;
		if (!order)
			order = strcmp(at->addr, addr);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct neighbour *find_neighbour(const struct snapshot *host, const struct netdev *netdev, int family,
				       const char *addr)
{
	size_t i = neighbour_bound(host, netdev, family, addr);
	const struct neighbour *at;

	if (i == host->n_neighbours)
		return NULL;
	at = &host->neighbours[i];
	return at->netdev == netdev && at->family == family && !strcmp(at->addr, addr) ? at : NULL;
}

const struct neighbour *netdev_neighbours(const struct snapshot *host, const struct netdev *netdev, size_t *ret_n)
{
	size_t first = neighbour_bound(host, netdev, 0, ""), n = first;

	while (n < host->n_neighbours && host->neighbours[n].netdev == netdev)
		n++;
	*ret_n = n - first;
	return n > first ? &host->neighbours[first] : NULL;
}

bool neighbour_is_known(const struct neighbour *neighbour)
{
	return !neighbour->state.err &&
	       (neighbour->state.val & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT));
}

static const char *neighbour_state_name(int64_t state)
{
	if (state & NUD_REACHABLE)
		return "REACHABLE";
	if (state & NUD_PERMANENT)
		return "PERMANENT";
	return state & NUD_STALE ? "STALE" : state & NUD_DELAY ? "DELAY" : "PROBE";
}

/* ---- routes ---- */

static void mask(uint8_t raw[16], unsigned len)
{
	for (unsigned i = 0; i < 16; i++) {
		if (len >= 8 * (i + 1))
			continue;
		raw[i] &= len > 8 * i ? (uint8_t)(0xff << (8 - (len - 8 * i))) : 0;
	}
}

/* Order of read_routes.c: family, table, longest prefix first, destination. */
static int route_order(const struct route *at, int family, int64_t table, unsigned len, const uint8_t dst[16])
{
	if (at->family != family)
		return at->family < family ? -1 : 1;
	if (at->table.val != table)
		return at->table.val < table ? -1 : 1;
	if (at->dst_len != len)
		return at->dst_len > len ? -1 : 1;
	return memcmp(at->dst, dst, 16);
}

static size_t route_bound(const struct snapshot *host, size_t low, int family, int64_t table, unsigned len,
			  const uint8_t dst[16])
{
	size_t high = host->n_routes;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (route_order(&host->routes[middle], family, table, len, dst) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Tries one length of prefix after the other, but only those that the table has. */
const struct route *find_route(const struct snapshot *host, int64_t table, const struct ip_addr *addr)
{
	static const uint8_t least[16];
	size_t i = route_bound(host, 0, addr->family, table, 128, least);

	while (i < host->n_routes) {
		const struct route *at = &host->routes[i];
		unsigned len = at->dst_len;
		uint8_t dst[16];
		size_t found;

		if (at->family != addr->family || at->table.val != table)
			return NULL;
		memcpy(dst, addr->raw, sizeof(dst));
		mask(dst, len);
		found = route_bound(host, i, addr->family, table, len, dst);
		if (found < host->n_routes && !route_order(&host->routes[found], addr->family, table, len, dst))
			return &host->routes[found];
		if (!len)
			return NULL;
		i = route_bound(host, i, addr->family, table, len - 1, least);
	}
	return NULL;
}

/* "10.1.0.1/32" names just this address. */
static bool rule_is_from(const struct rule *rule, const struct ip_addr *addr)
{
	size_t len = strlen(addr->text);

	return rule->family == addr->family && rule->from && !strncmp(rule->from, addr->text, len) &&
	       !strcmp(rule->from + len, addr->family == AF_INET ? "/32" : "/128") && !rule->to && !rule->iif &&
	       !rule->table.err;
}

const struct route *gateway_route(const struct snapshot *host, const struct point *a, const struct ip_addr *addr)
{
	const struct route *route = NULL;

	for (size_t i = 0; i < host->n_rules && !route; i++)
		if (rule_is_from(&host->rules[i], a->addr))
			route = find_route(host, host->rules[i].table.val, addr);
	if (!route)
		route = find_route(host, RT_TABLE_MAIN, addr);
	return route && route->gateway && route->netdev == a->netdev ? route : NULL;
}

/* ---- addresses ---- */

bool addr_is_link_local(const struct ip_addr *addr)
{
	if (addr->family == AF_INET)
		return addr->raw[0] == 169 && addr->raw[1] == 254;
	return addr->raw[0] == 0xfe && (addr->raw[1] & 0xc0) == 0x80;
}

bool addr_in_subnet_of(const struct ip_addr *addr, const struct ip_addr *subnet)
{
	uint8_t x[16], y[16];

	if (addr->family != subnet->family)
		return false;
	memcpy(x, addr->raw, sizeof(x));
	memcpy(y, subnet->raw, sizeof(y));
	mask(x, subnet->prefix_len);
	mask(y, subnet->prefix_len);
	return !memcmp(x, y, sizeof(x));
}

/* ---- proofs ---- */

static bool is_mac_of(const char *mac, const struct point *point)
{
	const struct netdev *own = point->info->port->netdev;

	return (!point->netdev->mac.err && !strcasecmp(mac, point->netdev->mac.val)) ||
	       (own && !own->mac.err && !strcasecmp(mac, own->mac.val));
}

static const char *mac_text(const struct netdev *netdev)
{
	return netdev->mac.err ? "unknown" : netdev->mac.val;
}

static int compare_reaches(const void *a, const void *b)
{
	const struct reach *x = *(const struct reach *const *)a, *y = *(const struct reach *const *)b;

	return strcmp(x->addr, y->addr) ?: strcmp(x->netdev_name, y->netdev_name);
}

static const struct reach *find_reach(struct build *b, size_t h, const char *netdev_name, const char *addr)
{
	const struct snapshot *host = b->fabric->hosts[h];
	const struct reach key = { .netdev_name = netdev_name, .addr = addr }, *wanted = &key, *const *found;

	if (!host->n_reaches)
		return NULL;
	if (!b->reaches)
		b->reaches = arena_array(b->arena, b->fabric->n_hosts, sizeof(*b->reaches));
	if (!b->reaches[h]) {
		b->reaches[h] = arena_array(b->arena, host->n_reaches, sizeof(**b->reaches));
		for (size_t i = 0; i < host->n_reaches; i++)
			b->reaches[h][i] = &host->reaches[i];
		qsort(b->reaches[h], host->n_reaches, sizeof(**b->reaches), compare_reaches);
	}
	found = bsearch(&wanted, b->reaches[h], host->n_reaches, sizeof(**b->reaches), compare_reaches);
	return found ? *found : NULL;
}

/* Which netdev of that host has this MAC address; NULL if none has. */
static const struct netdev *netdev_with_mac(const struct snapshot *host, const char *mac)
{
	for (size_t i = 0; i < host->n_netdevs; i++)
		if (!host->netdevs[i].mac.err && !strcasecmp(host->netdevs[i].mac.val, mac))
			return &host->netdevs[i];
	return NULL;
}

static struct proof wrong_mac(struct build *b, const struct point *from, const struct point *to, const char *mac,
			      const char *where)
{
	const struct snapshot *host = b->fabric->hosts[from->host], *far = b->fabric->hosts[to->host];
	const struct netdev *answers = netdev_with_mac(far, mac);
	const char *who = answers ? arena_printf(b->arena, "which is %s of %s, not %s", answers->name, far->name,
						 to->netdev->name)
				  : arena_printf(b->arena, "which is not %s of %s (%s)", to->netdev->name, far->name,
						 mac_text(to->netdev));

	return (struct proof){ PROOF_REFUTED,
			       arena_printf(b->arena, "%s is at %s on %s (%s of %s), %s", to->addr->text, mac,
					    from->netdev->name, where, host->name, who),
			       RAIL_OTHER_PORT };
}

/* What a probe from `from` to the address of `to` found in this run; PROOF_SUBNET if there was none. */
static struct proof probe_proof(struct build *b, const struct point *from, const struct point *to)
{
	const struct reach *reach = find_reach(b, from->host, from->netdev->name, to->addr->text);
	const char *host = b->fabric->hosts[from->host]->name;

	if (!reach || !strcmp(reach->state, "error"))
		return (struct proof){ PROOF_SUBNET, NULL };
	if (strcmp(reach->state, "reachable") != 0)
		return (struct proof){ PROOF_REFUTED, arena_printf(b->arena, "%s did not answer on %s (probe of %s)",
								   to->addr->text, from->netdev->name, host) };
	if (!reach->mac)
		return (struct proof){ PROOF_SUBNET, NULL };
	if (!is_mac_of(reach->mac, to))
		return wrong_mac(b, from, to, reach->mac, "probe");
	return (struct proof){ PROOF_REACHED, arena_printf(b->arena, "%s answered from %s on %s (probe of %s)",
							   to->addr->text, reach->mac, from->netdev->name, host) };
}

/* Whether that refutation was somebody else's answer, which weighs more than none. */
static struct proof table_proof(struct build *b, const struct point *from, const struct point *to, bool *ret_is_wrong)
{
	const struct snapshot *host = b->fabric->hosts[from->host];
	const struct neighbour *neighbour = find_neighbour(host, from->netdev, to->addr->family, to->addr->text);

	if (!neighbour || neighbour->state.err)
		return (struct proof){ PROOF_SUBNET, NULL };
	if (neighbour->state.val & NUD_FAILED)
		return (struct proof){ PROOF_REFUTED,
				       arena_printf(b->arena,
						    "%s does not answer on %s (neighbour table of %s: FAILED)",
						    to->addr->text, from->netdev->name, host->name) };
	if (!neighbour->mac || !neighbour_is_known(neighbour))
		return (struct proof){ PROOF_SUBNET, NULL };
	if (!is_mac_of(neighbour->mac, to)) {
		*ret_is_wrong = true;
		return wrong_mac(b, from, to, neighbour->mac, "neighbour table");
	}
	return (struct proof){ PROOF_NEIGHBOUR, arena_printf(b->arena, "%s is at %s on %s (neighbour table of %s: %s)",
							     to->addr->text, neighbour->mac, from->netdev->name,
							     host->name, neighbour_state_name(neighbour->state.val)) };
}

static bool have_one_address(const struct point *a, const struct point *z)
{
	return a->addr->family == z->addr->family && !memcmp(a->addr->raw, z->addr->raw, sizeof(a->addr->raw));
}

/* Neither can reach the other: each takes the address for its own. */
static struct proof same_addr_proof(struct build *b, const struct point *a, const struct point *z)
{
	return (struct proof){ PROOF_REFUTED,
			       arena_printf(b->arena, "%s is the address of both %s of %s and %s of %s", z->addr->text,
					    a->netdev->name, b->fabric->hosts[a->host]->name, z->netdev->name,
					    b->fabric->hosts[z->host]->name),
			       RAIL_SAME_ADDR };
}

static struct proof fabric_proof(struct build *b, const struct point *a)
{
	const struct rdma_port *port = a->info->port;

	return (struct proof){ PROOF_FABRIC,
			       arena_printf(b->arena, "both ACTIVE in subnet %s under the subnet manager at LID %d",
					    port->subnet_prefix.val, (int)port->sm_lid.val) };
}

static struct proof route_proof(struct build *b, const struct point *a, const struct point *z)
{
	const struct snapshot *host = b->fabric->hosts[a->host];
	const struct route *route = gateway_route(host, a, z->addr);
	const struct neighbour *gateway;

	if (!route)
		return (struct proof){ PROOF_SUBNET, NULL };
	gateway = find_neighbour(host, a->netdev, strchr(route->gateway, ':') ? AF_INET6 : AF_INET, route->gateway);
	if (gateway && !gateway->state.err && (gateway->state.val & NUD_FAILED))
		return (struct proof){
			PROOF_REFUTED,
			arena_printf(
				b->arena,
				"%s is routed through %s on %s, which does not answer (neighbour table of %s: FAILED)",
				z->addr->text, route->gateway, a->netdev->name, host->name)
		};
	return (struct proof){ PROOF_ROUTE,
			       arena_printf(b->arena, "%s is routed through %s on %s (%s of %s)", z->addr->text,
					    route->gateway, a->netdev->name, route->dst_text, host->name) };
}

/* A refuted probe beats all; else somebody else's MAC beats what is known; else the better of two. */
static struct proof neighbours_proof(struct build *b, const struct point *a, const struct point *z)
{
	bool there_is_wrong = false, back_is_wrong = false;
	struct proof there = probe_proof(b, a, z), back = probe_proof(b, z, a);

	if (there.kind == PROOF_REFUTED || back.kind == PROOF_REFUTED)
		return there.kind == PROOF_REFUTED ? there : back;
	if (there.kind == PROOF_REACHED || back.kind == PROOF_REACHED)
		return there.kind == PROOF_REACHED ? there : back;
	there = table_proof(b, a, z, &there_is_wrong);
	back = table_proof(b, z, a, &back_is_wrong);
	if (there_is_wrong || back_is_wrong)
		return there_is_wrong ? there : back;
	if (there.kind == PROOF_NEIGHBOUR || back.kind == PROOF_NEIGHBOUR)
		return there.kind == PROOF_NEIGHBOUR ? there : back;
	return there.kind == PROOF_REFUTED ? there : back;
}

struct proof prove_ends(struct build *b, const struct point *a, const struct point *z, enum rail_proof joined_by)
{
	struct proof proof;

	if (joined_by == PROOF_FABRIC)
		return fabric_proof(b, a);
	if (have_one_address(a, z))
		return same_addr_proof(b, a, z);
	proof = neighbours_proof(b, a, z);
	if (proof.kind == PROOF_SUBNET && joined_by == PROOF_ROUTE)
		proof = route_proof(b, a, z);
	if (proof.kind == PROOF_SUBNET && addr_in_subnet_of(z->addr, a->addr))
		proof.text = arena_printf(b->arena,
					  "%s and %s lie in one subnet; neither host has seen the other there",
					  a->addr->text, z->addr->text);
	else if (proof.kind == PROOF_SUBNET)
		proof.text = arena_printf(b->arena, "%s and %s; neither host has seen the other there", a->addr->text,
					  z->addr->text);
	return proof;
}
