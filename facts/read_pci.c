// SPDX-License-Identifier: Apache-2.0
/* PCI functions of network devices and the bridges above them: link speed and width, AER totals; the narrowest link. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "facts/reading.h"

#define PCI "/sys/bus/pci/devices"
#define PCI_CLASS_NETWORK 0x02
#define WIDTH_MAX 64 /* lanes; PCIe ends at 32 */
#define PATH_DEPTH_MAX 32 /* bridges above one function that are followed */

/* "32.0 GT/s PCIe" to 32000 MT/s; older kernels write "8 GT/s". */
static struct num speed_of(struct text text)
{
	int64_t mtps = 0, unit = 1000;
	const char *at;
	char *end;

	if (text.err)
		return num_err(text.err, text.origin);
	if (!strncmp(text.val, "Unknown", 7))
		return num_err(VALUE_PLACEHOLDER, text.origin);
	mtps = strtol(text.val, &end, 10);
	if (end == text.val || mtps <= 0 || mtps > 1000)
		return num_err(VALUE_MALFORMED, text.origin);
	mtps *= unit;
	at = end;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++)
			mtps += (*at - '0') * (unit /= 10);
	return strncmp(at, " GT/s", 5) ? num_err(VALUE_MALFORMED, text.origin) : num_of(mtps, text.origin);
}

static struct num width_of(struct num width)
{
	if (num_is(width, 0) || num_is(width, 255))
		return num_err(VALUE_PLACEHOLDER, width.origin);
	if (!width.err && (width.val < 0 || width.val > WIDTH_MAX))
		return num_err(VALUE_MALFORMED, width.origin);
	return width;
}

/* ---- AER ---- */

/* The TOTAL_ERR_… line of an aer_dev_… file. */
static struct num aer_total(struct text text)
{
	const char *total = text.err ? NULL : strstr(text.val, "TOTAL_ERR_");
	int64_t val = 0;
	char *end;

	if (text.err)
		return num_err(text.err, text.origin);
	total = total ? strchr(total, ' ') : NULL;
	if (total)
		val = strtoll(total + 1, &end, 10);
	if (!total || end == total + 1)
		return num_err(VALUE_MALFORMED, text.origin);
	return num_of(val, text.origin);
}

static void read_aer(struct reading *r, struct pci_dev *pci)
{
	static const char *const names[] = { "correctable", "nonfatal", "fatal" };
	struct counter *aer = arena_array(r->arena, 3, sizeof(*aer));

	for (size_t i = 0; i < 3; i++) {
		aer[i].name = names[i];
		aer[i].first = aer_total(reading_text(r, PCI "/%s/aer_dev_%s", pci->bdf, names[i]));
		aer[i].second = num_err(VALUE_NOT_ASKED, NULL);
		if (aer[i].first.err == ENOENT) /* no AER capability, or the platform's firmware keeps it */
			return;
	}
	pci->aer = aer;
	pci->n_aer = 3;
}

/* ---- one function ---- */

static void read_function(struct reading *r, struct pci_dev *pci)
{
	const char *at = arena_printf(r->arena, PCI "/%s", pci->bdf);

	pci->vendor = reading_num(r, "%s/vendor", at);
	pci->device = reading_num(r, "%s/device", at);
	pci->class_code = reading_num(r, "%s/class", at);
	pci->subsystem_vendor = reading_num(r, "%s/subsystem_vendor", at);
	pci->subsystem_device = reading_num(r, "%s/subsystem_device", at);
	pci->speed_mtps = speed_of(reading_text(r, "%s/current_link_speed", at));
	pci->max_speed_mtps = speed_of(reading_text(r, "%s/max_link_speed", at));
	pci->width = width_of(reading_num(r, "%s/current_link_width", at));
	pci->max_width = width_of(reading_num(r, "%s/max_link_width", at));
	pci->numa_node = reading_num(r, "%s/numa_node", at);
	pci->driver = reading_link_name(r, "%s/driver", at);
	/* Reading VPD goes through the function's config space and takes some NICs seconds: not worth it. */
	pci->vpd_part = text_err(VALUE_NOT_ASKED, NULL);
	pci->vpd_serial = text_err(VALUE_NOT_ASKED, NULL);
	read_aer(r, pci);
}

static struct pci_dev *find_pci(const struct snapshot *snap, const char *bdf, size_t len)
{
	for (size_t i = 0; i < snap->n_pcis; i++)
		if (strlen(snap->pcis[i]->bdf) == len && !memcmp(snap->pcis[i]->bdf, bdf, len))
			return snap->pcis[i];
	return NULL;
}

/* Every function named in a sysfs path, root first, as a chain; returns the last one. NULL if the path names none. */
static struct pci_dev *add_path(struct reading *r, const char *path)
{
	struct pci_dev *above = NULL, *pci;
	size_t len, depth = 0;

	for (; *path && depth < PATH_DEPTH_MAX; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (!is_bdf(path, len))
			continue;
		depth++;
		pci = find_pci(r->snap, path, len);
		if (!pci) {
			pci = arena_alloc(r->arena, sizeof(*pci));
			pci->bdf = arena_strndup(r->arena, path, len);
			pci->parent = above;
			*arena_push(r->arena, &r->snap->pcis, &r->snap->n_pcis) = pci;
			read_function(r, pci);
		}
		above = pci;
	}
	return above;
}

static struct pci_dev *add_bdf(struct reading *r, const char *bdf)
{
	struct text link = reading_link(r, PCI "/%s", bdf);

	/* Without the link the place in the tree is not known, but the function is there. */
	return add_path(r, link.err ? bdf : link.val);
}

static void add_virtual_function(struct reading *r, struct pci_dev *pci)
{
	struct text physfn = reading_link_name(r, PCI "/%s/physfn", pci->bdf);

	if (physfn.err)
		return;
	pci->is_vf = true;
	if (is_bdf(physfn.val, strlen(physfn.val)))
		pci->physfn = add_bdf(r, physfn.val);
}

/* ---- all ---- */

static bool is_network(struct num class_code)
{
	return !class_code.err && class_code.val >> 16 == PCI_CLASS_NETWORK;
}

/* A server has hundreds of functions; only the class of each is read, and kept for none. */
static void add_nics(struct reading *r)
{
	const char **names;
	size_t n;

	if (source_list(r->source, PCI, r->scratch, &names, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		const char *path = arena_printf(r->scratch, PCI "/%s/class", names[i]);

		if (is_bdf(names[i], strlen(names[i])) && is_network(source_num(r->source, r->scratch, path)))
			add_bdf(r, names[i]);
	}
}

static void tie_rdma(struct reading *r)
{
	for (size_t i = 0; i < r->snap->n_devs; i++) {
		struct rdma_dev *dev = &r->snap->devs[i];
		struct text link = reading_link(r, "/sys/class/infiniband/%s", dev->name);

		if (!dev->is_soft && !link.err)
			dev->pci = add_path(r, link.val);
	}
}

static void tie_netdevs(struct reading *r)
{
	for (size_t i = 0; i < r->snap->n_netdevs; i++) {
		struct netdev *netdev = &r->snap->netdevs[i];
		struct text link;

		if (!netdev->kind.err || netdev->is_loopback) /* made by software: a host may have hundreds */
			continue;
		link = reading_link(r, "/sys/class/net/%s", netdev->name);
		if (!link.err)
			netdev->pci = add_path(r, link.val);
	}
}

static int compare_bdf(const void *a, const void *b)
{
	return strcmp((*(struct pci_dev *const *)a)->bdf, (*(struct pci_dev *const *)b)->bdf);
}

void read_pci(struct reading *r)
{
	struct snapshot *snap = r->snap;

	add_nics(r);
	tie_rdma(r);
	tie_netdevs(r);
	for (size_t i = 0; i < snap->n_pcis; i++) /* may grow while it runs: a VF's physical function */
		if (is_network(snap->pcis[i]->class_code))
			add_virtual_function(r, snap->pcis[i]);
	if (snap->n_pcis)
		qsort(snap->pcis, snap->n_pcis, sizeof(*snap->pcis), compare_bdf);
	for (size_t i = 0; i < snap->n_pcis; i++)
		if (is_network(snap->pcis[i]->class_code))
			*arena_push(r->arena, &snap->nics, &snap->n_nics) = snap->pcis[i];
}

void reread_pci(struct reading *r)
{
	for (size_t i = 0; i < r->snap->n_pcis; i++) {
		/* const for readers of the snapshot; made here, not const */
		struct counter *aer = (struct counter *)r->snap->pcis[i]->aer;

		for (size_t a = 0; a < r->snap->pcis[i]->n_aer; a++)
			aer[a].second = aer_total(source_text(r->source, r->arena, aer[a].first.origin));
	}
}

/* ---- the narrowest link ---- */

int64_t pci_link_mbps(int64_t mtps, int64_t width)
{
	if (mtps <= 5000)
		return mtps * width * 8 / 10;
	if (mtps < 64000)
		return mtps * width * 128 / 130;
	return mtps * width; /* flits: no line code */
}

struct num pci_path_mbps(const struct pci_dev *function, const struct pci_dev **ret_narrowest)
{
	struct num least = num_err(VALUE_NOT_ASKED, NULL);
	const struct pci_dev *narrowest = NULL;

	for (const struct pci_dev *at = function; at; at = at->parent) {
		struct num gap = at->speed_mtps.err ? at->speed_mtps : at->width;
		int64_t mbps;

		if (gap.err) {
			if (least.err == VALUE_NOT_ASKED)
				least = num_err(gap.err, gap.origin);
			continue;
		}
		mbps = pci_link_mbps(at->speed_mtps.val, at->width.val);
		if (!narrowest || mbps < least.val) {
			least = num_of(mbps, at->width.origin);
			narrowest = at;
		}
	}
	if (ret_narrowest)
		*ret_narrowest = narrowest;
	return least;
}
