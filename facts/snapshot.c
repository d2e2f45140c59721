// SPDX-License-Identifier: Apache-2.0
/* Puts the readers together into one snapshot, and answers the questions that every check asks of it. */
#include "facts/snapshot.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "facts/reading.h"

struct snapshot *snapshot_gather(struct source *source, const char *name, const char *role)
{
	struct arena *arena = arena_new();
	struct snapshot *snap = arena_alloc(arena, sizeof(*snap));
	struct reading r = { .source = source, .arena = arena, .scratch = arena_new(), .snap = snap };

	snap->arena = arena;
	snap->name = arena_strdup(arena, name);
	snap->role = arena_strdup(arena, role);
	snap->id.boot2_ns = snap->id.real2_ns = num_err(VALUE_NOT_ASKED, NULL);
	source_set_sample(source, 1);
	read_identity(&r);
	read_netdevs(&r);
	read_rdma(&r);
	read_pci(&r);
	read_netdev_details(&r);
	read_netconfig(&r);
	read_routes(&r);
	arena_free(r.scratch);
	return snap;
}

void snapshot_sample_again(struct snapshot *snap, struct source *source)
{
	struct reading r = { .source = source, .arena = snap->arena, .scratch = arena_new(), .snap = snap };

	source_set_sample(source, 2);
	reread_identity(&r);
	reread_rdma(&r);
	reread_netdevs(&r);
	reread_pci(&r);
	source_set_sample(source, 1);
	arena_free(r.scratch);
}

static bool is_second(void *ctx, const struct record *record)
{
	bool *found = ctx;

	*found = *found || record->sample == 2;
	return !*found;
}

static bool has_second_sample(const struct records *records)
{
	bool found = false;

	records_each(records, RECORD_FILE, is_second, &found);
	if (!found)
		records_each(records, RECORD_FACT, is_second, &found);
	return found;
}

struct snapshot *snapshot_from_records(const struct records *records, const char *name, const char *role,
				       struct source **ret_source)
{
	struct source *source = source_memory_new(records);
	struct snapshot *snap = snapshot_gather(source, name, role);
	struct reading r = { .source = source, .arena = snap->arena, .snap = snap };

	if (has_second_sample(records))
		snapshot_sample_again(snap, source);
	read_reaches(&r, records);
	*ret_source = source;
	return snap;
}

struct snapshot *snapshot_free(struct snapshot *snap)
{
	if (snap)
		arena_free(snap->arena);
	return NULL;
}

const struct netdev *snapshot_find_netdev(const struct snapshot *snap, const char *name)
{
	for (size_t i = 0; i < snap->n_netdevs; i++)
		if (!strcmp(snap->netdevs[i].name, name))
			return &snap->netdevs[i];
	return NULL;
}

const struct rdma_port *snapshot_find_port(const struct snapshot *snap, const char *name)
{
	for (size_t i = 0; i < snap->n_ports; i++)
		if (!strcmp(snap->ports[i]->name, name))
			return snap->ports[i];
	return NULL;
}

const struct counter *counter_find(const struct counter *counters, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(counters[i].name, name))
			return &counters[i];
	return NULL;
}

struct num counter_delta(const struct counter *counter)
{
	const struct num *first = &counter->first, *second = &counter->second;
	int64_t delta;

	if (first->err)
		return *first;
	if (second->err)
		return num_err(second->err, second->origin ?: first->origin);
	if (second->val < first->val || __builtin_sub_overflow(second->val, first->val, &delta))
		return num_err(ERANGE, second->origin);
	return num_of(delta, second->origin);
}

/* The readers sort addresses by family and then by scope, so the first of each kind is the one wanted. */
const struct ip_addr *netdev_address(const struct netdev *netdev)
{
	const struct ip_addr *narrow = NULL;

	for (size_t i = 0; i < netdev->n_addrs; i++) {
		const struct ip_addr *addr = &netdev->addrs[i];

		if (addr->is_tentative || addr->is_dadfailed)
			continue;
		if (addr->scope < RT_SCOPE_LINK)
			return addr;
		if (!narrow)
			narrow = addr;
	}
	return narrow;
}

bool port_is_active(const struct rdma_port *port)
{
	return num_is(port->state, PORT_ACTIVE);
}

bool port_is_ethernet(const struct rdma_port *port)
{
	return num_is(port->link_layer, LINK_LAYER_ETHERNET);
}
