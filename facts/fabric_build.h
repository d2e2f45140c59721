/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of fabric_build(): what its steps share. Nobody else includes this. */
#ifndef SPARKFAB_FACTS_FABRIC_BUILD_H
#define SPARKFAB_FACTS_FABRIC_BUILD_H

#include "facts/fabric.h"

/*
 * One way to name a port on the wire: an address of a netdev that rides on it; InfiniBand ports have one without
 * either.
 */
struct point {
	size_t host; /* index into fabric->hosts */
	struct port_info *info;
	const struct netdev *netdev; /* that carries the address: the port's own, its VLAN or its bond */
	const struct ip_addr *addr;
};

/* A rail while ends are still being added. */
struct draft {
	struct point *ends; size_t n_ends; /* in the order in which they were added; one of each host */
	uint8_t *has_host; /* a bit for each host */
	enum rail_proof joined_by; /* PROOF_SUBNET, _FABRIC or _ROUTE: what is known without looking further */
	bool is_dropped;
};

struct build {
	struct fabric *fabric;
	struct arena *arena;
	struct point *points; size_t n_points; /* by host, port, address */
	struct draft **drafts; size_t n_drafts;
	struct draft **draft_of;       /* by port's index in fabric->infos */
	const struct reach ***reaches; /* [host]: its probes by address; NULL if it made none */
};

/* rails.c: which ports share a segment. */
void join_ports(struct build *b);

/* rail_proof.c: what the ends know of each other. */
struct proof {
	enum rail_proof kind;
	const char *text;
	enum rail_fault fault;
};
struct proof prove_ends(struct build *b, const struct point *a, const struct point *z, enum rail_proof joined_by);

/* The neighbour entry of `addr` on `netdev`; NULL if there is none. */
const struct neighbour *find_neighbour(const struct snapshot *host, const struct netdev *netdev, int family,
				       const char *addr);

/* First neighbour of the netdev; *ret_n: how many follow it, itself counted. They are sorted by netdev. */
const struct neighbour *netdev_neighbours(const struct snapshot *host, const struct netdev *netdev, size_t *ret_n);

/* It answered, now or some time ago. */
bool neighbour_is_known(const struct neighbour *neighbour);

/* Longest prefix that holds `addr` in one table; NULL if none does. */
const struct route *find_route(const struct snapshot *host, int64_t table, const struct ip_addr *addr);

/*
 * The route that packets from `a` (its address's own table first, then the main one) to `addr` take through a gateway
 * on the netdev of `a`; NULL if they go elsewhere or need none.
 */
const struct route *gateway_route(const struct snapshot *host, const struct point *a, const struct ip_addr *addr);

/* cage.c */
void build_cages(struct build *b);

#endif
