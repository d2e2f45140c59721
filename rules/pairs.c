// SPDX-License-Identifier: Apache-2.0
/* Hosts sorted into kinds, their rails as bits, and pairs in groups: pairs.h. */
#include "rules/pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/buf.h"
#include "rules/causes.h"
#include "rules/mtu.h"

/* ---- kinds ---- */

/* The first end of a rail tells of its proofs towards the others, which each of them tells better. */
static bool end_is_live(const struct port_info *info)
{
	return info->end == info->rail->ends ? port_is_active(info->port) : rail_end_is_live(info->end);
}

static void describe_text(struct buf *out, struct text text)
{
	if (text.err)
		buf_adds(out, " -");
	else
		buf_addf(out, " %zu:%s", strlen(text.val), text.val);
}

/* All of a port that pairs are judged by. */
static void describe_port(const struct fabric *fabric, const struct port_info *info, struct buf *out)
{
	const struct snapshot *host = fabric->hosts[info->host];
	const struct rdma_port *port = info->port;

	describe_text(out, text_of(port->name, NULL));
	buf_addf(out, " %d %d %d %d", (int)port_trouble(port), info->use != PORT_UNUSED, port_is_stranded(host, info),
		 port_is_way_out(host, port));
	if (info->rail)
		buf_addf(out, " rail %zu %d %d", (size_t)(info->rail - fabric->rails), (int)info->end->proof,
			 end_is_live(info));
	if (port_is_ib(port)) {
		describe_text(out, port->subnet_prefix);
		buf_addf(out, " sm %d %lld %d", port->sm_lid.err, (long long)(port->sm_lid.err ? 0 : port->sm_lid.val),
			 port_lacks_sm(port));
	}
	buf_addc(out, '\n');
}

/* Equal for two hosts if they are of one kind. A head that tried to reach others in this run is asked for more. */
static const char *describe_host(const struct fabric *fabric, size_t h, struct arena *arena)
{
	const struct snapshot *host = fabric->hosts[h];
	cleanup_buf struct buf out = BUF_INIT;

	buf_addf(&out, "%zu%s\n", host->n_devs, h == 0 && host->n_reaches > 0 ? " head" : "");
	for (size_t p = 0; p < host->n_ports; p++)
		describe_port(fabric, &fabric->ports[h][p], &out);
	return arena_strdup(arena, buf_str(&out));
}

static void add_kind(struct pairs *pairs, size_t h)
{
	const struct fabric *fabric = pairs->fabric;
	const struct snapshot *host = fabric->hosts[h];
	struct host_kind *kind = arena_push(pairs->arena, &pairs->kinds, &pairs->n_kinds);

	kind->host = host;
	kind->n_words = fabric->n_rails / 64 + 1;
	kind->joined = arena_array(pairs->arena, kind->n_words, sizeof(*kind->joined));
	kind->live = arena_array(pairs->arena, kind->n_words, sizeof(*kind->live));
	for (size_t p = 0; p < host->n_ports; p++) {
		const struct port_info *info = &fabric->ports[h][p];
		size_t r = info->rail ? (size_t)(info->rail - fabric->rails) : 0;

		kind->has_idle |= info->use == PORT_UNUSED;
		kind->has_stranded |= port_is_stranded(host, info);
		kind->lacks_sm |= port_lacks_sm(info->port);
		if (!info->rail)
			continue;
		kind->joined[r / 64] |= UINT64_C(1) << r % 64;
		if (end_is_live(info))
			kind->live[r / 64] |= UINT64_C(1) << r % 64;
	}
}

struct described {
	const char *text;
	size_t host;
};

static int compare_described(const void *a, const void *b)
{
	const struct described *x = a, *y = b;

	return strcmp(x->text, y->text) ?: (x->host > y->host) - (x->host < y->host);
}

/* Kinds are numbered in the order of their first hosts, whatever order the texts sort in. */
static void sort_into_kinds(struct pairs *pairs)
{
	size_t n = pairs->fabric->n_hosts;
	struct arena *arena = arena_new();
	struct described *all = arena_array(arena, n, sizeof(*all));
	size_t *first_like = arena_array(arena, n, sizeof(*first_like));

	for (size_t h = 0; h < n; h++)
		all[h] = (struct described){ describe_host(pairs->fabric, h, arena), h };
	if (n)
		qsort(all, n, sizeof(*all), compare_described);
	for (size_t i = 0; i < n; i++)
		first_like[all[i].host] =
			i && !strcmp(all[i].text, all[i - 1].text) ? first_like[all[i - 1].host] : all[i].host;
	for (size_t h = 0; h < n; h++) {
		if (first_like[h] == h)
			add_kind(pairs, h);
		pairs->kind_of[h] = first_like[h] == h ? pairs->n_kinds - 1 : pairs->kind_of[first_like[h]];
		pairs->kinds[pairs->kind_of[h]].n++;
	}
	arena_free(arena);
}

static bool ends_differ(const struct rail *rail, const struct profile *profile)
{
	struct num first = num_err(ENODATA, NULL);

	for (size_t e = 0; e < rail->n_ends; e++) {
		struct num mtu = port_rdma_mtu(profile, rail->ends[e].port);

		if (!mtu.err && !first.err && mtu.val != first.val)
			return true;
		if (!mtu.err)
			first = mtu;
	}
	return false;
}

struct pairs *pairs_new(const struct fabric *fabric, const struct profile *profile)
{
	struct arena *arena = arena_new();
	struct pairs *pairs = arena_alloc(arena, sizeof(*pairs));

	pairs->arena = arena;
	pairs->fabric = fabric;
	pairs->kind_of = arena_array(arena, fabric->n_hosts, sizeof(*pairs->kind_of));
	sort_into_kinds(pairs);
	pairs->mtus_differ = arena_array(arena, fabric->n_rails, sizeof(*pairs->mtus_differ));
	for (size_t r = 0; r < fabric->n_rails; r++)
		pairs->mtus_differ[r] = ends_differ(&fabric->rails[r], profile);
	return pairs;
}

struct pairs *pairs_free(struct pairs *pairs)
{
	if (pairs)
		arena_free(pairs->arena);
	return NULL;
}

const struct host_kind *kind_of_host(const struct pairs *pairs, size_t host)
{
	return &pairs->kinds[pairs->kind_of[host]];
}

/* ---- two kinds ---- */

static size_t count_common(const uint64_t *a, const uint64_t *b, size_t n_words)
{
	size_t n = 0;

	for (size_t w = 0; w < n_words; w++)
		n += (size_t)__builtin_popcountll(a[w] & b[w]);
	return n;
}

size_t rails_joined(const struct host_kind *a, const struct host_kind *b)
{
	return count_common(a->joined, b->joined, a->n_words);
}

size_t rails_live(const struct host_kind *a, const struct host_kind *b)
{
	return count_common(a->live, b->live, a->n_words);
}

bool kind_is_on_rail(const struct pairs *pairs, const struct host_kind *kind, const struct rail *rail)
{
	size_t r = (size_t)(rail - pairs->fabric->rails);

	return kind->joined[r / 64] >> r % 64 & 1;
}

bool kinds_are_cut(const struct host_kind *a, const struct host_kind *b)
{
	if (a->host->n_ports == 0 || b->host->n_ports == 0 || a->lacks_sm || b->lacks_sm || rails_live(a, b) > 0)
		return false;
	return !ib_fabrics_differ(a->host, b->host);
}

size_t pairs_between(const struct host_kind *a, const struct host_kind *b)
{
	return a == b ? a->n * (a->n - 1) / 2 : a->n * b->n;
}

/* ---- groups ---- */

/* While pairs are being grouped: those of a host that has told for all of its own are no longer open. */
struct grouping {
	const struct pairs *pairs;
	const uint8_t *cases;
	uint8_t what;
	bool *has_told;
	size_t *n_open; /* by host: open pairs that it is part of */
};

static bool is_open(const struct grouping *g, size_t a, size_t b)
{
	const struct pairs *pairs = g->pairs;

	return a != b && !g->has_told[a] && !g->has_told[b] &&
	       g->cases[pairs->kind_of[a] * pairs->n_kinds + pairs->kind_of[b]] == g->what;
}

static void count_open(struct grouping *g)
{
	const struct pairs *pairs = g->pairs;

	for (size_t h = 0; h < pairs->fabric->n_hosts; h++) {
		const uint8_t *row = &g->cases[pairs->kind_of[h] * pairs->n_kinds];

		for (size_t k = 0; k < pairs->n_kinds; k++)
			if (row[k] == g->what)
				g->n_open[h] += pairs->kinds[k].n - (k == pairs->kind_of[h]);
	}
}

/* The host with most open pairs; among equals the last one, since the head is the least likely to be at fault. */
static size_t busiest(const struct grouping *g)
{
	size_t most = 0;

	for (size_t h = 1; h < g->pairs->fabric->n_hosts; h++)
		if (g->n_open[h] >= g->n_open[most])
			most = h;
	return most;
}

static struct pair_group take_pairs_of(struct grouping *g, size_t host)
{
	struct pair_group group = { .n = g->n_open[host] };
	size_t partner = host;

	for (size_t h = g->pairs->fabric->n_hosts; h-- > 0;) {
		if (!is_open(g, host, h))
			continue;
		g->n_open[h]--;
		partner = h;
	}
	g->has_told[host] = true;
	g->n_open[host] = 0;
	group.a = partner < host ? partner : host;
	group.b = partner < host ? host : partner;
	return group;
}

struct pair_group *pairs_group(const struct pairs *pairs, const uint8_t *cases, uint8_t what, struct arena *arena,
			       size_t *ret_n)
{
	size_t n_hosts = pairs->fabric->n_hosts;
	cleanup_free bool *has_told = xcalloc(n_hosts, sizeof(*has_told));
	cleanup_free size_t *n_open = xcalloc(n_hosts, sizeof(*n_open));
	struct grouping g = { .pairs = pairs, .cases = cases, .what = what, .has_told = has_told, .n_open = n_open };
	struct pair_group *groups = NULL;

	*ret_n = 0;
	count_open(&g);
	for (size_t host = busiest(&g); n_open[host] > 0; host = busiest(&g))
		*arena_push(arena, &groups, ret_n) = take_pairs_of(&g, host);
	return groups;
}
