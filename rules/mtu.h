/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the MTU checks must agree on, so that one small MTU makes one finding: mtu.parity where two ends differ,
 * mtu.rdma where both are small, mtu.netdev only where the RDMA MTU itself cannot be read.
 */
#ifndef SPARKFAB_RULES_MTU_H
#define SPARKFAB_RULES_MTU_H

#include "facts/fabric.h"
#include "rules/pairs.h"
#include "rules/profile.h"

/* The RDMA MTU of an Ethernet port: the active one; where that is not known (no libibverbs, port down), the one that
 * its netdev's MTU leaves room for. */
struct num port_rdma_mtu(const struct profile *profile, const struct rdma_port *port);

/* The netdev MTU from which the wanted RDMA MTU fits, by the port's driver; NULL if the profile does not say. */
const struct threshold *port_netdev_mtu_min(const struct profile *profile, const struct rdma_port *port);

/* Whether the ends of the port's rail have different RDMA MTUs: then mtu.parity says so, and nobody else. */
bool port_rail_mtus_differ(const struct pairs *pairs, const struct profile *profile, const struct rdma_port *port);

/* The netdev MTU to recommend: 9000, less if the device cannot do that but `at_least`, 0 if not even that. */
int64_t netdev_mtu_to_set(const struct netdev *netdev, int64_t at_least);

#endif
