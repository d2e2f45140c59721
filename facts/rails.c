// SPDX-License-Identifier: Apache-2.0
/*
 * Which ports of different hosts share a segment. Five passes, each over ports that are still alone: one subnet (IPv4,
 * then IPv6), InfiniBand ports of one fabric, neighbours that know each other (link-local addresses, unequal prefixes),
 * link-local IPv4 addresses of hosts that have not spoken yet, and routes out of the head's ports. Everything is sorted
 * and searched, never compared pair by pair.
 */
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fabric_build.h"

/* ---- drafts ---- */

static struct draft *draft_new(struct build *b, enum rail_proof joined_by)
{
	struct draft *draft = arena_alloc(b->arena, sizeof(*draft));

	draft->joined_by = joined_by;
	draft->has_host = arena_alloc(b->arena, b->fabric->n_hosts / 8 + 1);
	*arena_push(b->arena, &b->drafts, &b->n_drafts) = draft;
	return draft;
}

static bool draft_has_host(const struct draft *draft, size_t host)
{
	return draft->has_host[host / 8] & (1u << host % 8);
}

static struct draft **draft_slot(struct build *b, const struct point *point)
{
	return &b->draft_of[point->info - b->fabric->infos];
}

static bool is_joined(struct build *b, const struct point *point)
{
	return *draft_slot(b, point) != NULL;
}

static void draft_add(struct build *b, struct draft *draft, const struct point *point)
{
	*arena_push(b->arena, &draft->ends, &draft->n_ends) = *point;
	draft->has_host[point->host / 8] |= (uint8_t)(1u << point->host % 8);
	*draft_slot(b, point) = draft;
}

/* A port that found nobody is free for the next pass. */
static void drop_lonely(struct build *b, size_t first)
{
	for (size_t i = first; i < b->n_drafts; i++) {
		if (b->drafts[i]->n_ends >= 2)
			continue;
		b->drafts[i]->is_dropped = true;
		for (size_t e = 0; e < b->drafts[i]->n_ends; e++)
			*draft_slot(b, &b->drafts[i]->ends[e]) = NULL;
	}
}

/* ---- one segment ---- */

static bool knows(struct build *b, const struct point *from, const struct point *to)
{
	const struct neighbour *neighbour;

	if (!from->addr || !to->addr || from->addr->family != to->addr->family || to->netdev->mac.err)
		return false;
	neighbour = find_neighbour(b->fabric->hosts[from->host], from->netdev, to->addr->family, to->addr->text);
	return neighbour && neighbour_is_known(neighbour) && neighbour->mac &&
	       !strcasecmp(neighbour->mac, to->netdev->mac.val);
}

static bool fit_by_neighbour(struct build *b, const struct point *end, const struct point *point)
{
	return knows(b, end, point) || knows(b, point, end);
}

static bool fit_by_name(struct build *b, const struct point *end, const struct point *point)
{
	(void)b;
	return (!end->addr || addr_is_link_local(end->addr)) && !strcmp(end->info->port->name, point->info->port->name);
}

static bool fit_anyhow(struct build *b, const struct point *end, const struct point *point)
{
	(void)b, (void)end, (void)point;
	return true;
}

typedef bool fit_fn(struct build *b, const struct point *end, const struct point *point);

/* Gives each port of one host that is still alone a rail of this segment that has no end on that host. */
static void fit_host(struct build *b, const struct point *points, size_t n, size_t first_draft, fit_fn *fits)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t d = first_draft; d < b->n_drafts && !is_joined(b, &points[i]); d++) {
			struct draft *draft = b->drafts[d];

			if (!draft_has_host(draft, points[i].host) && fits(b, &draft->ends[0], &points[i]))
				draft_add(b, draft, &points[i]);
		}
	}
}

/*
 * Points of one segment, by host and then by address. The first host opens a rail for each of its ports; every other
 * host puts its ports where a neighbour table says so, where a port without a subnet of its own (InfiniBand, link-local)
 * has the same name, then in order. Twins in one subnet thus make two rails, not four pairs.
 */
static void join_segment(struct build *b, const struct point *points, size_t n, enum rail_proof joined_by)
{
	static fit_fn *const rounds[] = { fit_by_neighbour, fit_by_name, fit_anyhow };
	size_t first_draft = b->n_drafts;

	if (!n || points[0].host == points[n - 1].host)
		return;
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && points[to].host == points[from].host; to++)
			;
		for (size_t round = 0; round < sizeof(rounds) / sizeof(*rounds); round++)
			fit_host(b, points + from, to - from, first_draft, rounds[round]);
		for (size_t i = from; i < to; i++)
			if (!is_joined(b, &points[i]))
				draft_add(b, draft_new(b, joined_by), &points[i]);
	}
	drop_lonely(b, first_draft);
}

/* ---- subnets ---- */

static int compare_segment(const struct point *x, const struct point *y)
{
	uint8_t at_x[16] = { 0 }, at_y[16] = { 0 };

	if (x->addr->family != y->addr->family)
		return x->addr->family == AF_INET ? -1 : 1;
	if (x->addr->prefix_len != y->addr->prefix_len)
		return x->addr->prefix_len < y->addr->prefix_len ? -1 : 1;
	for (unsigned i = 0; i < 16 && 8 * i < x->addr->prefix_len; i++) {
		unsigned rest = x->addr->prefix_len - 8 * i;
		uint8_t bits = rest >= 8 ? 0xff : (uint8_t)(0xff << (8 - rest));

		at_x[i] = x->addr->raw[i] & bits;
		at_y[i] = y->addr->raw[i] & bits;
	}
	return memcmp(at_x, at_y, sizeof(at_x));
}

static int compare_subnet_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;
	int order = compare_segment(x, y);

	if (order)
		return order;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return memcmp(x->addr->raw, y->addr->raw, sizeof(x->addr->raw)) ?: (x->info > y->info) - (x->info < y->info);
}

/* An address that others of the same subnet can be reached from directly. */
static bool is_subnet_point(const struct point *point)
{
	unsigned bits = point->addr->family == AF_INET ? 32 : 128;

	return point->addr->scope < RT_SCOPE_LINK && point->addr->prefix_len && point->addr->prefix_len < bits &&
	       !addr_is_link_local(point->addr) && port_is_ethernet(point->info->port);
}

/* Of one segment, what is still alone, each port once. Returns how many are left at the front. */
static size_t keep_alone(struct build *b, struct point *points, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_new = !is_joined(b, &points[i]);

		for (size_t k = kept; is_new && k > 0 && points[k - 1].host == points[i].host; k--)
			is_new = points[k - 1].info != points[i].info;
		if (is_new)
			points[kept++] = points[i];
	}
	return kept;
}

static void join_subnets(struct build *b)
{
	struct point *points = arena_array(b->arena, b->n_points, sizeof(*points));
	size_t n = 0;

	for (size_t i = 0; i < b->n_points; i++)
		if (is_subnet_point(&b->points[i]))
			points[n++] = b->points[i];
	if (n)
		qsort(points, n, sizeof(*points), compare_subnet_points);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && !compare_segment(&points[from], &points[to]); to++)
			;
		join_segment(b, points + from, keep_alone(b, points + from, to - from), PROOF_SUBNET);
	}
}

/* ---- InfiniBand ---- */

static int compare_fabric(const struct point *x, const struct point *y)
{
	const struct rdma_port *p = x->info->port, *q = y->info->port;
	int order = strcmp(p->subnet_prefix.val, q->subnet_prefix.val);

	return order ?: (p->sm_lid.val > q->sm_lid.val) - (p->sm_lid.val < q->sm_lid.val);
}

static int compare_fabric_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;
	int order = compare_fabric(x, y);

	return order ?: (x->info > y->info) - (x->info < y->info);
}

static void join_infiniband(struct build *b)
{
	struct fabric *fabric = b->fabric;
	struct point *points = arena_array(b->arena, fabric->n_infos, sizeof(*points));
	size_t n = 0;

	for (size_t h = 0; h < fabric->n_hosts; h++) {
		for (size_t p = 0; p < fabric->hosts[h]->n_ports; p++) {
			const struct rdma_port *port = fabric->hosts[h]->ports[p];

			if (num_is(port->link_layer, LINK_LAYER_INFINIBAND) && port_is_active(port) &&
			    !port->subnet_prefix.err && !port->sm_lid.err && port->sm_lid.val)
				points[n++] = (struct point){ .host = h, .info = &fabric->ports[h][p] };
		}
	}
	if (n)
		qsort(points, n, sizeof(*points), compare_fabric_points);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && !compare_fabric(&points[from], &points[to]); to++)
			;
		join_segment(b, points + from, to - from, PROOF_FABRIC);
	}
}

/* ---- neighbours ---- */

/* By MAC and address: what a neighbour entry names. */
static int compare_names(const void *a, const void *b)
{
	const struct point *x = *(const struct point *const *)a, *y = *(const struct point *const *)b;

	return strcasecmp(x->netdev->mac.val, y->netdev->mac.val) ?: strcmp(x->addr->text, y->addr->text);
}

struct name_index {
	const struct point **points;
	size_t n;
};

static struct name_index index_names(struct build *b)
{
	struct name_index index = { .points = arena_array(b->arena, b->n_points, sizeof(*index.points)) };

	for (size_t i = 0; i < b->n_points; i++)
		if (!b->points[i].netdev->mac.err && port_is_ethernet(b->points[i].info->port))
			index.points[index.n++] = &b->points[i];
	if (index.n)
		qsort(index.points, index.n, sizeof(*index.points), compare_names);
	return index;
}

/* The one point with that MAC and address; NULL if there is none, or two (a cloned host). */
static const struct point *find_named(const struct name_index *index, const struct neighbour *neighbour)
{
	const struct netdev netdev = { .mac = text_of(neighbour->mac, NULL) };
	const struct ip_addr addr = { .text = neighbour->addr };
	const struct point key = { .netdev = &netdev, .addr = &addr }, *wanted = &key;
	size_t low = 0, high = index->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_names(&index->points[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == index->n || compare_names(&index->points[low], &wanted))
		return NULL;
	if (low + 1 < index->n && !compare_names(&index->points[low + 1], &wanted))
		return NULL;
	return index->points[low];
}

static void join_two(struct build *b, const struct point *a, const struct point *z)
{
	struct draft *of_a = *draft_slot(b, a), *of_z = *draft_slot(b, z);

	if (a->host == z->host || (of_a && of_z))
		return;
	if (of_a && !draft_has_host(of_a, z->host)) {
		draft_add(b, of_a, z);
	} else if (of_z && !draft_has_host(of_z, a->host)) {
		draft_add(b, of_z, a);
	} else if (!of_a && !of_z) {
		struct draft *draft = draft_new(b, PROOF_SUBNET);

		draft_add(b, draft, a);
		draft_add(b, draft, z);
	}
}

static void join_neighbours(struct build *b)
{
	const struct name_index index = index_names(b);

	for (size_t i = 0; i < b->n_points; i++) {
		const struct point *a = &b->points[i];
		const struct neighbour *neighbours;
		size_t n;

		const struct draft *draft = *draft_slot(b, a);

		if (!port_is_ethernet(a->info->port) || (draft && draft->n_ends == b->fabric->n_hosts))
			continue;
		neighbours = netdev_neighbours(b->fabric->hosts[a->host], a->netdev, &n);
		for (size_t k = 0; k < n; k++) {
			const struct point *z;

			if (neighbours[k].family != a->addr->family || !neighbours[k].mac ||
			    !neighbour_is_known(&neighbours[k]))
				continue;
			z = find_named(&index, &neighbours[k]);
			if (z && addr_in_subnet_of(z->addr, a->addr))
				join_two(b, a, z);
		}
	}
}

/* ---- link-local ---- */

/*
 * 169.254.0.0/16 is one subnet on every cable, so it tells less than others: only what nobody's neighbour table has
 * joined is guessed here, ports with a link first, and the probes then tell whether the guess was right.
 */
static void join_link_local(struct build *b, bool is_active)
{
	struct point *points = arena_array(b->arena, b->n_points, sizeof(*points));
	size_t n = 0;

	for (size_t i = 0; i < b->n_points; i++) {
		const struct point *point = &b->points[i];

		if (point->addr->family == AF_INET && addr_is_link_local(point->addr) &&
		    port_is_ethernet(point->info->port) && port_is_active(point->info->port) == is_active)
			points[n++] = *point;
	}
	join_segment(b, points, keep_alone(b, points, n), PROOF_SUBNET);
}

/* ---- routes ---- */

static bool is_routed_point(struct build *b, const struct point *point)
{
	return !is_joined(b, point) && point->addr->scope < RT_SCOPE_LINK && !addr_is_link_local(point->addr) &&
	       port_is_ethernet(point->info->port);
}

/*
 * Only from the head: its own ports that are still alone are the rails, and each port of another host goes to the first
 * one whose way to it leads through a gateway.
 */
static void join_routed(struct build *b)
{
	size_t first_draft = b->n_drafts;

	for (size_t i = 0; i < b->n_points && b->points[i].host == 0; i++)
		if (is_routed_point(b, &b->points[i]))
			draft_add(b, draft_new(b, PROOF_ROUTE), &b->points[i]);
	for (size_t i = 0; i < b->n_points; i++) {
		const struct point *point = &b->points[i];

		if (!point->host || !is_routed_point(b, point))
			continue;
		for (size_t d = first_draft; d < b->n_drafts && !is_joined(b, point); d++) {
			struct draft *draft = b->drafts[d];

			if (draft->ends[0].addr->family == point->addr->family && !draft_has_host(draft, point->host) &&
			    gateway_route(b->fabric->hosts[0], &draft->ends[0], point->addr))
				draft_add(b, draft, point);
		}
	}
	drop_lonely(b, first_draft);
}

void join_ports(struct build *b)
{
	b->draft_of = arena_array(b->arena, b->fabric->n_infos, sizeof(struct draft *));
	join_subnets(b);
	join_infiniband(b);
	join_neighbours(b);
	join_link_local(b, true);
	join_link_local(b, false);
	join_routed(b);
}
