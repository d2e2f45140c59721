// SPDX-License-Identifier: Apache-2.0
/* RDMA devices, their ports, GID tables and counters; which netdev and which uverbs device belongs to each. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "facts/reading.h"

#define IB "/sys/class/infiniband"

/* Numbers of IBTA's PortInfo:PortState, as state files and netlink give them, are one less than enum port_state's. */
static struct num port_state_of(struct num raw)
{
	if (!raw.err && raw.val >= 0 && raw.val <= PORT_ACTIVE_DEFER - PORT_NOP)
		raw.val += PORT_NOP;
	else if (!raw.err)
		raw = num_err(VALUE_MALFORMED, raw.origin);
	return raw;
}

/* The number before the colon of "4: ACTIVE". The word is not looked at: "state DOWN physical_state LINK_UP" exists. */
static struct num leading_num(struct text text)
{
	char *end;
	long val;

	if (text.err)
		return num_err(text.err, text.origin);
	val = strtol(text.val, &end, 10);
	if (end == text.val || *end != ':')
		return num_err(VALUE_MALFORMED, text.origin);
	return num_of(val, text.origin);
}

static struct num link_layer_of(struct text text)
{
	if (text.err)
		return num_err(text.err, text.origin);
	if (!strcmp(text.val, "Ethernet"))
		return num_of(LINK_LAYER_ETHERNET, text.origin);
	if (!strcmp(text.val, "InfiniBand"))
		return num_of(LINK_LAYER_INFINIBAND, text.origin);
	return num_err(VALUE_MALFORMED, text.origin);
}

/* "2.5 Gb/sec (1X SDR)" to 2500. A port that is not ACTIVE, and one without a wire, print a number all the same. */
static struct num rate_of(const struct rdma_port *port)
{
	const char *at = port->rate.val;
	int64_t mbps = 0, unit = 1000;
	char *end;

	if (port->rate.err)
		return num_err(port->rate.err, port->rate.origin);
	if (port->dev->is_soft || !port_is_active(port))
		return num_err(VALUE_PLACEHOLDER, port->rate.origin);
	mbps = strtol(at, &end, 10);
	if (end == at || mbps < 0 || mbps > 1000000)
		return num_err(VALUE_MALFORMED, port->rate.origin);
	mbps *= unit;
	if (*end == '.')
		for (at = end + 1; *at >= '0' && *at <= '9'; at++)
			mbps += (*at - '0') * (unit /= 10);
	else
		at = end;
	if (strncmp(at, " Gb/sec", 7))
		return num_err(VALUE_MALFORMED, port->rate.origin);
	return num_of(mbps, port->rate.origin);
}

/* ---- GIDs ---- */

/* "fe80:0000:…" of eight groups to 16 bytes. */
static bool gid_parse(const char *text, uint8_t raw[16])
{
	for (int i = 0; i < 8; i++) {
		char *end;
		unsigned long group = strtoul(text, &end, 16);

		if (end != text + 4 || *end != (i < 7 ? ':' : '\0'))
			return false;
		raw[2 * i] = (uint8_t)(group >> 8);
		raw[2 * i + 1] = (uint8_t)group;
		text = end + 1;
	}
	return true;
}

static enum gid_type gid_type_of(struct text text)
{
	if (text.err)
		return GID_TYPE_UNKNOWN;
	if (!strcmp(text.val, "RoCE v2"))
		return GID_ROCE_V2;
	/* The kernel prints one text for both: only the link layer tells InfiniBand from RoCE v1. */
	if (!strcmp(text.val, "IB/RoCE v1") || !strcmp(text.val, "RoCE v1"))
		return GID_ROCE_V1;
	return !strcmp(text.val, "IB") ? GID_IB : GID_TYPE_UNKNOWN;
}

/* Tables have up to 1,024 slots of which a few are set: nothing is kept of the others. */
static bool gid_is_set(struct reading *r, const char *dir, unsigned index, uint8_t raw[16])
{
	static const uint8_t unset[16];
	struct text text = source_text(r->source, r->scratch, arena_printf(r->scratch, "%s/%u", dir, index));

	return !text.err && gid_parse(text.val, raw) && memcmp(raw, unset, sizeof(unset));
}

static void read_gid(struct reading *r, struct rdma_port *port, const char *base, unsigned index, const uint8_t raw[16])
{
	struct gid *gid = arena_push(r->arena, &port->gids, &port->n_gids);
	struct text type = reading_text(r, "%s/gid_attrs/types/%u", base, index), ndev;

	gid->index = index;
	memcpy(gid->raw, raw, sizeof(gid->raw));
	gid->text = reading_text(r, "%s/gids/%u", base, index).val;
	gid->type = gid_type_of(type);
	gid->type_err = type.err;
	if (num_is(port->link_layer, LINK_LAYER_INFINIBAND) && gid->type == GID_ROCE_V1)
		gid->type = GID_IB;
	if (!port_is_ethernet(port))
		return;
	ndev = reading_text(r, "%s/gid_attrs/ndevs/%u", base, index);
	if (!ndev.err)
		gid->netdev = snapshot_find_netdev(r->snap, ndev.val);
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/* Entries of a table directory: its names as sorted numbers. -errno if it cannot be listed. */
static int list_numbers(struct reading *r, const char *path, uint64_t **ret, size_t *ret_n)
{
	const char **names;
	size_t n, used = 0;
	int err = source_list(r->source, path, r->scratch, &names, &n);

	if (err)
		return err;
	*ret = arena_array(r->scratch, n, sizeof(**ret));
	for (size_t i = 0; i < n; i++)
		if (text_parse_u64(names[i], &(*ret)[used]) && (*ret)[used] <= UINT16_MAX)
			used++;
	qsort(*ret, used, sizeof(**ret), compare_u64);
	*ret_n = used;
	return 0;
}

/* Where the verbs library tells which slots are set, nobody has to look through all of them. */
static int told_slots(struct reading *r, const json_t *verbs, uint64_t **ret, size_t *ret_n)
{
	const json_t *indices = json_object_get(verbs, "gids");
	size_t n = json_array_size(indices);

	if (!json_is_array(indices) || n > UINT16_MAX)
		return -ENODATA;
	*ret = arena_array(r->scratch, n, sizeof(**ret));
	*ret_n = 0;
	for (size_t i = 0; i < n; i++) {
		json_int_t index = json_integer_value(json_array_get(indices, i));

		if (index >= 0 && index <= UINT16_MAX)
			(*ret)[(*ret_n)++] = (uint64_t)index;
	}
	if (*ret_n)
		qsort(*ret, *ret_n, sizeof(**ret), compare_u64);
	return 0;
}

static void read_gids(struct reading *r, struct rdma_port *port, const char *base, const json_t *verbs)
{
	const char *dir = arena_printf(r->arena, "%s/gids", base);
	uint64_t *slots;
	size_t n;
	int err = told_slots(r, verbs, &slots, &n);

	if (!err) {
		port->gid_slots = reading_json_num(verbs, 0, "gid_tbl_len", arena_printf(r->arena, "ibv_query_port %s", port->name));
	} else {
		err = list_numbers(r, dir, &slots, &n);
		port->gid_slots = err ? num_err(-err, dir) : num_of((int64_t)n, dir);
	}
	for (size_t i = 0; !err && i < n; i++) {
		uint8_t raw[16];

		if (gid_is_set(r, dir, (unsigned)slots[i], raw))
			read_gid(r, port, base, (unsigned)slots[i], raw);
	}
}

static void read_pkeys(struct reading *r, struct rdma_port *port, const char *base)
{
	const char *dir = arena_printf(r->arena, "%s/pkeys", base);
	uint64_t *slots;
	size_t n;
	int err = list_numbers(r, dir, &slots, &n);

	if (err) {
		port->pkeys_listed = num_err(-err, dir);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		struct num key = source_num(r->source, r->scratch,
					    arena_printf(r->scratch, "%s/%u", dir, (unsigned)slots[i]));

		/* The top bit is only the kind of membership: a key of 0x0000 or 0x8000 is an empty slot. */
		if (!key.err && (key.val & 0x7fff))
			*arena_push(r->arena, &port->pkeys, &port->n_pkeys) = (uint16_t)key.val;
	}
	port->pkeys_listed = num_of((int64_t)port->n_pkeys, dir);
}

static void read_subnet_prefix(struct reading *r, struct rdma_port *port, const char *base)
{
	const char *origin = arena_printf(r->arena, "%s/gids/0", base);

	if (!num_is(port->link_layer, LINK_LAYER_INFINIBAND))
		port->subnet_prefix = text_err(VALUE_NOT_ASKED, NULL);
	else if (!port->n_gids || port->gids[0].index)
		port->subnet_prefix = text_err(port->gid_slots.err ? port->gid_slots.err : ENODATA, origin);
	else
		port->subnet_prefix = text_of(arena_strndup(r->arena, port->gids[0].text, 19), origin);
}

/* ---- counters ---- */

/*
 * Registers of IBTA's PortCounters are narrow and stick at their top; the kernel hands that out as if it were a count.
 * 
 */
static int64_t register_top(const char *name)
{
	static const struct {
		const char *name;
		int64_t top;
	} narrow[] = {
		{ "excessive_buffer_overrun_errors", 15 },
		{ "local_link_integrity_errors", 15 },
		{ "link_error_recovery", UINT8_MAX },
		{ "link_downed", UINT8_MAX },
		{ "port_xmit_constraint_errors", UINT8_MAX },
		{ "port_rcv_constraint_errors", UINT8_MAX },
		{ "symbol_error", UINT16_MAX },
		{ "port_rcv_errors", UINT16_MAX },
		{ "port_rcv_remote_physical_errors", UINT16_MAX },
		{ "port_rcv_switch_relay_errors", UINT16_MAX },
		{ "port_xmit_discards", UINT16_MAX },
		{ "VL15_dropped", UINT16_MAX },
	};

	for (size_t i = 0; i < sizeof(narrow) / sizeof(*narrow); i++)
		if (!strcmp(narrow[i].name, name))
			return narrow[i].top;
	return UINT32_MAX;
}

/* hw_counters are the driver's own: 32 bits at the narrowest. */
static int64_t counter_top(const char *path, const char *name)
{
	return strstr(path, "/hw_counters/") ? UINT32_MAX : register_top(name);
}

static void read_counters(struct reading *r, const char *dir, struct counter **counters, size_t *n_counters)
{
	const char **names;
	size_t n;

	if (source_list(r->source, dir, r->arena, &names, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		struct counter *counter;
		const char *path;

		if (!strcmp(names[i], "lifespan")) /* how long the kernel caches the others: a setting */
			continue;
		path = arena_printf(r->arena, "%s/%s", dir, names[i]);
		counter = arena_push(r->arena, counters, n_counters);
		counter->name = names[i];
		counter->first = reading_counter(r, path, counter_top(path, names[i]));
		counter->second = num_err(VALUE_NOT_ASKED, NULL);
	}
}

static void reread_counters(struct reading *r, struct counter *counters, size_t n)
{
	for (size_t i = 0; i < n; i++)
		counters[i].second = reading_counter(r, counters[i].first.origin,
						     counter_top(counters[i].first.origin, counters[i].name));
}

/* ---- ports ---- */

/* Only the verbs library tells a port's MTU: neither sysfs nor netlink does. Returns its fact; NULL if there is none. */
static const json_t *read_verbs(struct reading *r, struct rdma_port *port)
{
	const json_t *json = NULL;
	const char *origin = arena_printf(r->arena, "ibv_query_port %s", port->name);
	int err = source_fact(r->source, arena_printf(r->arena, "verbs/%s", port->name), &json);

	if (!err && reading_json_errno(json)) {
		err = -reading_json_errno(json);
		origin = arena_printf(r->arena, "%s: %s", origin,
				      json_string_value(json_object_get(json, "error")) ?: "failed");
	}
	if (err && r->snap->verbs_available.err && r->snap->verbs_error)
		origin = arena_printf(r->arena, "%s: %s", origin, r->snap->verbs_error);
	port->mtu_bytes = reading_json_num(json, err, "active_mtu", origin);
	port->max_mtu_bytes = reading_json_num(json, err, "max_mtu", origin);
	port->width = reading_json_num(json, err, "active_width", origin);
	port->speed = reading_json_num(json, err, "active_speed", origin);
	if (!port_is_active(port) && !err) {
		port->mtu_bytes = num_err(VALUE_PLACEHOLDER, origin);
		port->width = num_err(VALUE_PLACEHOLDER, origin);
		port->speed = num_err(VALUE_PLACEHOLDER, origin);
	}
	return err ? NULL : json;
}

static void read_port(struct reading *r, struct rdma_port *port)
{
	const char *base = arena_printf(r->arena, IB "/%s/ports/%u", port->dev->name, port->number);
	const json_t *verbs;

	port->state = port_state_of(leading_num(reading_text(r, "%s/state", base)));
	port->phys_state = leading_num(reading_text(r, "%s/phys_state", base));
	port->link_layer = link_layer_of(reading_text(r, "%s/link_layer", base));
	port->rate = reading_text(r, "%s/rate", base);
	port->rate_mbps = rate_of(port);
	port->lid = reading_num(r, "%s/lid", base);
	port->sm_lid = reading_num(r, "%s/sm_lid", base);
	port->sm_sl = reading_num(r, "%s/sm_sl", base);
	verbs = read_verbs(r, port);
	read_gids(r, port, base, verbs);
	if (num_is(port->link_layer, LINK_LAYER_INFINIBAND))
		read_pkeys(r, port, base);
	else
		port->pkeys_listed = num_err(VALUE_NOT_ASKED, NULL);
	read_subnet_prefix(r, port, base);
	read_counters(r, arena_printf(r->arena, "%s/counters", base), &port->counters, &port->n_counters);
	read_counters(r, arena_printf(r->arena, "%s/hw_counters", base), &port->hw_counters, &port->n_hw_counters);
}

/* ---- devices ---- */

/* A soft device hangs on no hardware of its own. Old kernels put it under the NIC's, so its own marks count too. */
static void read_driver(struct reading *r, struct rdma_dev *dev)
{
	struct text place = reading_link(r, IB "/%s", dev->name);
	struct text desc = reading_text(r, IB "/%s/node_desc", dev->name);

	dev->driver = reading_link_name(r, IB "/%s/device/driver", dev->name);
	dev->is_soft = !place.err && strstr(place.val, "/virtual/");
	if (desc.err)
		return;
	if (!strcmp(desc.val, "rxe") || !strcmp(desc.val, "Software iWARP stack")) {
		dev->is_soft = true;
		dev->driver = text_of(!strcmp(desc.val, "rxe") ? "rdma_rxe" : "siw", desc.origin);
	}
}

static void read_uverbs(struct reading *r, struct rdma_dev *dev)
{
	const json_t *json = NULL;
	const char *origin = arena_printf(r->arena, "uverbs device of %s", dev->name);
	int err = source_fact(r->source, arena_printf(r->arena, "rdma/uverbs/%s", dev->name), &json);

	dev->uverbs = reading_json_text(r, json, err, "path", origin);
	dev->uverbs_access = reading_json_num(json, err, "access", origin);
	if (!err && reading_json_errno(json))
		dev->uverbs_access = num_err(reading_json_errno(json), dev->uverbs.err ? origin : dev->uverbs.val);
}

/* "1: CA" to "CA". */
static struct text node_type_of(struct text text)
{
	const char *colon = text.err ? NULL : strstr(text.val, ": ");

	return colon ? text_of(colon + 2, text.origin) : text;
}

static struct text text_or_absent(struct text text)
{
	return !text.err && !*text.val ? text_err(ENODEV, text.origin) : text;
}

static void read_ports(struct reading *r, struct rdma_dev *dev)
{
	uint64_t *numbers;
	size_t n;

	if (list_numbers(r, arena_printf(r->arena, IB "/%s/ports", dev->name), &numbers, &n))
		return;
	dev->ports = arena_array(r->arena, n, sizeof(*dev->ports));
	dev->n_ports = n;
	for (size_t i = 0; i < n; i++) {
		struct rdma_port *port = &dev->ports[i];

		port->dev = dev;
		port->number = (unsigned)numbers[i];
		port->name = arena_printf(r->arena, "%s/%u", dev->name, port->number);
		read_port(r, port);
	}
}

static void read_dev(struct reading *r, struct rdma_dev *dev)
{
	dev->node_guid = reading_text(r, IB "/%s/node_guid", dev->name);
	dev->sys_image_guid = reading_text(r, IB "/%s/sys_image_guid", dev->name);
	dev->fw_version = text_or_absent(reading_text(r, IB "/%s/fw_ver", dev->name)); /* empty on soft RoCE */
	dev->board_id = reading_text(r, IB "/%s/board_id", dev->name);
	dev->hca_type = reading_text(r, IB "/%s/hca_type", dev->name);
	dev->node_type = node_type_of(reading_text(r, IB "/%s/node_type", dev->name));
	read_driver(r, dev);
	read_uverbs(r, dev);
	read_ports(r, dev);
}

/* ---- which netdev ---- */

static void port_set_netdev(struct reading *r, struct rdma_port *port, const struct netdev *netdev)
{
	struct netdev *own = netdev ? &r->snap->netdevs[netdev - r->snap->netdevs] : NULL;

	if (!own || port->netdev)
		return;
	port->netdev = own;
	if (!own->port)
		own->port = port;
}

static void port_unset_netdev(struct reading *r, struct rdma_port *port)
{
	struct netdev *own = &r->snap->netdevs[port->netdev - r->snap->netdevs];

	if (own->port == port)
		own->port = NULL;
	port->netdev = NULL;
}

/* netlink names the netdev of an Ethernet port; its index is of its own namespace, so the name must fit as well. */
static void tie_by_netlink(struct reading *r)
{
	const struct nl_object *links;
	size_t n;

	if (source_nl(r->source, "rdma", "link", NULL, r->arena, &links, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		const struct rdma_port *port = snapshot_find_port(r->snap, links[i].key);
		struct text name = reading_nl_text(r, "rdma link", &links[i], "ndev_name");
		struct num index = reading_nl_num(r, "rdma link", &links[i], "ndev_index");
		const struct netdev *netdev = name.err ? NULL : snapshot_find_netdev(r->snap, name.val);

		if (port && netdev && num_is(index, netdev->index))
			port_set_netdev(r, (struct rdma_port *)port, netdev);
	}
}

/*
 * A bond's RDMA device: netlink names the slave that is active now, the GID table the bond whose addresses it carries.
 * A VLAN's GIDs lie in the table of the port below it.
 */
static void tie_by_gid(struct reading *r, struct rdma_port *port)
{
	for (size_t i = 0; i < port->n_gids; i++) {
		const struct netdev *netdev = port->gids[i].netdev;

		while (netdev && netdev->lower)
			netdev = netdev->lower;
		if (netdev && port->netdev && port->netdev->master == netdev && !netdev->kind.err &&
		    !strcmp(netdev->kind.val, "bond"))
			port_unset_netdev(r, port);
		port_set_netdev(r, port, netdev);
	}
}

/* The last eight bytes of an IPoIB address are the port's GUID: the lower half of GID 0. */
static void tie_ipoib(struct reading *r, struct rdma_port *port)
{
	const uint8_t *guid;
	char want[24];

	if (!port->n_gids || port->gids[0].index)
		return;
	guid = port->gids[0].raw + 8;
	snprintf(want, sizeof(want), "%02x:%02x:%02x:%02x:%02x:%02x:%02x:%02x", guid[0], guid[1], guid[2], guid[3],
		 guid[4], guid[5], guid[6], guid[7]);
	for (size_t i = 0; i < r->snap->n_netdevs; i++) {
		const struct netdev *netdev = &r->snap->netdevs[i];
		size_t len = netdev->mac.err || !netdev->is_ipoib || netdev->lower ? 0 : strlen(netdev->mac.val);

		if (len == 59 && !strcmp(netdev->mac.val + len - 23, want))
			port_set_netdev(r, port, netdev);
	}
}

static void tie_netdevs(struct reading *r)
{
	tie_by_netlink(r);
	for (size_t i = 0; i < r->snap->n_ports; i++) {
		struct rdma_port *port = r->snap->ports[i];

		if (port_is_ethernet(port))
			tie_by_gid(r, port);
		else if (num_is(port->link_layer, LINK_LAYER_INFINIBAND))
			tie_ipoib(r, port);
	}
}

/* ---- all ---- */

static void read_verbs_available(struct reading *r)
{
	const json_t *json = NULL;
	int err = source_fact(r->source, "verbs", &json);

	if (!err)
		err = -reading_json_errno(json);
	r->snap->verbs_available = err ? num_err(-err, "libibverbs") : num_of(1, "libibverbs");
	r->snap->verbs_error = json ? reading_json_text(r, json, 0, "error", "libibverbs").val : NULL;
}

static int compare_names(const void *a, const void *b)
{
	return name_compare(*(const char *const *)a, *(const char *const *)b);
}

static void list_ports(struct reading *r)
{
	struct snapshot *snap = r->snap;

	for (size_t i = 0; i < snap->n_devs; i++)
		snap->n_ports += snap->devs[i].n_ports;
	snap->ports = arena_array(r->arena, snap->n_ports, sizeof(*snap->ports));
	for (size_t i = 0, n = 0; i < snap->n_devs; i++)
		for (size_t p = 0; p < snap->devs[i].n_ports; p++)
			snap->ports[n++] = &snap->devs[i].ports[p];
}

/* No RDMA stack is one thing; a container or chroot without sysfs, where nothing can be known, another. */
static bool has_sysfs(struct reading *r)
{
	const char **names;
	size_t n;

	return source_list(r->source, "/sys/class", r->scratch, &names, &n) == 0 && n > 0;
}

void read_rdma(struct reading *r)
{
	struct snapshot *snap = r->snap;
	const char **names;
	size_t n = 0;
	int err = source_list(r->source, IB, r->arena, &names, &n);

	if (err == -ENOENT && !has_sysfs(r))
		snap->devs_listed = num_err(EIO, "/sys/class is empty or not there");
	else
		snap->devs_listed = err ? num_err(-err, IB) : num_of((int64_t)n, IB);
	read_verbs_available(r);
	if (err)
		return;
	if (n)
		qsort(names, n, sizeof(*names), compare_names);
	snap->devs = arena_array(r->arena, n, sizeof(*snap->devs));
	snap->n_devs = n;
	for (size_t i = 0; i < n; i++) {
		snap->devs[i].name = names[i];
		read_dev(r, &snap->devs[i]);
	}
	list_ports(r);
	tie_netdevs(r);
}

void reread_rdma(struct reading *r)
{
	for (size_t i = 0; i < r->snap->n_ports; i++) {
		struct rdma_port *port = r->snap->ports[i];

		reread_counters(r, port->counters, port->n_counters);
		reread_counters(r, port->hw_counters, port->n_hw_counters);
	}
}
