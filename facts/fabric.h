/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several hosts seen together: which ports belong to one cage, which are used, and which ports of different hosts share a
 * segment (a rail). Built once, read by checks and reports. Linear in ports, never in pairs of ports.
 */
#ifndef SPARKFAB_FACTS_FABRIC_H
#define SPARKFAB_FACTS_FABRIC_H

#include "facts/contact.h"
#include "facts/snapshot.h"

/* Ports that share one connector: a Spark's twins (same function number in PCI domains 0000 and 0002), or one port alone. */
struct cage {
	const struct snapshot *host;
	const char *name; /* "cage 0" on a Spark, else the port's name */
	const struct rdma_port **ports; size_t n_ports;
};

enum port_use {
	PORT_UNUSED,
	PORT_USED_ADDRESS,  /* it carries an address */
	PORT_USED_LAUNCH,   /* the launch environment names it */
	PORT_USED_PROFILE,  /* the profile expects it */
	PORT_USED_JOINED,   /* it was joined to a peer's port */
};

/* How it is known that two ends of a rail reach each other; later ones are stronger. */
enum rail_proof {
	PROOF_SUBNET,	  /* only that their addresses lie in one subnet: a hint */
	PROOF_FABRIC,	  /* InfiniBand: same subnet prefix and subnet manager, both ACTIVE */
	PROOF_ROUTE,	  /* a gateway between them; it answers, the far end was not seen */
	PROOF_NEIGHBOUR,  /* the neighbour table holds the other's MAC address for its IP address */
	PROOF_REACHED,	  /* it answered in this run */
	PROOF_REFUTED,	  /* tried in this run, or in the neighbour table as failed: no answer, or somebody else's MAC */
};

/* What refuted it. */
enum rail_fault {
	RAIL_SILENT,	  /* nobody answers */
	RAIL_OTHER_PORT,  /* another port answers with its own MAC address */
	RAIL_SAME_ADDR,	  /* both ends have one address */
};

struct rail_end {
	const struct snapshot *host;
	const struct rdma_port *port;
	const struct ip_addr *addr; /* the address that joins it; NULL for InfiniBand */
	const struct netdev *netdev; /* that carries it: the port's own, its VLAN or bond; NULL for InfiniBand */
	enum rail_proof proof;	    /* towards the head's end (head's own: the strongest of the others) */
	enum rail_fault fault;	    /* of PROOF_REFUTED: what is wrong */
	const char *proof_text;	    /* "10.0.0.2 is at 02:…:01 on eth1 (neighbour table)" */
};

/* A segment with ends on at least two hosts, at most one port of each host (twins in one subnet make two rails). */
struct rail {
	const char *name; /* "rail 0": by the head's port order */
	struct rail_end *ends; size_t n_ends; /* head first, then in host order */
	bool is_proven;	  /* every end beyond the first has PROOF_FABRIC, PROOF_NEIGHBOUR or PROOF_REACHED, and all ports are ACTIVE */
};

enum fabric_kind {
	FABRIC_UNKNOWN, /* a switch cannot be seen passively */
	FABRIC_DIRECT,
	FABRIC_SWITCHED, /* proven: LLDP, several neighbours on one netdev, more than two hosts on a rail */
};

struct port_info {
	const struct rdma_port *port;
	enum port_use use;
	const struct cage *cage;
	const struct rail *rail; /* the one it belongs to; NULL */
	const struct rail_end *end; /* its end of that rail; NULL */
	size_t host; /* index into fabric->hosts */
};

struct fabric {
	struct arena *arena;
	const struct snapshot **hosts; size_t n_hosts; /* [0] is the head */
	struct port_info **ports; /* ports[h][p]: of hosts[h]->ports[p] */
	struct port_info *infos; size_t n_infos; /* the same, in one row */
	struct port_info **by_port; /* the same, in order of the ports' addresses in memory: for fabric_port() */
	struct cage *cages; size_t n_cages;
	struct rail *rails; size_t n_rails;
	enum fabric_kind kind;
	const char *kind_why;
	const struct contact *contacts; size_t n_contacts; /* every --peer, answered or not; set by the caller after building */
};

/* What the caller knows beyond the snapshots; all optional. */
struct fabric_hints {
	const char *const *named_ports; /* from profile or launch: "rocep1s0f0" or "worker=rocep1s0f0"; NULL-terminated */
};

/* hosts[0] is the head; snapshots must outlive the fabric. */
struct fabric *fabric_build(const struct snapshot *const hosts[], size_t n_hosts, const struct fabric_hints *hints);
struct fabric *fabric_free(struct fabric *fabric);

const struct port_info *fabric_port(const struct fabric *fabric, const struct rdma_port *port);
bool fabric_port_is_used(const struct fabric *fabric, const struct rdma_port *port);
bool addr_is_link_local(const struct ip_addr *addr);
bool addr_in_subnet_of(const struct ip_addr *addr, const struct ip_addr *subnet);

/* The end of `rail` on `host`; NULL if it has none there. */
const struct rail_end *rail_end_on(const struct rail *rail, const struct snapshot *host);

#endif
