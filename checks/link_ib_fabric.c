// SPDX-License-Identifier: Apache-2.0
/* link.ib_fabric - the InfiniBand ports of all hosts lie on the same fabrics: subnet prefix and subnet manager. */
#include "checks/check.h"
#include "rules/causes.h"

static bool is_judged(const struct rdma_port *port)
{
	return port_is_ib(port) && port_is_active(port) && !port_lacks_sm(port) && !port->subnet_prefix.err;
}

static const char *fabric_words(struct arena *arena, const struct rdma_port *port)
{
	if (port->sm_lid.err)
		return arena_printf(arena, "prefix %s", port->subnet_prefix.val);
	return arena_printf(arena, "prefix %s, subnet manager %lld", port->subnet_prefix.val,
			    (long long)port->sm_lid.val);
}

static const struct rdma_port *first_judged(const struct snapshot *host)
{
	for (size_t i = 0; i < host->n_ports; i++)
		if (is_judged(host->ports[i]))
			return host->ports[i];
	return NULL;
}

/* A port of `host` that shares no fabric with any of the other's; NULL if each does. */
static const struct rdma_port *lonely_port(const struct snapshot *host, const struct snapshot *other)
{
	for (size_t i = 0; i < host->n_ports; i++) {
		bool shared = false;

		if (!is_judged(host->ports[i]))
			continue;
		for (size_t j = 0; j < other->n_ports && !shared; j++)
			shared = is_judged(other->ports[j]) && ib_ports_share_fabric(host->ports[i], other->ports[j]);
		if (!shared)
			return host->ports[i];
	}
	return NULL;
}

static void add_evidence(struct verdicts *v, struct finding *f, const struct snapshot *host,
			 const struct rdma_port *port)
{
	finding_host(v->results, f, host->name);
	saw_text(v, f, host, arena_printf(v->results->arena, "fabric of %s", port->name),
		 text_of(fabric_words(v->results->arena, port), port->subnet_prefix.origin));
}

/* Against the head: fabrics are the same for all if they are the same as the head's. */
static bool compare_with_head(struct verdicts *v, const struct snapshot *head, const struct snapshot *host)
{
	const struct rdma_port *ours = first_judged(head), *theirs = first_judged(host);
	const struct rdma_port *lonely;
	struct finding *f;

	if (ib_fabrics_differ(head, host)) {
		f = fail(v, host, "", "%s's InfiniBand ports are on another fabric than %s's", host->name, head->name);
		add_evidence(v, f, host, theirs);
		add_evidence(v, f, head, ours);
		expected(v, f, "InfiniBand specification: a subnet has one prefix and one master subnet manager",
			 "the same subnet prefix and subnet manager");
		remedy_advice(v->results, f, host, "cable both hosts to the same switches, or join the two subnets");
		return true;
	}
	lonely = lonely_port(host, head);
	if (!lonely)
		return false;
	f = warn(v, host, lonely->name, "%s is on a fabric on which %s has no port", lonely->name, head->name);
	add_evidence(v, f, host, lonely);
	add_evidence(v, f, head, ours);
	return true;
}

static void compare(struct verdicts *v)
{
	const struct snapshot *head = NULL;
	size_t n_hosts = 0, n_found = 0;

	for (size_t h = 0; h < v->fabric->n_hosts; h++) {
		const struct snapshot *host = v->fabric->hosts[h];

		if (!first_judged(host))
			continue;
		n_hosts++;
		if (!head)
			head = host;
		else
			n_found += compare_with_head(v, head, host);
	}
	if (n_hosts < 2)
		skip(v, NULL, "", "fewer than two hosts have an ACTIVE InfiniBand port");
	else if (n_found == 0)
		pass(v, NULL, "", "the InfiniBand ports of %zu hosts are on the same fabrics", n_hosts);
}

const struct check check_link_ib_fabric = {
	.id = "link.ib_fabric",
	.title = "The hosts' InfiniBand ports are on the same fabrics",
	.why = "LIDs of one fabric mean nothing on another: connections time out",
	.remedy = "cable the hosts to the same fabric",
	.source = "InfiniBand specification, subnet prefix",
	.compare = compare,
};
