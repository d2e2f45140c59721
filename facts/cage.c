// SPDX-License-Identifier: Apache-2.0
/*
 * Which ports share a connector. On a DGX Spark the ConnectX-7 shows each of its two cages twice, once for each half of
 * the chip (PCI domains 0000 and 0002); the function number tells the cage. Names and serial numbers do not: guides
 * that pair by PCI domain are wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "facts/fabric_build.h"

#define SPARK_BOARD "NVD0000000087"
#define VENDOR_MELLANOX 0x15b3
#define DEVICE_CONNECTX7 0x1021
#define CAGES_MAX 8 /* as many as a PCI device has functions */

static bool is_twin_function(const struct pci_dev *pci)
{
	return pci && num_is(pci->vendor, VENDOR_MELLANOX) && num_is(pci->device, DEVICE_CONNECTX7) && !pci->is_vf &&
	       (!strncmp(pci->bdf, "0000:", 5) || !strncmp(pci->bdf, "0002:", 5));
}

static bool text_has(struct text text, const char *part)
{
	return !text.err && strstr(text.val, part);
}

/*
 * Just the four functions of a Spark's ConnectX-7 and no other NIC of its maker: a Grace server has such cards too, in
 * the same domains, but in slots of its own and seldom alone.
 */
static bool has_spark_functions(const struct snapshot *host)
{
	static const char *const bdfs[] = { "0000:01:00.0", "0000:01:00.1", "0002:01:00.0", "0002:01:00.1" };
	const size_t n_bdfs = sizeof(bdfs) / sizeof(*bdfs);
	unsigned found = 0;

	for (size_t i = 0; i < host->n_nics; i++) {
		const struct pci_dev *pci = host->nics[i];
		size_t at = 0;

		if (!num_is(pci->vendor, VENDOR_MELLANOX) || pci->is_vf)
			continue;
		while (at < n_bdfs && strcmp(pci->bdf, bdfs[at]) != 0)
			at++;
		if (at == n_bdfs || !is_twin_function(pci))
			return false;
		found |= 1u << at;
	}
	return found == (1u << n_bdfs) - 1;
}

/* GB10 machines of other makers have DMI names of their own, so the NIC's board id or its shape decides there. */
static bool is_spark(const struct snapshot *host)
{
	if (host->id.arch.err || strcmp(host->id.arch.val, "aarch64"))
		return false;
	if (text_has(host->id.dmi_product, "DGX_Spark") || text_has(host->id.dmi_product, "DGX Spark"))
		return true;
	for (size_t i = 0; i < host->n_devs; i++)
		if (!host->devs[i].board_id.err && !strcmp(host->devs[i].board_id.val, SPARK_BOARD))
			return true;
	return has_spark_functions(host);
}

/* On a Spark: the cage's number, or -1 for a port alone in its cage. */
static int cage_number(const struct rdma_port *port)
{
	const struct pci_dev *pci = port->dev->pci;
	int number = is_twin_function(pci) ? pci->bdf[strlen(pci->bdf) - 1] - '0' : -1;

	return number < CAGES_MAX ? number : -1;
}

/* `numbered`: this host's cages with a number. The others are looked for by nobody: a host may have very many ports. */
static void add_to_cage(struct build *b, const struct snapshot *host, struct port_info *info, struct cage **numbered)
{
	struct fabric *fabric = b->fabric;
	struct cage *cage = numbered ? *numbered : NULL;

	if (!cage) {
		cage = &fabric->cages[fabric->n_cages++];
		cage->host = host;
		cage->name = info->port->name;
	}
	if (numbered && !*numbered) {
		cage->name = arena_printf(b->arena, "cage %d", cage_number(info->port));
		*numbered = cage;
	}
	*arena_push(b->arena, &cage->ports, &cage->n_ports) = info->port;
	info->cage = cage;
}

void build_cages(struct build *b)
{
	struct fabric *fabric = b->fabric;

	fabric->cages = arena_array(b->arena, fabric->n_infos, sizeof(*fabric->cages));
	for (size_t h = 0; h < fabric->n_hosts; h++) {
		const struct snapshot *host = fabric->hosts[h];
		struct cage *numbered[CAGES_MAX] = { NULL };
		bool spark = is_spark(host);

		for (size_t p = 0; p < host->n_ports; p++) {
			int number = spark ? cage_number(host->ports[p]) : -1;

			add_to_cage(b, host, &fabric->ports[h][p], number < 0 ? NULL : &numbered[number]);
		}
	}
}
