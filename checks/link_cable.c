/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.cable - what the module says of the cable. Approved passive cables of a DGX Spark call themselves 40G and QSFP28
 * in their legacy fields, so nothing is made of those: only of what is missing, and of copper that is too long.
 */
#include <inttypes.h>
#include <string.h>

#include "checks/check.h"

static const char *module_words(struct arena *arena, const struct netdev *netdev)
{
	const char *words = arena_printf(arena, "%s%s%s", netdev->module_vendor.err ? "" : netdev->module_vendor.val,
					 netdev->module_vendor.err || netdev->module_part.err ? "" : " ",
					 netdev->module_part.err ? "" : netdev->module_part.val);

	if (!netdev->module_kind.err)
		words = arena_printf(arena, "%s%s%s", words, *words ? ", " : "", netdev->module_kind.val);
	if (!netdev->module_length_cm.err && netdev->module_length_cm.val > 0)
		words = arena_printf(arena, "%s%s%g m", words, *words ? ", " : "",
				     (double)netdev->module_length_cm.val / 100);
	return *words ? words : "a module that says nothing of itself";
}

static bool is_passive(const struct netdev *netdev)
{
	return !netdev->module_kind.err && strcasestr(netdev->module_kind.val, "passive");
}

static void judge_module(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
			 const struct netdev *netdev)
{
	const struct threshold *longest = profile_threshold(v->profile, "cable_length_max_cm");
	const char *words = module_words(v->results->arena, netdev);
	struct finding *f;

	if (longest && is_passive(netdev) && !netdev->module_length_cm.err &&
	    netdev->module_length_cm.val > longest->val) {
		f = warn(v, host, port->name, "passive copper of %g m in %s is longer than is safe at this rate (%s)",
			 (double)netdev->module_length_cm.val / 100, netdev->name, words);
		expected_threshold(v, f, longest, "cm");
		remedy_advice(v->results, f, host,
			      "use a shorter cable, or an active or optical one; watch link.errors until then");
	} else {
		f = pass(v, host, port->name, "%s: %s", netdev->name, words);
	}
	saw_num(v, f, host, "cable length", netdev->module_length_cm, "cm");
	saw_text(v, f, host, "part", netdev->module_part);
	saw_text(v, f, host, "serial number", netdev->module_serial);
}

/* Twins show one module: the first of them that is used tells. */
static bool is_told_by_twin(const struct verdicts *v, const struct rdma_port *port)
{
	const struct cage *cage = fabric_port(v->fabric, port)->cage;

	for (size_t i = 0; cage && i < cage->n_ports && cage->ports[i] != port; i++)
		if (fabric_port_is_used(v->fabric, cage->ports[i]) && cage->ports[i]->netdev &&
		    !cage->ports[i]->netdev->module_present.err)
			return true;
	return false;
}

static void judge_port(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	struct num gap = num_err(VALUE_NOT_ASKED, NULL);
	size_t n_modules = 0;

	if (is_told_by_twin(v, port)) {
		skip(v, host, port->name, "shares its cable with a port that is judged already");
		return;
	}
	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct netdev *netdev = &host->netdevs[i];

		if (!port_rides_on(port, netdev) || netdev->module_present.err == VALUE_NOT_ASKED)
			continue;
		if (netdev->module_present.err) {
			gap = netdev->module_present;
		} else {
			judge_module(v, host, port, netdev);
			n_modules++;
		}
	}
	if (n_modules)
		return;
	if (gap.err == VALUE_NOT_ASKED)
		skip(v, host, port->name, "no module to read");
	else
		unread(v, host, port->name, "cable module", gap);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	each_used_port(v, host, judge_port);
}

const struct check check_link_cable = {
	.id = "link.cable",
	.title = "Cables are of a kind and length that carry the rate",
	.why = "a cable at its limit works until it is warm or moved; then bits are lost and every rank waits",
	.remedy = "use a shorter cable, or an active or optical one",
	.source = "the profile's cable_length_max_cm; legacy fields of approved DGX Spark cables mislead and are not "
		  "judged",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.run = run,
};
