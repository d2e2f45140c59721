/* SPDX-License-Identifier: Apache-2.0 */
/* link.pcie_speed - did every PCIe link under a used port train to the generation that both its ends speak. */
#include <inttypes.h>

#include "checks/check.h"
#include "rules/pcie.h"

static double gtps(struct num mtps)
{
	return (double)mtps.val / 1000;
}

/* Too slow is FAIL only if the port then gets less than its rate. */
static struct finding *report(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
			      const struct pcie_link *link, struct pcie_want want)
{
	const struct pci_dev *lower = link->lower;
	double is = gtps(lower->speed_mtps), should = gtps(want.val);
	double now = (double)pcie_mbps(lower->speed_mtps.val, lower->width.err ? 0 : lower->width.val) / 1000;

	if (!link->upper && !want.threshold)
		return warn(v, host, port->name,
			    "the PCIe link of %s runs at %g of %g GT/s; whether its slot is faster cannot be seen from "
			    "here",
			    lower->bdf, is, should);
	if (!want.threshold && !port->rate_mbps.err && port->rate_mbps.val <= now * 1000)
		return warn(v, host, port->name,
			    "the PCIe link of %s runs at %g instead of %g GT/s: %.1f Gb/s, still enough for the port",
			    lower->bdf, is, should, now);
	if (now <= 0)
		return fail(v, host, port->name, "the PCIe link of %s runs at %g instead of %g GT/s", lower->bdf, is,
			    should);
	return fail(v, host, port->name, "the PCIe link of %s runs at %g instead of %g GT/s: %.1f Gb/s instead of %.1f",
		    lower->bdf, is, should, now, (double)pcie_mbps(want.val.val, lower->width.val) / 1000);
}

static void judge_link(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
		       const struct pcie_link *link)
{
	struct pcie_want want = pcie_want_speed(v->profile, link);
	struct finding *f = report(v, host, port, link, want);

	saw_num(v, f, host, "speed in use", link->lower->speed_mtps, "MT/s");
	saw_num(v, f, host, "speed of the device", link->lower->max_speed_mtps, "MT/s");
	if (link->upper)
		saw_num(v, f, host, "speed of the port above", link->upper->max_speed_mtps, "MT/s");
	if (want.threshold)
		expected_threshold(v, f, want.threshold, "MT/s");
	else
		expected(v, f, "the smaller of what the two ends of the link can do", "%g GT/s", gtps(want.val));
	remedy_advice(v->results, f, host,
		      "update the system firmware and the NIC's firmware, set the slot's link speed to automatic in "
		      "the firmware setup, then power the "
		      "host off fully and on again");
}

static void judge_port(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct pci_dev *function = judged_function(v, host, port);
	struct pcie_link links[PCIE_LINKS_MAX];
	size_t n = function ? pcie_links(function, links) : 0, n_slow = 0;
	bool idles = false;

	if (!function)
		return;
	if (function->speed_mtps.err || function->speed_mtps.val <= 0) {
		unread(v, host, port->name, "PCIe link speed",
		       function->speed_mtps.err ? function->speed_mtps
						: num_err(VALUE_PLACEHOLDER, function->speed_mtps.origin));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct rdma_port *reporter = pcie_link_reporter(v->fabric, host, links[i].lower);

		if (!pcie_link_is_slow(v->profile, &links[i]))
			continue;
		if (links[i].is_own && pcie_link_may_idle(port, &links[i])) {
			idles = true;
			continue;
		}
		n_slow++;
		if (reporter == port)
			judge_link(v, host, port, &links[i]);
		else if (links[i].is_own)
			skip(v, host, port->name, "shares the PCIe link of %s, reported there", reporter->name);
	}
	if (n_slow)
		return;
	saw_num(v,
		pass(v, host, port->name,
		     idles ? "%s is at %g GT/s, where this driver may rest an idle link: look again under load"
			   : "the PCIe link of %s runs at the full %g GT/s that it can have",
		     function->bdf, gtps(function->speed_mtps)),
		host, "speed in use", function->speed_mtps, "MT/s");
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	each_used_port(v, host, judge_port);
}

const struct check check_link_pcie_speed = {
	.id = "link.pcie_speed",
	.title = "PCIe links under used ports run at the speed that both ends offer",
	.why = "a link that trained one generation lower moves half as much, while the cable's rate still looks right",
	.remedy = "update the system's and the NIC's firmware and power-cycle the host",
	.source = "PCI Express Base Specification, link training; a ConnectX-5 Ex held at 8 of 16 GT/s by its firmware "
		  "(forums.developer.nvidia.com/t/360633)",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.run = run,
};
