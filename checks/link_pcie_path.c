/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.pcie_path - does PCIe carry what the cable carries. Links that trained badly are link.pcie_width's and
 * link.pcie_speed's to report; what is left here are slots that are too small by design.
 */
#include <inttypes.h>

#include "checks/check.h"
#include "rules/pcie.h"

/* Our own mark: a port that gets less than half of its rate is in the wrong place, whatever the reason. */
#define FAIL_BELOW_PERCENT 50

/* Whether a link on the way did not train to what it can do: then another check tells why the path is short. */
static const char *trained_badly(struct verdicts *v, const struct rdma_port *port, const struct pci_dev *function)
{
	struct pcie_link links[PCIE_LINKS_MAX];
	size_t n = pcie_links(function, links);

	for (size_t i = 0; i < n; i++) {
		if (pcie_link_is_narrow(v->profile, &links[i]))
			return "link.pcie_width tells why this path is too narrow";
		if (pcie_link_is_slow(v->profile, &links[i]))
			return pcie_link_may_idle(port, &links[i])
				       ? "the link may be resting at 2.5 GT/s: look again under load"
				       : "link.pcie_speed tells why this path is too slow";
	}
	return NULL;
}

static const struct pci_dev *root_of(const struct rdma_port *port)
{
	const struct pci_dev *pci = port->dev->pci;

	while (pci && pci->parent)
		pci = pci->parent;
	return pci;
}

/* Twins share one cable and have a root port each: what counts is what reaches the cage over all of them. */
static int64_t cage_mbps(const struct profile *profile, const struct cage *cage, size_t *ret_n_paths)
{
	int64_t sum = 0;

	*ret_n_paths = 0;
	for (size_t i = 0; i < cage->n_ports; i++) {
		const struct pci_dev *root = root_of(cage->ports[i]);
		bool is_counted = !root;

		for (size_t k = 0; k < i; k++)
			is_counted |= root_of(cage->ports[k]) == root;
		if (is_counted)
			continue;
		sum += pcie_designed_mbps(profile, cage->ports[i]->dev->pci);
		++*ret_n_paths;
	}
	return sum;
}

/* The card has more lanes than its slot: another slot may help. */
static bool is_slot_too_narrow(const struct pci_dev *function)
{
	const struct pci_dev *above = function->parent;

	return above && !above->max_width.err && !function->max_width.err &&
	       above->max_width.val < function->max_width.val;
}

static void report_short(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port, struct num path,
			 const struct pci_dev *narrowest)
{
	double carries = (double)path.val / 1000, rate = (double)port->rate_mbps.val / 1000;
	const struct pci_dev *function = port->dev->pci;
	bool is_narrow = is_slot_too_narrow(function);
	struct finding *f;

	if (is_narrow)
		f = fail(v, host, port->name,
			 "PCIe carries %.1f Gb/s to a %g Gb/s port: %s has %" PRId64 " lanes, its slot %" PRId64,
			 carries, rate, function->bdf, function->max_width.val, function->parent->max_width.val);
	else if (path.val * 100 < port->rate_mbps.val * FAIL_BELOW_PERCENT)
		f = fail(v, host, port->name, "PCIe carries only %.1f Gb/s to a %g Gb/s port", carries, rate);
	else
		f = warn(v, host, port->name,
			 "PCIe carries %.1f Gb/s to a %g Gb/s port; this system has no faster link there", carries,
			 rate);
	saw_num(v, f, host, "PCIe path", num_of(path.val * 1000000, path.origin), "bits/s");
	saw_num(v, f, host, "port rate", num_of(port->rate_mbps.val * 1000000, port->rate_mbps.origin), "bits/s");
	if (narrowest)
		saw_text(v, f, host, "narrowest at", text_of(narrowest->bdf, path.origin));
	expected(v, f, "the port's own rate", "at least %g Gb/s", rate);
	remedy_advice(
		v->results, f, host,
		is_narrow ? "move the card to a slot with as many lanes as it has; if there is none, expect this rate"
			  : "plan with this rate, or move the card to a host with faster PCIe");
}

static void judge_port(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct pci_dev *function = judged_function(v, host, port), *narrowest = NULL;
	const struct cage *cage = function ? fabric_port(v->fabric, port)->cage : NULL;
	int64_t cage_carries;
	struct num path;
	const char *elsewhere;
	size_t n_paths = 0;
	double carries;

	if (!function || skipped_as_down(v, host, port))
		return;
	path = pci_path_mbps(function, &narrowest);
	carries = (double)path.val / 1000;
	elsewhere = trained_badly(v, port, function);
	cage_carries = cage ? cage_mbps(v->profile, cage, &n_paths) : 0;
	if (path.err)
		unread(v, host, port->name, "PCIe path", path);
	else if (port->rate_mbps.err)
		unread(v, host, port->name, "port rate", port->rate_mbps);
	else if (path.val >= port->rate_mbps.val)
		pass(v, host, port->name, "PCIe carries %.1f Gb/s to a %g Gb/s port", carries,
		     (double)port->rate_mbps.val / 1000);
	else if (elsewhere)
		skip(v, host, port->name, "PCIe carries %.1f Gb/s: %s", carries, elsewhere);
	else if (n_paths > 1 && cage_carries >= port->rate_mbps.val)
		pass(v, host, port->name,
		     "PCIe carries %.1f Gb/s here and %.1f Gb/s over the %zu ports of %s together, as designed",
		     carries, (double)cage_carries / 1000, n_paths, cage->name);
	else
		report_short(v, host, port, path, narrowest);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	each_used_port(v, host, judge_port);
}

const struct check check_link_pcie_path = {
	.id = "link.pcie_path",
	.title = "PCIe carries at least what the cable carries",
	.why = "the slowest hop sets the bandwidth of every collective, and no NIC counter shows that it is the slot",
	.remedy = "move the card to a slot that carries the port's rate, or plan with the lower one",
	.source = "PCI Express Base Specification: speed times lanes less encoding; NVIDIA/l2fwd-nv#6 (a 100 Gb/s card "
		  "in a narrow slot)",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.run = run,
};
