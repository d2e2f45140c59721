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

/* The cage's number, or -1 for a port alone in its cage. */
static int cage_number(const struct rdma_port *port, bool spark)
{
	const struct pci_dev *pci = port->dev->pci;

	return spark && is_twin_function(pci) ? pci->bdf[strlen(pci->bdf) - 1] - '0' : -1;
}

static struct cage *find_cage(struct fabric *fabric, size_t from, const char *name)
{
	for (size_t i = from; i < fabric->n_cages; i++)
		if (!strcmp(fabric->cages[i].name, name))
			return &fabric->cages[i];
	return NULL;
}

static void add_to_cage(struct build *b, size_t first, const struct snapshot *host, struct port_info *info, int number)
{
	const char *name = number < 0 ? info->port->name : arena_printf(b->arena, "cage %d", number);
	struct cage *cage = find_cage(b->fabric, first, name);

	if (!cage) {
		cage = &b->fabric->cages[b->fabric->n_cages++];
		cage->host = host;
		cage->name = name;
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
		bool spark = is_spark(host);
		size_t first = fabric->n_cages;

		for (size_t p = 0; p < host->n_ports; p++)
			add_to_cage(b, first, host, &fabric->ports[h][p], cage_number(host->ports[p], spark));
	}
}
