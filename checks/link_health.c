/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.health - PCIe errors (Advanced Error Reporting) of the NIC's function and of every bridge above it. Corrected
 * errors come now and then on every link; those that nothing corrects do not.
 */
#include <inttypes.h>
#include <string.h>

#include "checks/check.h"
#include "rules/pcie.h"

/* Gen5 x16 carries 5e11 bits a second: the bit error rate of 1e-12 that PCIe allows makes one every other second. */
#define CORRECTABLE_PER_SECOND 10

struct aer_look {
	size_t n_devices; /* with AER, judged here */
	size_t n_trouble;
	struct num gap;
};

static const char *role_words(const struct pci_dev *pci, const struct rdma_port *port)
{
	return pci == port->dev->pci ? "the NIC" : "the bridge above the NIC";
}

static void explain(struct verdicts *v, struct finding *f, const struct snapshot *host, const struct pci_dev *pci,
		    const struct counter *counter)
{
	struct arena *arena = v->results->arena;

	saw_num(v, f, host, arena_printf(arena, "%s errors of %s", counter->name, pci->bdf), counter->first, NULL);
	if (!counter->second.err)
		saw_num(v, f, host, arena_printf(arena, "%s errors of %s, second sample", counter->name, pci->bdf),
			counter->second, NULL);
	remedy_advice(v->results, f, host,
		      "read the kernel log for \"AER\" and %s; reseat the card or its riser, and update the system's "
		      "firmware",
		      pci->bdf);
}

/* Growth of one total between the samples, or a fatal error since boot: true if it is a finding. */
static bool judge_total(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
			const struct pci_dev *pci, const struct counter *counter)
{
	struct num delta = counter_delta(counter), interval = sample_interval_ns(host);
	double seconds = (double)interval.val / 1e9;
	bool is_fatal = !strcmp(counter->name, "fatal"), is_correctable = !strcmp(counter->name, "correctable");
	struct finding *f;

	if (!delta.err && !interval.err &&
	    delta.val > (is_correctable ? (int64_t)(CORRECTABLE_PER_SECOND * seconds) : 0)) {
		f = (is_fatal ? fail : warn)(v, host, port->name, "%" PRId64 " %s PCIe error%s of %s (%s) in %.1f s",
					     delta.val, counter->name, delta.val == 1 ? "" : "s", pci->bdf,
					     role_words(pci, port), seconds);
		expected(v, f,
			 is_correctable ? "PCI Express: a bit error rate of 1e-12, with room"
					: "PCI Express: errors that nothing corrects",
			 is_correctable ? "at most %d a second" : "none", CORRECTABLE_PER_SECOND);
	} else if (is_fatal && !counter->first.err && counter->first.val > 0) {
		f = warn(v, host, port->name,
			 "%" PRId64 " fatal PCIe error%s of %s (%s) since boot: the link was reset", counter->first.val,
			 counter->first.val == 1 ? "" : "s", pci->bdf, role_words(pci, port));
		expected(v, f, "PCI Express: errors that nothing corrects", "none");
	} else {
		return false;
	}
	explain(v, f, host, pci, counter);
	return true;
}

/* Worst first, and one finding a device: a fatal error comes with others. */
static void judge_device(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
			 const struct pci_dev *pci, struct aer_look *look)
{
	static const char *const names[] = { "fatal", "nonfatal", "correctable" };

	look->n_devices += pci->n_aer > 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct counter *counter = counter_find(pci->aer, pci->n_aer, names[i]);

		if (!counter)
			continue;
		if (value_gap(counter->first.err) == GAP_UNREADABLE)
			look->gap = counter->first;
		if (judge_total(v, host, port, pci, counter)) {
			look->n_trouble++;
			return;
		}
	}
}

/* Bridges are shared: each is judged at the first used port below it. */
static bool is_judged_here(const struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
			   const struct pci_dev *pci)
{
	for (size_t i = 0; i < host->n_ports && host->ports[i] != port; i++)
		if (fabric_port_is_used(v->fabric, host->ports[i]))
			for (const struct pci_dev *at = host->ports[i]->dev->pci; at; at = at->parent)
				if (at == pci)
					return false;
	return true;
}

static void judge_port(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct pci_dev *function = judged_function(v, host, port);
	struct aer_look look = { 0 };

	if (function && !is_judged_here(v, host, port, function)) {
		skip(v, host, port->name, "shares its PCI function with a port that is judged already");
		return;
	}
	for (const struct pci_dev *pci = function; pci; pci = pci->parent)
		if (is_judged_here(v, host, port, pci))
			judge_device(v, host, port, pci, &look);
	if (!function || look.n_trouble)
		return;
	if (look.gap.err)
		unread(v, host, port->name, "PCIe errors", look.gap);
	else if (look.n_devices == 0)
		skip(v, host, port->name,
		     "no PCIe error counters (AER): the platform's firmware keeps them, or it is a virtual machine");
	else if (sample_interval_ns(host).err)
		skip(v, host, port->name, "one sample only (--level probe takes two); no fatal PCIe error since boot");
	else
		pass(v, host, port->name, "no PCIe errors of note at %s in %.1f s", function->bdf,
		     (double)sample_interval_ns(host).val / 1e9);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	each_used_port(v, host, judge_port);
}

const struct check check_link_health = {
	.id = "link.health",
	.title = "The NIC and the bridges above it report no PCIe errors but the odd corrected one",
	.why = "a card that is badly seated or short of power sends again what PCIe loses, and in the end resets with "
	       "the job on it",
	.remedy = "read the kernel log for AER lines, reseat the card or its riser, update the system's firmware",
	.source = "Linux kernel documentation: aer_dev_correctable, aer_dev_nonfatal, aer_dev_fatal in sysfs",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.run = run,
};
