/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that mend, in the words of the host they are for: its own device names, its own way of keeping network settings
 * (netplan, NetworkManager, systemd-networkd, ifupdown). Used by several checks, so that the same fault gets the same cure.
 */
#ifndef SPARKFAB_RULES_REMEDIES_H
#define SPARKFAB_RULES_REMEDIES_H

#include "facts/snapshot.h"
#include "results/results.h"

/* The netdev's MTU, now and persistent. */
void remedy_set_mtu(struct results *results, struct finding *finding, const struct snapshot *host,
		    const struct netdev *netdev, int64_t mtu);
/* Netdev administratively up, now and persistent. */
void remedy_set_up(struct results *results, struct finding *finding, const struct snapshot *host,
		   const struct netdev *netdev);
/* A sentence for a person at the machine. */
void remedy_advice(struct results *results, struct finding *finding, const struct snapshot *host, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* One command line (already quoted); persistent or not; disturbs may be NULL. */
void remedy_command(struct results *results, struct finding *finding, const struct snapshot *host, bool is_persistent,
		    const char *disturbs, const char *format, ...) __attribute__((format(printf, 6, 7)));

#endif
