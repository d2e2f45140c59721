/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's neighbour table as a probe needs it: who is where, and how long ago that was confirmed. */
#ifndef SPARKFAB_PERF_NEIGH_H
#define SPARKFAB_PERF_NEIGH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nl_sock;

struct neigh {
	int family;
	unsigned ifindex;
	unsigned char addr[16];
	unsigned state;       /* NUD_… */
	int64_t confirmed_ms; /* ago; -1: not told */
	char mac[64];         /* "" if not resolved */
};

/* NULL if there is no netlink here. */
struct nl_sock *neigh_open(void);
void neigh_close(struct nl_sock *sock);

/* Visits every entry. 0 or -errno. */
typedef void neigh_visit_fn(void *ctx, const struct neigh *neigh);
int neigh_dump(struct nl_sock *sock, neigh_visit_fn *visit, void *ctx);

#endif
