/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why ports of two hosts are no rail although they might be one, in words, and what to do about it. Hosts are indices
 * into fabric->hosts.
 */
#ifndef SPARKFAB_RULES_NO_RAIL_H
#define SPARKFAB_RULES_NO_RAIL_H

#include "results/results.h"
#include "rules/pairs.h"

/*
 * A port is in use on one host and reaches nobody of the other one, whose port of that name is idle: they look like two
 * ends of a rail that should be there. Whether either kind of host has such an idle port, ACTIVE or not as asked for.
 */
bool kinds_miss_rail(const struct pairs *pairs, const struct host_kind *a, const struct host_kind *b, bool is_active);

/* Ports of one name are in use on both, and neither reaches anybody: ends of one rail in two subnets, it seems. */
bool kinds_strand_rail(const struct pairs *pairs, const struct host_kind *a, const struct host_kind *b);

/* How many ports of `host` are at fault by themselves; an address without a partner is only a consequence. */
size_t no_rail_faults(const struct pairs *pairs, size_t host, size_t other);

struct no_rail {
	const struct snapshot *host;
	const struct rdma_port *port;
	const char *why;
};

/* The reasons of `host` first. Without any and `or_all`: of all ports, also of those that nothing is expected of. */
struct no_rail *no_rail_reasons(const struct pairs *pairs, size_t host, size_t other, bool or_all, struct arena *arena,
				size_t *ret_n);

/* Remedies at both hosts, those at `host` first. */
void no_rail_advise(const struct pairs *pairs, size_t host, size_t other, struct results *results, struct finding *f);

#endif
