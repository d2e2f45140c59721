// SPDX-License-Identifier: Apache-2.0
/* Puts several hosts together: cages, rails, what is used, and whether a switch stands between them. */
#include "facts/fabric.h"

#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fabric_build.h"

/* ---- ports ---- */

static int compare_port_place(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)(*(struct port_info *const *)a)->port,
		  y = (uintptr_t)(*(struct port_info *const *)b)->port;

	return x < y ? -1 : x > y;
}

static void list_ports(struct build *b)
{
	struct fabric *fabric = b->fabric;
	size_t next = 0;

	for (size_t h = 0; h < fabric->n_hosts; h++)
		fabric->n_infos += fabric->hosts[h]->n_ports;
	fabric->infos = arena_array(b->arena, fabric->n_infos, sizeof(*fabric->infos));
	fabric->by_port = arena_array(b->arena, fabric->n_infos, sizeof(*fabric->by_port));
	fabric->ports = arena_array(b->arena, fabric->n_hosts, sizeof(*fabric->ports));
	for (size_t h = 0; h < fabric->n_hosts; h++) {
		fabric->ports[h] = fabric->infos + next;
		for (size_t p = 0; p < fabric->hosts[h]->n_ports; p++) {
			fabric->by_port[next] = &fabric->infos[next];
			fabric->infos[next].host = h;
			fabric->infos[next++].port = fabric->hosts[h]->ports[p];
		}
	}
	qsort(fabric->by_port, next, sizeof(*fabric->by_port), compare_port_place);
}

const struct port_info *fabric_port(const struct fabric *fabric, const struct rdma_port *port)
{
	const struct port_info key = { .port = port }, *wanted = &key;
	struct port_info *const *found = bsearch(&wanted, fabric->by_port, fabric->n_infos, sizeof(*fabric->by_port),
						 compare_port_place);

	return found ? *found : NULL;
}

/* ---- points ---- */

#define ADDRS_MAX 256 /* addresses of one netdev that are looked at: passes cost addresses times neighbours */

/*
 * The port under each netdev of a host, by the netdev's place: its own, below it (VLAN), or of its members (bond,
 * bridge).
 */
static struct port_info **ports_under_netdevs(struct build *b, size_t h)
{
	const struct snapshot *host = b->fabric->hosts[h];
	struct port_info **under = arena_array(b->arena, host->n_netdevs, sizeof(*under));

	for (size_t p = 0; p < host->n_ports; p++) {
		const struct netdev *netdev = host->ports[p]->netdev;

		if (netdev && !under[netdev - host->netdevs])
			under[netdev - host->netdevs] = &b->fabric->ports[h][p];
	}
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct netdev *netdev = host->ports[p]->netdev, *master = netdev ? netdev->master : NULL;

		if (master && !under[master - host->netdevs])
			under[master - host->netdevs] = &b->fabric->ports[h][p];
	}
	/*
	 * What is stacked always has a higher index than what it stands on, except after a move between namespaces:
	 * twice.
	 */
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < host->n_netdevs; i++)
			if (!under[i] && host->netdevs[i].lower)
				under[i] = under[host->netdevs[i].lower - host->netdevs];
	return under;
}

static void add_points(struct build *b, size_t h)
{
	const struct snapshot *host = b->fabric->hosts[h];
	struct port_info **under = ports_under_netdevs(b, h);

	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct netdev *netdev = &host->netdevs[i];

		for (size_t a = 0; under[i] && a < netdev->n_addrs && a < ADDRS_MAX; a++) {
			struct point *point;

			if (netdev->addrs[a].is_tentative || netdev->addrs[a].is_dadfailed)
				continue;
			point = arena_push(b->arena, &b->points, &b->n_points);
			*point = (struct point){
				.host = h, .info = under[i], .netdev = netdev, .addr = &netdev->addrs[a]
			};
		}
	}
}

/* ---- rails ---- */

static int compare_ends(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->host < y->host ? -1 : x->host > y->host;
}

/* Rails stand in the order of their first end's host and port. */
static int compare_drafts(const void *a, const void *b)
{
	const struct draft *x = *(struct draft *const *)a, *y = *(struct draft *const *)b;

	return x->ends[0].info < y->ends[0].info ? -1 : x->ends[0].info > y->ends[0].info;
}

static bool proof_is_good(enum rail_proof proof)
{
	return proof == PROOF_FABRIC || proof == PROOF_NEIGHBOUR || proof == PROOF_REACHED;
}

/* The first end's own proof: the strongest of the others, a refuted one only if there is nothing else. */
static void prove_first_end(struct rail *rail)
{
	struct rail_end *first = &rail->ends[0];

	first->proof = PROOF_REFUTED;
	for (size_t i = 1; i < rail->n_ends; i++) {
		const struct rail_end *end = &rail->ends[i];
		bool stronger = first->proof == PROOF_REFUTED ||
				(end->proof != PROOF_REFUTED && end->proof > first->proof);

		if (!first->proof_text || stronger) {
			first->proof = end->proof;
			first->fault = end->fault;
			first->proof_text = end->proof_text;
		}
	}
}

static void finish_rail(struct build *b, struct rail *rail, struct draft *draft, size_t number)
{
	rail->name = arena_printf(b->arena, "rail %zu", number);
	rail->ends = arena_array(b->arena, draft->n_ends, sizeof(*rail->ends));
	rail->n_ends = draft->n_ends;
	rail->is_proven = true;
	for (size_t i = 0; i < draft->n_ends; i++) {
		struct point *point = &draft->ends[i];
		struct rail_end *end = &rail->ends[i];

		end->host = b->fabric->hosts[point->host];
		end->port = point->info->port;
		end->addr = point->addr;
		end->netdev = point->netdev;
		point->info->rail = rail;
		point->info->end = end;
		if (i) {
			struct proof proof = prove_ends(b, &draft->ends[0], point, draft->joined_by);

			end->proof = proof.kind;
			end->fault = proof.fault;
			end->proof_text = proof.text;
			rail->is_proven = rail->is_proven && proof_is_good(proof.kind);
		}
		rail->is_proven = rail->is_proven && port_is_active(end->port);
	}
	prove_first_end(rail);
}

static void build_rails(struct build *b)
{
	struct fabric *fabric = b->fabric;
	size_t kept = 0;

	for (size_t i = 0; i < b->n_drafts; i++) {
		if (b->drafts[i]->is_dropped || b->drafts[i]->n_ends < 2)
			continue;
		qsort(b->drafts[i]->ends, b->drafts[i]->n_ends, sizeof(struct point), compare_ends);
		b->drafts[kept++] = b->drafts[i];
	}
	b->n_drafts = kept;
	if (kept)
		qsort(b->drafts, kept, sizeof(*b->drafts), compare_drafts);
	fabric->rails = arena_array(b->arena, kept, sizeof(*fabric->rails));
	fabric->n_rails = kept;
	for (size_t i = 0; i < kept; i++)
		finish_rail(b, &fabric->rails[i], b->drafts[i], i);
}

/* ---- use ---- */

/* "rocep1s0f0", "rocep1s0f0/1", and either behind "HOST=". */
static bool names_port(const char *name, const struct snapshot *host, const struct rdma_port *port)
{
	const char *equals = strchr(name, '=');

	if (equals) {
		size_t len = (size_t)(equals - name);

		if (strlen(host->name) != len || memcmp(host->name, name, len))
			return false;
		name = equals + 1;
	}
	return !strcmp(name, port->name) || !strcmp(name, port->dev->name);
}

static bool is_named(const struct fabric_hints *hints, const struct snapshot *host, const struct rdma_port *port)
{
	for (size_t i = 0; hints && hints->named_ports && hints->named_ports[i]; i++)
		if (names_port(hints->named_ports[i], host, port))
			return true;
	return false;
}

/* An IPv6 link-local address comes by itself with the carrier; all others somebody gave. */
static bool is_given(const struct ip_addr *addr)
{
	return addr->family == AF_INET || addr->scope < RT_SCOPE_LINK;
}

/* The address of an InfiniBand port is the LID that the subnet manager gave it. */
static bool has_lid(const struct rdma_port *port)
{
	return num_is(port->link_layer, LINK_LAYER_INFINIBAND) && port_is_active(port) && !port->lid.err &&
	       port->lid.val > 0 && port->lid.val < 0xffff;
}

static void set_use(struct build *b, const struct fabric_hints *hints)
{
	struct fabric *fabric = b->fabric;

	for (size_t i = 0; i < fabric->n_infos; i++)
		if (fabric->infos[i].rail)
			fabric->infos[i].use = PORT_USED_JOINED;
	for (size_t i = 0; i < b->n_points; i++)
		if (b->points[i].addr && is_given(b->points[i].addr))
			b->points[i].info->use = PORT_USED_ADDRESS;
	for (size_t h = 0; h < fabric->n_hosts; h++) {
		for (size_t p = 0; p < fabric->hosts[h]->n_ports; p++) {
			struct port_info *info = &fabric->ports[h][p];

			if (has_lid(info->port))
				info->use = PORT_USED_ADDRESS;
			if (is_named(hints, fabric->hosts[h], info->port))
				info->use = PORT_USED_PROFILE;
		}
	}
}

bool fabric_port_is_used(const struct fabric *fabric, const struct rdma_port *port)
{
	const struct port_info *info = fabric_port(fabric, port);

	return info && info->use != PORT_UNUSED;
}

/* ---- direct or switched ---- */

/* Whose MAC address it is: a host of this fabric counts once, however many netdevs it has. */
struct mac_owner {
	const char *mac;
	const struct snapshot *host;
};

static int compare_macs(const void *a, const void *b)
{
	return strcmp(((const struct mac_owner *)a)->mac, ((const struct mac_owner *)b)->mac);
}

static struct mac_owner *list_macs(struct build *b, size_t *ret_n)
{
	struct mac_owner *owners = NULL;

	*ret_n = 0;
	for (size_t h = 0; h < b->fabric->n_hosts; h++) {
		const struct snapshot *host = b->fabric->hosts[h];

		for (size_t i = 0; i < host->n_netdevs; i++)
			if (!host->netdevs[i].mac.err && !host->netdevs[i].is_loopback)
				*arena_push(b->arena, &owners, ret_n) = (struct mac_owner){ host->netdevs[i].mac.val,
											    host };
	}
	if (owners)
		qsort(owners, *ret_n, sizeof(*owners), compare_macs);
	return owners;
}

/* Two neighbours of one netdev that are not the same machine; false if there are none. */
static bool find_two_neighbours(const struct snapshot *host, const struct netdev *netdev,
				const struct mac_owner *owners, size_t n_owners, const char *ret_macs[2])
{
	const void *first = NULL;
	size_t n;
	const struct neighbour *neighbours = netdev_neighbours(host, netdev, &n);

	for (size_t i = 0; i < n; i++) {
		const struct mac_owner key = { neighbours[i].mac, NULL }, *owner;

		if (!neighbours[i].mac || !neighbour_is_known(&neighbours[i]))
			continue;
		owner = bsearch(&key, owners, n_owners, sizeof(*owners), compare_macs);
		if (owner && owner->host == host)
			continue;
		if (!first) {
			first = owner ? (const void *)owner->host : neighbours[i].mac;
			ret_macs[0] = neighbours[i].mac;
		} else if (owner ? first != owner->host : strcmp(ret_macs[0], neighbours[i].mac) != 0) {
			ret_macs[1] = neighbours[i].mac;
			return true;
		}
	}
	return false;
}

static bool set_switched_by_neighbours(struct build *b)
{
	size_t n_owners;
	const struct mac_owner *owners = list_macs(b, &n_owners);

	for (size_t d = 0; d < b->n_drafts; d++) {
		for (size_t e = 0; e < b->drafts[d]->n_ends; e++) {
			const struct point *end = &b->drafts[d]->ends[e];
			const struct snapshot *host = b->fabric->hosts[end->host];
			const char *macs[2];

			if (!end->netdev || !find_two_neighbours(host, end->netdev, owners, n_owners, macs))
				continue;
			b->fabric->kind = FABRIC_SWITCHED;
			b->fabric->kind_why = arena_printf(b->arena,
							   "%s of %s has several neighbours, among them %s and %s",
							   end->netdev->name, host->name, macs[0], macs[1]);
			return true;
		}
	}
	return false;
}

static void set_kind(struct build *b)
{
	struct fabric *fabric = b->fabric;

	fabric->kind = FABRIC_UNKNOWN;
	for (size_t i = 0; i < fabric->n_rails; i++) {
		if (fabric->rails[i].n_ends <= 2)
			continue;
		fabric->kind = FABRIC_SWITCHED;
		fabric->kind_why = arena_printf(b->arena, "%s joins %zu hosts", fabric->rails[i].name,
						fabric->rails[i].n_ends);
		return;
	}
	if (set_switched_by_neighbours(b))
		return;
	fabric->kind_why = fabric->n_rails
				   ? "each rail has two ends and no other neighbour was seen: a cable and a switch "
				     "between them look alike"
				   : "no port of one host was joined to a port of another";
}

/* ---- all ---- */

struct fabric *fabric_build(const struct snapshot *const hosts[], size_t n_hosts, const struct fabric_hints *hints)
{
	struct arena *arena = arena_new();
	struct fabric *fabric = arena_alloc(arena, sizeof(*fabric));
	struct build b = { .fabric = fabric, .arena = arena };

	fabric->arena = arena;
	fabric->hosts = arena_array(arena, n_hosts, sizeof(*fabric->hosts));
	fabric->n_hosts = n_hosts;
	for (size_t h = 0; h < n_hosts; h++)
		fabric->hosts[h] = hosts[h];
	list_ports(&b);
	build_cages(&b);
	for (size_t h = 0; h < n_hosts; h++)
		add_points(&b, h);
	join_ports(&b);
	build_rails(&b);
	set_use(&b, hints);
	set_kind(&b);
	return fabric;
}

struct fabric *fabric_free(struct fabric *fabric)
{
	if (fabric)
		arena_free(fabric->arena);
	return NULL;
}

const struct rail_end *rail_end_on(const struct rail *rail, const struct snapshot *host)
{
	for (size_t i = 0; i < rail->n_ends; i++)
		if (rail->ends[i].host == host)
			return &rail->ends[i];
	return NULL;
}
