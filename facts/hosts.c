/* SPDX-License-Identifier: Apache-2.0 */
/* From records to a fabric: see hosts.h. */
#include "facts/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/arena.h"

struct host {
	struct records *records;
	bool owned;
	struct source *source;
	struct snapshot *snapshot; /* NULL: only a failed contact is known */
	const char *wanted;	   /* the name it would have alone; NULL without a snapshot */
	unsigned number;	   /* behind the name, from 2, where others wanted the same; 1: none */
};

struct hosts {
	struct arena *arena;
	struct host *items;
	size_t n, n_known; /* n_known: those with a snapshot */
	struct contact *contacts;
	size_t n_contacts;
	struct fabric *fabric;
};

struct hosts *hosts_new(void)
{
	struct hosts *hosts = xcalloc(1, sizeof(*hosts));

	hosts->arena = arena_new();
	return hosts;
}

struct hosts *hosts_free(struct hosts *hosts)
{
	if (!hosts)
		return NULL;
	fabric_free(hosts->fabric);
	for (size_t i = 0; i < hosts->n; i++) {
		snapshot_free(hosts->items[i].snapshot);
		source_free(hosts->items[i].source);
		if (hosts->items[i].owned)
			records_free(hosts->items[i].records);
	}
	arena_free(hosts->arena);
	free(hosts);
	return NULL;
}

static bool name_is_taken(const struct hosts *hosts, const char *name)
{
	for (size_t i = 0; i < hosts->n; i++)
		if (hosts->items[i].snapshot && !strcmp(hosts->items[i].snapshot->name, name))
			return true;
	return false;
}

/* "worker", "worker#2", …: counted on from the last host that wanted this name. */
static const char *free_name(struct hosts *hosts, struct host *host, const char *wanted)
{
	const char *name = wanted;

	host->wanted = wanted;
	host->number = 1;
	for (size_t i = 0; i < hosts->n; i++)
		if (&hosts->items[i] != host && hosts->items[i].wanted && !strcmp(hosts->items[i].wanted, wanted))
			host->number = hosts->items[i].number + 1;
	if (host->number > 1)
		name = arena_printf(hosts->arena, "%s#%u", wanted, host->number);
	while (name_is_taken(hosts, name))
		name = arena_printf(hosts->arena, "%s#%u", wanted, ++host->number);
	return name;
}

void hosts_add(struct hosts *hosts, struct records *records, bool own)
{
	bool first = hosts->n_known == 0;
	const char *wanted = records_header(records, "host");
	struct host *host = arena_push(hosts->arena, &hosts->items, &hosts->n);
	struct contact contact;

	host->records = records;
	host->owned = own;
	if (contact_from_records(records, hosts->arena, &contact)) {
		*arena_push(hosts->arena, &hosts->contacts, &hosts->n_contacts) = contact;
		if (contact.fault != CONTACT_OK)
			return;
	}
	if (!wanted)
		wanted = first ? "head" : "worker";
	hosts->n_known++;
	host->snapshot = snapshot_from_records(records, free_name(hosts, host, wanted), first ? "head" : "worker", &host->source);
}

int hosts_add_file(struct hosts *hosts, const char *path, struct fault *reterr)
{
	struct records *records = records_new();
	int err = records_load(records, path, reterr);

	if (err)
		records_free(records);
	else
		hosts_add(hosts, records, true);
	return err;
}

size_t hosts_count(const struct hosts *hosts)
{
	return hosts->n_known;
}

const struct snapshot *hosts_snapshot(const struct hosts *hosts, size_t i)
{
	for (size_t h = 0; h < hosts->n; h++)
		if (hosts->items[h].snapshot && i-- == 0)
			return hosts->items[h].snapshot;
	return NULL;
}

const char *hosts_level(const struct hosts *hosts)
{
	return hosts->n ? records_header(hosts->items[0].records, "level") : NULL;
}

const struct fabric *hosts_fabric(struct hosts *hosts, const struct fabric_hints *hints)
{
	size_t n = 0;
	const struct snapshot **list = arena_array(hosts->arena, hosts->n + 1, sizeof(*list));

	for (size_t i = 0; i < hosts->n; i++)
		if (hosts->items[i].snapshot)
			list[n++] = hosts->items[i].snapshot;
	fabric_free(hosts->fabric);
	hosts->fabric = fabric_build(list, n, hints);
	hosts->fabric->contacts = hosts->contacts;
	hosts->fabric->n_contacts = hosts->n_contacts;
	return hosts->fabric;
}
