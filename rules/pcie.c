/* SPDX-License-Identifier: Apache-2.0 */
/* What a PCIe link should be: pcie.h. */
#include "rules/pcie.h"

#include <string.h>

#define SPEED_GEN1 2500 /* MT/s: where links idle, and where training starts */
#define WIDTH_MAX 32

/* Functions hang on the lower end of a link, and so does each switch's upstream port: every second bridge. The step in
 * between is the inside of a switch, not a link. */
size_t pcie_links(const struct pci_dev *function, struct pcie_link links[PCIE_LINKS_MAX])
{
	size_t n = 0;

	for (const struct pci_dev *lower = function; lower && n < PCIE_LINKS_MAX; n++) {
		links[n] = (struct pcie_link){ .lower = lower, .upper = lower->parent, .is_own = n == 0 };
		lower = lower->parent ? lower->parent->parent : NULL;
	}
	/* A bridge that is itself the root has no link above. */
	if (n > 1 && !links[n - 1].upper)
		n--;
	return n;
}

static struct num smaller(struct num a, struct num b)
{
	return a.val <= b.val ? a : b;
}

/* A gap at the upper end is no gap of the link: the lower end alone says what it could do. */
static struct num common_max(struct num lower, const struct num *upper)
{
	if (lower.err || !upper || upper->err || upper->val <= 0)
		return lower;
	return smaller(lower, *upper);
}

static struct pcie_want want(const struct profile *profile, const struct pcie_link *link, const char *key,
			     struct num max)
{
	struct pcie_want ret = { .val = max };

	if (link->is_own)
		ret.threshold = profile_threshold(profile, key);
	if (ret.threshold)
		ret.val = num_of(ret.threshold->val, ret.threshold->source);
	return ret;
}

struct pcie_want pcie_want_width(const struct profile *profile, const struct pcie_link *link)
{
	const struct num *upper = link->upper ? &link->upper->max_width : NULL;

	return want(profile, link, "pcie_width", common_max(link->lower->max_width, upper));
}

struct pcie_want pcie_want_speed(const struct profile *profile, const struct pcie_link *link)
{
	const struct num *upper = link->upper ? &link->upper->max_speed_mtps : NULL;

	return want(profile, link, "pcie_speed_mtps", common_max(link->lower->max_speed_mtps, upper));
}

static bool is_below(struct num is, struct pcie_want want)
{
	return !is.err && !want.val.err && is.val > 0 && is.val < want.val.val;
}

bool pcie_link_is_narrow(const struct profile *profile, const struct pcie_link *link)
{
	return is_below(link->lower->width, pcie_want_width(profile, link));
}

bool pcie_link_is_slow(const struct profile *profile, const struct pcie_link *link)
{
	return is_below(link->lower->speed_mtps, pcie_want_speed(profile, link));
}

bool pcie_link_may_idle(const struct rdma_port *port, const struct pcie_link *link)
{
	const struct text *driver = &port->dev->driver;

	return num_is(link->lower->speed_mtps, SPEED_GEN1) && (driver->err || strncmp(driver->val, "mlx5", 4));
}

int64_t pcie_mbps(int64_t speed_mtps, int64_t width)
{
	if (speed_mtps <= 0 || width <= 0 || width > WIDTH_MAX)
		return 0;
	return pci_link_mbps(speed_mtps, width);
}

int64_t pcie_designed_mbps(const struct profile *profile, const struct pci_dev *function)
{
	struct pcie_link links[PCIE_LINKS_MAX];
	size_t n = pcie_links(function, links);
	int64_t least = 0;

	for (size_t i = 0; i < n; i++) {
		struct num speed = pcie_want_speed(profile, &links[i]).val,
			   width = pcie_want_width(profile, &links[i]).val;
		int64_t mbps = speed.err || width.err ? 0 : pcie_mbps(speed.val, width.val);

		if (mbps && (!least || mbps < least))
			least = mbps;
	}
	return least;
}

static bool passes(const struct pci_dev *function, const struct pci_dev *lower)
{
	struct pcie_link links[PCIE_LINKS_MAX];
	size_t n = pcie_links(function, links);

	for (size_t i = 0; i < n; i++)
		if (links[i].lower == lower)
			return true;
	return false;
}

const struct rdma_port *pcie_link_reporter(const struct fabric *fabric, const struct snapshot *host,
					   const struct pci_dev *lower)
{
	for (size_t i = 0; i < host->n_ports; i++) {
		const struct rdma_port *port = host->ports[i];

		if (fabric_port_is_used(fabric, port) && port->dev->pci && passes(port->dev->pci, lower))
			return port;
	}
	return NULL;
}
