// SPDX-License-Identifier: Apache-2.0
/* link.ib_pkey - the ends of an InfiniBand rail share a partition, and at least one of them is a full member. */
#include "check.h"
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

/* PASS is told once for all rails; everything else here. */
static bool judge(struct verdicts *v, const struct rail *rail, const struct rail_end *a, const struct rail_end *b)
{
	bool limited = false;
	struct finding *f;

	if (a->port->pkeys_listed.err || b->port->pkeys_listed.err) {
		unread(v, a->port->pkeys_listed.err ? a->host : b->host, rail->name, "partition keys",
		       a->port->pkeys_listed.err ? a->port->pkeys_listed : b->port->pkeys_listed);
		return false;
	}
	if (!is_shared(a->port, b->port, &limited)) {
		f = fail(v, NULL, rail->name, "%s and %s %s", b->host->name, a->host->name,
			 limited ? "share a partition, but both are only limited members of it" : "share no partition");
		remedy_advice(v->results, f, b->host, "give both ports full membership of one partition in the subnet manager");
	} else if (!first_match(a->port, b->port)) {
		f = warn(v, NULL, rail->name,
			 "the first partition keys of %s and %s differ, and NCCL takes the first unless NCCL_IB_PKEY says otherwise",
			 b->host->name, a->host->name);
	} else {
		return true;
	}
	add_evidence(v, f, b);
	add_evidence(v, f, a);
	expected(v, f, "InfiniBand specification: limited members of a partition cannot talk to each other",
		 "one partition on both ends, one of them a full member");
	return false;
}

static void compare(struct verdicts *v)
{
	size_t n_rails = 0, n_good = 0;

	for (size_t r = 0; r < v->fabric->n_rails; r++) {
		const struct rail *rail = &v->fabric->rails[r];

		if (!port_is_ib(rail->ends[0].port))
			continue;
		for (size_t e = 1; e < rail->n_ends; e++) {
			n_rails++;
			n_good += judge(v, rail, &rail->ends[0], &rail->ends[e]);
		}
	}
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
