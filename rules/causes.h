/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several link checks must agree on, so that one cause makes one FAIL: why a port is down, which check says so, and
 * how many rails two hosts have left.
 */
#ifndef SPARKFAB_RULES_CAUSES_H
#define SPARKFAB_RULES_CAUSES_H

#include "facts/fabric.h"
#include "rules/profile.h"

/* Why a port is not ACTIVE. */
enum port_trouble {
	TROUBLE_NONE,	    /* it is ACTIVE */
	TROUBLE_UNREAD,	    /* its state could not be read */
	TROUBLE_SET_DOWN,   /* its netdev is administratively down */
	TROUBLE_NO_CABLE,   /* the driver says that there is no cable or module */
	TROUBLE_LINK,	    /* the driver says what else keeps the link from coming up */
	TROUBLE_NO_CARRIER, /* no signal, the driver does not say why: cable out, or the far end off */
	TROUBLE_NO_SM,	    /* InfiniBand: the wire is up, no subnet manager has set the port up */
	TROUBLE_SILENT,	    /* DOWN although the netdev has its carrier */
};

enum port_trouble port_trouble(const struct rdma_port *port);

/* "no cable", "set down (ip link)", "no carrier: …": why a port is not ACTIVE. Static storage or the snapshot's. */
const char *port_trouble_text(const struct rdma_port *port);

/* Which check fails for a port that is not as it should be. */
enum port_judge {
	JUDGE_NOBODY,	   /* ACTIVE */
	JUDGE_UNUSED,	   /* not ACTIVE, and nothing says that it should be */
	JUDGE_UNREAD,	   /* its state could not be read */
	JUDGE_LINK_STATE,
	JUDGE_FAR_END,	   /* it lost its signal with the other end of the same cable, for which link.state fails */
	JUDGE_LINK_FABRIC, /* it is down, and so is every other rail to that peer: one finding for all of them */
	JUDGE_LINK_IB_SM,
};

/* The rails between each two of a fabric's hosts, counted. */
struct rail_count;

struct rail_count *rail_count_new(const struct fabric *fabric);
struct rail_count *rail_count_free(struct rail_count *count);

/* Rails that join hosts a and b (indices of fabric->hosts), and those of them that work: both ends ACTIVE, none refuted. */
size_t rails_joined(const struct rail_count *count, size_t a, size_t b);
size_t rails_live(const struct rail_count *count, size_t a, size_t b);
/* Rails that have an end on host a and none on host b. */
size_t rails_missed(const struct rail_count *count, size_t a, size_t b);
/* All pairs have the same rails and all of those work. */
bool rails_are_alike(const struct rail_count *count);

/* Both hosts have RDMA ports, and no rail between them works, for a reason that no other check fails for. */
bool hosts_are_cut(const struct rail_count *count, const struct fabric *fabric, size_t a, size_t b);

enum port_judge port_judged_by(const struct rail_count *count, const struct fabric *fabric, size_t host,
			       const struct rdma_port *port);

/* The other end of a cable whose both ends are down, if the cause is there: set down, or simply told first. NULL: none. */
const struct rail_end *far_end_to_blame(const struct fabric *fabric, const struct rdma_port *port);

bool rail_end_is_live(const struct rail_end *end);

/* A rail's end on host a and b both, and both live. */
bool rail_joins(const struct rail *rail, const struct snapshot *a, const struct snapshot *b);

/* InfiniBand: both hosts have ACTIVE ports, and none of them are on one fabric (subnet prefix and subnet manager). */
bool ib_fabrics_differ(const struct snapshot *a, const struct snapshot *b);
bool ib_ports_share_fabric(const struct rdma_port *a, const struct rdma_port *b);

/* InfiniBand port whose wire is up and that no subnet manager serves. */
bool port_lacks_sm(const struct rdma_port *port);

size_t fabric_host_index(const struct fabric *fabric, const struct snapshot *host);

bool port_is_ib(const struct rdma_port *port);

#endif
