/* SPDX-License-Identifier: Apache-2.0 */
/* link.pcie_width - did every PCIe link under a used port train to as many lanes as its two ends have. */
#include <inttypes.h>

#include "checks/check.h"
#include "rules/pcie.h"

/* Too few lanes are FAIL only if the port then gets less than its rate: lanes to spare cost nothing today. */
static struct finding *report(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
			      const struct pcie_link *link, struct pcie_want want)
{
	const struct pci_dev *lower = link->lower;
	double now = (double)pcie_mbps(lower->speed_mtps.val, lower->width.val) / 1000;
	double full = (double)pcie_mbps(lower->speed_mtps.val, want.val.val) / 1000;
	bool is_enough = !port->rate_mbps.err && port->rate_mbps.val <= now * 1000;

	if (!link->upper && !want.threshold)
		return warn(v, host, port->name,
			    "%s uses %" PRId64 " of its %" PRId64
			    " PCIe lanes; whether its slot has more cannot be seen from here",
			    lower->bdf, lower->width.val, want.val.val);
	if (lower->speed_mtps.err)
		return fail(v, host, port->name, "%s runs on %" PRId64 " PCIe lanes instead of %" PRId64, lower->bdf,
			    lower->width.val, want.val.val);
	if (is_enough && !want.threshold)
		return warn(v, host, port->name,
			    "%s runs on %" PRId64 " PCIe lanes instead of %" PRId64
			    ": %.1f Gb/s, still enough for the port",
			    lower->bdf, lower->width.val, want.val.val, now);
	return fail(v, host, port->name,
		    "%s runs on %" PRId64 " PCIe lanes instead of %" PRId64 ": %.1f Gb/s instead of %.1f", lower->bdf,
		    lower->width.val, want.val.val, now, full);
}

static void judge_link(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
		       const struct pcie_link *link)
{
	struct pcie_want want = pcie_want_width(v->profile, link);
	struct finding *f = report(v, host, port, link, want);

	saw_num(v, f, host, "lanes in use", link->lower->width, NULL);
	saw_num(v, f, host, "lanes of the device", link->lower->max_width, NULL);
	if (link->upper)
		saw_num(v, f, host, "lanes of the port above", link->upper->max_width, NULL);
	if (want.threshold)
		expected_threshold(v, f, want.threshold, "lanes");
	else
		expected(v, f, "the smaller of what the two ends of the link have", "%" PRId64 " lanes", want.val.val);
	if (want.threshold && link->is_own)
		remedy_command(v->results, f, host, true, "updates the system's firmware, wants a reboot",
			       "fwupdmgr refresh && fwupdmgr update");
	remedy_advice(v->results, f, host,
		      "with current firmware, power the host off fully and on again; if it stays, reseat the card or "
		      "try another slot");
}

static void judge_port(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct pci_dev *function = judged_function(v, host, port);
	struct pcie_link links[PCIE_LINKS_MAX];
	size_t n = function ? pcie_links(function, links) : 0, n_narrow = 0;
	struct finding *f;

	if (!function)
		return;
	if (function->width.err || function->width.val <= 0) {
		unread(v, host, port->name, "PCIe link width",
		       function->width.err ? function->width : num_err(VALUE_PLACEHOLDER, function->width.origin));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct rdma_port *reporter = pcie_link_reporter(v->fabric, host, links[i].lower);

		if (!pcie_link_is_narrow(v->profile, &links[i]))
			continue;
		n_narrow++;
		if (reporter == port)
			judge_link(v, host, port, &links[i]);
		else if (links[i].is_own)
			skip(v, host, port->name, "shares the PCIe link of %s, reported there", reporter->name);
	}
	if (n_narrow)
		return;
	f = pass(v, host, port->name, "%s runs on all %" PRId64 " PCIe lanes that it can have", function->bdf,
		 function->width.val);
	saw_num(v, f, host, "lanes in use", function->width, NULL);
	if (!function->max_width.err && function->width.val < function->max_width.val)
		saw_num(v, f, host, "lanes of the device", function->max_width, NULL);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	each_used_port(v, host, judge_port);
}

const struct check check_link_pcie_width = {
	.id = "link.pcie_width",
	.title = "PCIe links under used ports have all the lanes that both ends offer",
	.why = "half the lanes carry half the data, while the cable's rate still looks right",
	.remedy =
		"update the system firmware and power-cycle the host; else reseat the card or move it to another slot",
	.source = "PCI Express Base Specification, link training; ASUS GX10 firmware 0103 trained the second half of "
		  "the NIC to 2 of 4 lanes "
		  "(forums.developer.nvidia.com/t/367853)",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.run = run,
};
