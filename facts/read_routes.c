// SPDX-License-Identifier: Apache-2.0
/* Routes, rules and neighbours of the network namespace; what light active tests found. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/reading.h"

#define REACH_PREFIX "probe/neigh/"

static const struct netdev *netdev_of(struct reading *r, struct num index)
{
	return index.err ? NULL : netdev_by_index(r->snap, index.val);
}

static const char *text_or_null(struct text text)
{
	return text.err ? NULL : text.val;
}

static int compare_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int64_t netdev_order(const struct netdev *netdev)
{
	return netdev ? (int64_t)netdev->index : -1;
}

/* "10.0.0.0/24", or NULL for any. */
static const char *prefix_text(struct reading *r, struct text addr, struct num len)
{
	if (addr.err)
		return NULL;
	return arena_printf(r->arena, "%s/%d", addr.val, len.err ? 0 : (int)len.val);
}

/* ---- routes ---- */

static int compare_routes(const void *a, const void *b)
{
	const struct route *x = a, *y = b;
	const int64_t order[] = {
		x->family - y->family,
		x->table.val - y->table.val,
		(int64_t)y->dst_len - (int64_t)x->dst_len,
		memcmp(x->dst, y->dst, 16),
		x->metric.val - y->metric.val,
		netdev_order(x->netdev) - netdev_order(y->netdev),
		x->type.val - y->type.val,
		compare_text(x->gateway, y->gateway),
		compare_text(x->prefsrc, y->prefsrc),
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (order[i])
			return order[i] < 0 ? -1 : 1;
	return 0;
}

/* A gateway of the other family (RTA_VIA): two bytes of family, then its address, in hex. */
static const char *via_text(struct reading *r, struct text via)
{
	uint8_t raw[16];
	char text[INET6_ADDRSTRLEN];
	size_t len = via.err ? 0 : strlen(via.val);

	if (len != 12 && len != 36)
		return NULL;
	for (size_t i = 4; i < len; i += 2) {
		unsigned byte;

		if (sscanf(via.val + i, "%2x", &byte) != 1)
			return NULL;
		raw[i / 2 - 2] = (uint8_t)byte;
	}
	if (!inet_ntop(len == 12 ? AF_INET : AF_INET6, raw, text, sizeof(text)))
		return NULL;
	return arena_strdup(r->arena, text);
}

static void read_route(struct reading *r, const struct nl_object *object)
{
	static const char what[] = "rtnl route";
	struct num family = reading_nl_num(r, what, object, "family");
	struct num dst_len = reading_nl_num(r, what, object, "dst_len");
	struct text dst = reading_nl_text(r, what, object, "dst");
	struct text gateway = reading_nl_text(r, what, object, "gateway");
	struct route route = { 0 };

	if (family.err || (family.val != AF_INET && family.val != AF_INET6))
		return;
	if (!dst.err && inet_pton((int)family.val, dst.val, route.dst) != 1)
		return;
	route.family = (int)family.val;
	route.dst_len = dst_len.err ? 0 : (unsigned)dst_len.val;
	route.dst_text = prefix_text(r, dst, dst_len) ?: "default";
	route.netdev = netdev_of(r, reading_nl_num(r, what, object, "oif"));
	route.gateway = text_or_null(gateway) ?: via_text(r, reading_nl_text(r, what, object, "via"));
	route.prefsrc = text_or_null(reading_nl_text(r, what, object, "prefsrc"));
	route.table = reading_nl_num(r, what, object, "table");
	route.metric = reading_nl_num(r, what, object, "priority");
	route.type = reading_nl_num(r, what, object, "type");
	route.protocol = reading_nl_num(r, what, object, "protocol");
	route.mtu = reading_nl_num(r, what, object, "metrics/mtu");
	*arena_push(r->arena, &r->snap->routes, &r->snap->n_routes) = route;
}

/* ---- rules ---- */

static int compare_rules(const void *a, const void *b)
{
	const struct rule *x = a, *y = b;
	const int64_t order[] = { x->family - y->family,	  x->priority.val - y->priority.val,
				  x->table.val - y->table.val,	  x->action.val - y->action.val,
				  compare_text(x->from, y->from), compare_text(x->to, y->to),
				  compare_text(x->iif, y->iif),	  compare_text(x->oif, y->oif) };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (order[i])
			return order[i] < 0 ? -1 : 1;
	return 0;
}

static void read_rule(struct reading *r, const struct nl_object *object)
{
	static const char what[] = "rtnl rule";
	struct num family = reading_nl_num(r, what, object, "family");
	struct rule *rule;

	if (family.err || (family.val != AF_INET && family.val != AF_INET6))
		return;
	rule = arena_push(r->arena, &r->snap->rules, &r->snap->n_rules);
	rule->family = (int)family.val;
	rule->priority = reading_nl_num(r, what, object, "priority");
	if (rule->priority.err == EOPNOTSUPP) /* the kernel leaves out the 0 of the first rule */
		rule->priority = num_of(0, rule->priority.origin);
	rule->table = reading_nl_num(r, what, object, "table");
	rule->action = reading_nl_num(r, what, object, "action");
	rule->from = prefix_text(r, reading_nl_text(r, what, object, "src"),
				 reading_nl_num(r, what, object, "src_len"));
	rule->to = prefix_text(r, reading_nl_text(r, what, object, "dst"), reading_nl_num(r, what, object, "dst_len"));
	rule->iif = text_or_null(reading_nl_text(r, what, object, "iifname"));
	rule->oif = text_or_null(reading_nl_text(r, what, object, "oifname"));
}

/* ---- neighbours ---- */

static int compare_neighbours(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;

	if (x->netdev != y->netdev)
		return netdev_order(x->netdev) < netdev_order(y->netdev) ? -1 : 1;
	return x->family != y->family ? x->family - y->family : compare_text(x->addr, y->addr);
}

static void read_neighbour(struct reading *r, const struct nl_object *object)
{
	static const char what[] = "rtnl neigh";
	struct num family = reading_nl_num(r, what, object, "family");
	struct text addr = reading_nl_text(r, what, object, "dst");
	struct neighbour *neighbour;

	if (addr.err || family.err || (family.val != AF_INET && family.val != AF_INET6)) /* bridges list MACs here */
		return;
	neighbour = arena_push(r->arena, &r->snap->neighbours, &r->snap->n_neighbours);
	neighbour->family = (int)family.val;
	neighbour->netdev = netdev_of(r, reading_nl_num(r, what, object, "index"));
	neighbour->addr = addr.val;
	neighbour->mac = text_or_null(reading_nl_text(r, what, object, "lladdr"));
	neighbour->state = reading_nl_num(r, what, object, "state");
}

/* ---- all ---- */

static struct num read_dump(struct reading *r, const char *command,
			    void (*read_one)(struct reading *, const struct nl_object *))
{
	const char *origin = arena_printf(r->arena, "rtnl %s", command);
	const struct nl_object *objects;
	size_t n;
	int err = source_nl(r->source, "rtnl", command, NULL, r->arena, &objects, &n);

	if (err)
		return num_err(-err, origin);
	for (size_t i = 0; i < n; i++)
		read_one(r, &objects[i]);
	return num_of((int64_t)n, origin);
}

/* A dump comes in the kernel's order, a recording in that of its keys: sorted, both are the same snapshot. */
static void sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (n)
		qsort(items, n, size, compare);
}

void read_routes(struct reading *r)
{
	struct snapshot *snap = r->snap;

	snap->routes_listed = read_dump(r, "route", read_route);
	read_dump(r, "rule", read_rule);
	snap->neighbours_listed = read_dump(r, "neigh", read_neighbour);
	sort(snap->routes, snap->n_routes, sizeof(*snap->routes), compare_routes);
	sort(snap->rules, snap->n_rules, sizeof(*snap->rules), compare_rules);
	sort(snap->neighbours, snap->n_neighbours, sizeof(*snap->neighbours), compare_neighbours);
}

/* ---- outcomes of probes ---- */

static bool read_reach(void *ctx, const struct record *record)
{
	struct reading *r = ctx;
	const char *dev, *slash, *origin;
	struct reach *reach;

	if (strncmp(record->key, REACH_PREFIX, strlen(REACH_PREFIX)) || record->err)
		return true;
	dev = record->key + strlen(REACH_PREFIX);
	slash = strchr(dev, '/');
	if (!slash)
		return true;
	origin = arena_printf(r->arena, "fact %s", record->key);
	reach = arena_push(r->arena, &r->snap->reaches, &r->snap->n_reaches);
	reach->netdev_name = arena_strndup(r->arena, dev, (size_t)(slash - dev));
	reach->addr = arena_strdup(r->arena, slash + 1);
	reach->state = text_or_null(reading_json_text(r, record->json, 0, "state", origin)) ?: "error";
	reach->mac = text_or_null(reading_json_text(r, record->json, 0, "mac", origin));
	reach->rtt_ns = reading_json_num(record->json, 0, "rtt_ns", origin);
	reach->error = text_or_null(reading_json_text(r, record->json, 0, "error", origin));
	return true;
}

void read_reaches(struct reading *r, const struct records *records)
{
	records_each(records, RECORD_FACT, read_reach, r);
}
