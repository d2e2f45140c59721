/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lightest active test there is: does the peer's fabric address answer on this netdev? One datagram to the discard port
 * makes the kernel resolve the neighbour (ARP or ND); the neighbour table then tells who answered. No root, no listener, no
 * open port needed, and a firewall cannot hide it.
 */
#ifndef SPARKFAB_PERF_REACH_H
#define SPARKFAB_PERF_REACH_H

#include <stddef.h>

#include "core/clock.h"
#include "facts/source.h"

struct reach_target {
	const char *dev;  /* our netdev */
	const char *addr; /* the peer's address */
};

/* Tries all targets at once, at most until the deadline, and puts one fact "probe/neigh/DEV/ADDR" each into `source`
 * (a recorder over the live machine). 0 or -errno if nothing could be tried at all. */
int reach_probe(struct source *source, const struct reach_target targets[], size_t n, struct deadline deadline);

#endif
