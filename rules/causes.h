/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several link checks must agree on about one port: why it is down. Which check says so depends on what is left
 * between the hosts: blame.h.
 */
#ifndef SPARKFAB_RULES_CAUSES_H
#define SPARKFAB_RULES_CAUSES_H

#include "facts/fabric.h"

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

/* How much the trouble is a cause and not an effect: 0 none, 3 surely a cause. */
int port_blame(const struct rdma_port *port);

bool rail_end_is_live(const struct rail_end *end); /* ACTIVE, and the far end was not sought in vain */

/* InfiniBand: both hosts have ACTIVE ports, and none of them are on one fabric (subnet prefix and subnet manager). */
bool ib_fabrics_differ(const struct snapshot *a, const struct snapshot *b);
bool ib_ports_share_fabric(const struct rdma_port *a, const struct rdma_port *b);

/* InfiniBand port whose wire is up and that no subnet manager serves. */
bool port_lacks_sm(const struct rdma_port *port);

bool port_is_ib(const struct rdma_port *port);

/* The netdev is the host's way out: a management network, which need not be one of the fabric's rails. */
bool netdev_is_way_out(const struct snapshot *host, const struct netdev *netdev);

bool port_is_way_out(const struct snapshot *host, const struct rdma_port *port);

/* ACTIVE RoCE port with an address that somebody gave it, and nobody there: on no rail, no way out, no neighbour. */
bool port_is_stranded(const struct snapshot *host, const struct port_info *info);

#endif
