/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lightest active test there is: does the peer's fabric address answer on this netdev? One datagram to the discard
 * port makes the kernel resolve the neighbour (ARP or ND), and any of these is an answer: a port-unreachable from the
 * peer's kernel, an ICMP echo (where this user may send one), or the neighbour table saying that the peer confirmed
 * itself after we asked. No root, no listener, no open port needed.
 *
 * Without root nobody can force a new ARP for a neighbour that the kernel already holds for valid. So when a firewall
 * there drops both datagram and echo, and the neighbour was known before, the outcome is "error" and says so, never
 * "reachable".
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

/*
 * Tries all targets at once (in groups of 128), at most until the deadline, and puts one fact "probe/neigh/DEV/ADDR"
 * each into `source` (a recorder over the live machine): { "state": "reachable" | "failed" | "error", "how": "echo" |
 * "refused" | "neighbour", "mac": …, "rtt_ns": …, "error": … }, each but "state" only where it is known. 0 or -errno if
 * nothing could be tried at all.
 */
int reach_probe(struct source *source, const struct reach_target targets[], size_t n, struct deadline deadline);

#endif
