// SPDX-License-Identifier: Apache-2.0
/* link.present - the host has RDMA devices; where it has none, or too few, what is missing: cable, driver, or NIC. */
#include <inttypes.h>
#include <string.h>

#include "checks/check.h"
#include "core/buf.h"

#define VENDOR_MELLANOX 0x15b3

/* Drivers of NICs that can do RoCE, and the module that adds the RDMA device. */
static const struct rdma_driver {
	const char *netdev_driver, *rdma_module;
} drivers[] = {
	{ "mlx5_core", "mlx5_ib" }, { "mlx4_core", "mlx4_ib" }, { "bnxt_en", "bnxt_re" },
	{ "ice", "irdma" },	    { "i40e", "irdma" },	{ "qede", "qedr" },
	{ "cxgb4", "iw_cxgb4" },    { "ionic", "ionic_rdma" },	{ "hns3", "hns_roce_hw_v2" },
};

static bool is_mellanox(const struct pci_dev *nic)
{
	return num_is(nic->vendor, VENDOR_MELLANOX);
}

/* A made-for-RDMA NIC first: a server's onboard port may have a RoCE-capable driver and never be meant for it. */
static const struct pci_dev *rdma_nic(const struct snapshot *host, const char **ret_module)
{
	const struct pci_dev *best = NULL;

	*ret_module = NULL;
	for (size_t i = 0; i < host->n_nics; i++) {
		const struct pci_dev *nic = host->nics[i];
		const char *module = NULL;

		for (size_t d = 0; !nic->driver.err && d < sizeof(drivers) / sizeof(drivers[0]); d++)
			if (!strcmp(nic->driver.val, drivers[d].netdev_driver))
				module = drivers[d].rdma_module;
		if ((!module && !is_mellanox(nic)) || (best && (is_mellanox(best) || !is_mellanox(nic))))
			continue;
		best = nic;
		*ret_module = module;
	}
	return best;
}

/* Who says that there should be a fabric here; NULL: nobody. */
static const char *fabric_wanted(const struct verdicts *v)
{
	const struct threshold *devices = profile_threshold(v->profile, "rdma_devices");

	if (v->profile->ports[0] || (devices && devices->val > 0))
		return arena_printf(v->results->arena, "profile %s", v->profile->name);
	for (size_t i = 0; i < v->fabric->n_hosts; i++)
		if (v->fabric->hosts[i]->n_ports > 0)
			return arena_printf(v->results->arena, "%s has RDMA devices, and is to be reached over them",
					    v->fabric->hosts[i]->name);
	return NULL;
}

static struct finding *found_none(struct verdicts *v, const struct snapshot *host, bool is_fault, const char *message)
{
	const char *wanted = fabric_wanted(v);
	struct finding *f = wanted || is_fault ? fail(v, host, "", "%s", message) : unknown(v, host, "", "%s", message);

	if (host->devs_listed.origin)
		saw_num(v, f, host, "RDMA devices", num_of(0, host->devs_listed.origin), NULL);
	if (wanted)
		expected(v, f, wanted, "at least one RDMA device");
	return f;
}

static void no_cable_by_design(struct verdicts *v, const struct snapshot *host)
{
	struct finding *f = found_none(
		v, host, false,
		"no cable in either cage: the NIC is taken off the bus until one is plugged in (by design)");

	saw_num(v, f, host, "hot-plug of the NIC switched on", host->id.hotplug_enabled, NULL);
	remedy_advice(v->results, f, host,
		      "plug the cable in at both ends, then reboot both hosts: a NIC that comes back without one can "
		      "be slow");
}

static void no_rdma_driver(struct verdicts *v, const struct snapshot *host, const struct pci_dev *nic,
			   const char *module)
{
	struct arena *arena = v->results->arena;
	bool bound = !nic->driver.err;
	struct finding *f;

	if (bound)
		f = found_none(
			v, host, is_mellanox(nic),
			arena_printf(arena,
				     "NIC %s has its driver %s, but no RDMA device: module %s is not there or failed",
				     nic->bdf, nic->driver.val, module ? module : "for RDMA"));
	else
		f = found_none(
			v, host, is_mellanox(nic),
			arena_printf(arena, "NIC %s has no driver: not loaded, or it failed to start", nic->bdf));
	saw_text(v, f, host, arena_printf(arena, "driver of %s", nic->bdf), nic->driver);
	if (module) {
		remedy_command(v->results, f, host, false, NULL, "modprobe %s", module);
		remedy_advice(v->results, f, host, "keep it: install rdma-core, which loads %s for such a NIC at boot",
			      module);
	} else if (is_mellanox(nic)) {
		remedy_command(v->results, f, host, false, NULL, "modprobe mlx5_ib");
		remedy_advice(v->results, f, host,
			      "if it stays away, the kernel log says why: journalctl -k -b -g mlx5");
	}
}

static void judge_none(struct verdicts *v, const struct snapshot *host)
{
	const char *module;
	const struct pci_dev *nic = rdma_nic(host, &module);
	struct finding *f;

	if (value_gap(host->devs_listed.err) == GAP_UNREADABLE) {
		unread(v, host, "", "RDMA devices", host->devs_listed);
		return;
	}
	if (nic) {
		no_rdma_driver(v, host, nic, module);
		return;
	}
	if (num_is(host->id.hotplug_enabled, 1)) {
		no_cable_by_design(v, host);
		return;
	}
	f = found_none(v, host, false, "no RDMA device, and no NIC that could have one");
	remedy_advice(v->results, f, host,
		      "put an RDMA NIC in, pass one through to this guest, or try soft-RoCE: rdma link add NAME type "
		      "rxe netdev DEV");
}

static const char *device_names(struct arena *arena, const struct snapshot *host)
{
	cleanup_buf struct buf names = BUF_INIT;

	for (size_t i = 0; i < host->n_devs; i++)
		buf_addf(&names, "%s%s", i ? ", " : "", host->devs[i].name);
	return arena_strdup(arena, buf_str(&names));
}

/* Names of the profile's devices that are not there; NULL if all are. */
static const char *missing_names(struct verdicts *v, const struct snapshot *host)
{
	const char *missing = NULL;

	for (const char *const *port = v->profile->ports; *port; port++) {
		bool found = false;

		for (size_t i = 0; i < host->n_devs; i++)
			found |= !strcmp(host->devs[i].name, *port);
		if (!found)
			missing = arena_printf(v->results->arena, "%s%s%s", missing ? missing : "", missing ? ", " : "",
					       *port);
	}
	return missing;
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	const struct threshold *wanted = profile_threshold(v->profile, "rdma_devices");
	const char *missing = missing_names(v, host);
	struct finding *f;

	if (host->n_devs == 0) {
		judge_none(v, host);
		return;
	}
	if (missing) {
		f = fail(v, host, "", "RDMA devices that the profile names are not there: %s", missing);
	} else if (wanted && (int64_t)host->n_devs < wanted->val) {
		f = fail(v, host, "", "%zu RDMA device%s where a healthy host has %" PRId64, host->n_devs,
			 host->n_devs == 1 ? "" : "s", wanted->val);
		expected_threshold(v, f, wanted, NULL);
	} else {
		f = pass(v, host, "", "%zu RDMA device%s", host->n_devs, host->n_devs == 1 ? "" : "s");
		saw_text(v, f, host, "RDMA devices",
			 text_of(device_names(v->results->arena, host), host->devs_listed.origin));
		return;
	}
	saw_text(v, f, host, "RDMA devices", text_of(device_names(v->results->arena, host), host->devs_listed.origin));
	remedy_advice(v->results, f, host,
		      "look for the function that is missing in lspci and in journalctl -k -b; a reboot with the cable "
		      "in brings "
		      "back one that hot-plug lost");
}

const struct check check_link_present = {
	.id = "link.present",
	.title = "The host has RDMA devices, as many as its platform should have",
	.why = "without one NCCL falls back to TCP over whatever network it finds, at a tenth of the speed or less",
	.remedy = "plug the cable in, load the driver, or pass the NIC through",
	.source = "/sys/class/infiniband; DGX OS takes a NIC without a cable off the bus",
	.run = run,
};
