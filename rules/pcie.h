/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a PCIe link should be. Two ends train to the smaller of what each can do, so a wide card in a narrow slot is no
 * fault of the link; a link below that smaller value is. A profile may know better what a platform's slots carry.
 */
#ifndef SPARKFAB_RULES_PCIE_H
#define SPARKFAB_RULES_PCIE_H

#include "facts/snapshot.h"
#include "rules/profile.h"

/* One link on the way from a function to the root: the lower end and the port above it. */
struct pcie_link {
	const struct pci_dev *lower;
	const struct pci_dev *upper; /* NULL: the slot cannot be seen (a virtual machine, an on-chip function) */
	bool is_own; /* the function's own link, the one a profile speaks of */
};

#define PCIE_LINKS_MAX 8

/* The links from `function` up to the root, its own first; at most PCIE_LINKS_MAX. Returns how many. */
size_t pcie_links(const struct pci_dev *function, struct pcie_link links[PCIE_LINKS_MAX]);

/* What a link should have trained to, and who says so. */
struct pcie_want {
	struct num val;
	const struct threshold *threshold; /* the profile's; NULL: the two ends' own maxima */
};

struct pcie_want pcie_want_width(const struct profile *profile, const struct pcie_link *link);
struct pcie_want pcie_want_speed(const struct profile *profile, const struct pcie_link *link);

/* Whether the link runs narrower or slower than it should; false where that cannot be told. */
bool pcie_link_is_narrow(const struct profile *profile, const struct pcie_link *link);
bool pcie_link_is_slow(const struct profile *profile, const struct pcie_link *link);

/* A link at 2.5 GT/s that a driver may have put there to save power; mlx5 never does. */
bool pcie_link_may_idle(const struct rdma_port *port, const struct pcie_link *link);

/* pci_link_mbps(), and 0 if either is not a number of PCIe. */
int64_t pcie_mbps(int64_t speed_mtps, int64_t width);

/* What the way from the function to the root carries once every link on it has trained as it should; 0 if not known. */
int64_t pcie_designed_mbps(const struct profile *profile, const struct pci_dev *function);

/* The first used port of the host whose way to the root has `lower` in it: the one to report that link at. */
const struct rdma_port *pcie_link_reporter(const struct fabric *fabric, const struct snapshot *host,
					   const struct pci_dev *lower);

#endif
