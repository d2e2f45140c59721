// SPDX-License-Identifier: Apache-2.0
/* link.ib_pkey - the ends of an InfiniBand rail share a partition, and at least one of them is a full member. */
#include "checks/check.h"
#include "rules/causes.h"

#define PKEY_FULL 0x8000u
#define PKEY_BASE 0x7fffu

static bool is_shared(const struct rdma_port *a, const struct rdma_port *b, bool *ret_limited)
{
	for (size_t i = 0; i < a->n_pkeys; i++)
		for (size_t j = 0; j < b->n_pkeys; j++) {
			if ((a->pkeys[i] & PKEY_BASE) != (b->pkeys[j] & PKEY_BASE))
				continue;
			if ((a->pkeys[i] | b->pkeys[j]) & PKEY_FULL)
				return true;
			*ret_limited = true;
		}
	return false;
}

/* What NCCL takes unless told otherwise: the first entry of each table. */
static bool first_match(const struct rdma_port *a, const struct rdma_port *b)
{
	return (a->pkeys[0] & PKEY_BASE) == (b->pkeys[0] & PKEY_BASE) && ((a->pkeys[0] | b->pkeys[0]) & PKEY_FULL);
}

static void add_evidence(struct verdicts *v, struct finding *f, const struct rail_end *end)
{
	struct arena *arena = v->results->arena;
	const char *words = "";

	for (size_t i = 0; i < end->port->n_pkeys && i < 8; i++)
		words = arena_printf(arena, "%s%s0x%04x", words, i ? " " : "", end->port->pkeys[i]);
	finding_host(v->results, f, end->host->name);
	saw_text(v, f, end->host, arena_printf(arena, "partition keys of %s", end->port->name),
		 text_of(words, end->port->pkeys_listed.origin));
}

enum pkey_case { PKEY_GOOD, PKEY_FIRST_DIFFERS, PKEY_UNREAD, PKEY_LIMITED, PKEY_NONE, N_PKEY_CASES };

static enum pkey_case judge_ends(const struct rdma_port *a, const struct rdma_port *b)
{
	bool limited = false;

	if (a->pkeys_listed.err || b->pkeys_listed.err)
		return PKEY_UNREAD;
	if (!is_shared(a, b, &limited))
		return limited ? PKEY_LIMITED : PKEY_NONE;
	return first_match(a, b) ? PKEY_GOOD : PKEY_FIRST_DIFFERS;
}

/* One finding for all rails of two hosts that have the same trouble: a partition is given to whole hosts. */
static void tell(struct verdicts *v, enum pkey_case what, size_t n_rails, const struct rail *rail,
		 const struct rail_end *a, const struct rail_end *b)
{
	const char *more = n_rails > 1 ? arena_printf(v->results->arena, "; %zu more rail%s alike", n_rails - 1,
						      n_rails == 2 ? "" : "s")
				       : "";
	struct finding *f;

	switch (what) {
	case PKEY_UNREAD:
		unread(v, a->port->pkeys_listed.err ? a->host : b->host, rail->name, "partition keys",
		       a->port->pkeys_listed.err ? a->port->pkeys_listed : b->port->pkeys_listed);
		return;
	case PKEY_FIRST_DIFFERS:
		f = warn(v, NULL, rail->name,
			 "the first partition keys of %s and %s differ, and NCCL takes those unless NCCL_IB_PKEY says "
			 "otherwise%s",
			 b->host->name, a->host->name, more);
		break;
	default:
		f = fail(v, NULL, rail->name, "%s and %s %s%s", b->host->name, a->host->name,
			 what == PKEY_LIMITED ? "are both only limited members of the partition they share"
					      : "share no partition",
			 more);
		remedy_advice(v->results, f, b->host,
			      "give both ports full membership of one partition in the subnet manager");
		break;
	}
	add_evidence(v, f, b);
	add_evidence(v, f, a);
	expected(v, f, "InfiniBand specification: limited members of a partition cannot talk to each other",
		 "one partition on both ends, one of them a full member");
}

/* Returns the number of InfiniBand rails between the head's side and this host. */
static size_t judge_host(struct verdicts *v, const struct snapshot *host, size_t *ret_n_good)
{
	const struct port_info *first[N_PKEY_CASES] = { NULL };
	size_t n[N_PKEY_CASES] = { 0 }, n_rails = 0;

	for (size_t i = 0; i < host->n_ports; i++) {
		const struct port_info *info = fabric_port(v->fabric, host->ports[i]);
		enum pkey_case what;

		if (!info->rail || !port_is_ib(info->rail->ends[0].port) || info->end == &info->rail->ends[0])
			continue;
		what = judge_ends(info->rail->ends[0].port, info->port);
		if (!first[what] || info->rail < first[what]->rail)
			first[what] = info;
		n[what]++;
		n_rails++;
	}
	for (int what = PKEY_FIRST_DIFFERS; what < N_PKEY_CASES; what++)
		if (first[what])
			tell(v, (enum pkey_case)what, n[what], first[what]->rail, &first[what]->rail->ends[0],
			     first[what]->end);
	*ret_n_good += n[PKEY_GOOD];
	return n_rails;
}

static void compare(struct verdicts *v)
{
	size_t n_rails = 0, n_good = 0;

	for (size_t h = 0; h < v->fabric->n_hosts; h++)
		n_rails += judge_host(v, v->fabric->hosts[h], &n_good);
	if (n_rails == 0)
		skip(v, NULL, "", "no InfiniBand rail joins the hosts");
	else if (n_good == n_rails)
		pass(v, NULL, "", "both ends of each InfiniBand rail are in one partition");
}

const struct check check_link_ib_pkey = {
	.id = "link.ib_pkey",
	.title = "The ends of an InfiniBand rail share a partition, one of them as a full member",
	.why = "packets with a partition key that does not match are dropped without a word",
	.remedy = "let the subnet manager give both ports full membership of one partition",
	.source = "InfiniBand specification, partitions; NCCL_IB_PKEY",
	.compare = compare,
};
