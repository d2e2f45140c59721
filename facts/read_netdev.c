// SPDX-License-Identifier: Apache-2.0
/* Network devices: what rtnetlink says about all of them, what ethtool says about those that matter to the fabric. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include "core/text.h"
#include "facts/reading.h"

#define NET "/sys/class/net"

/* ---- all netdevs ---- */

static void read_link(struct reading *r, struct netdev *netdev, const struct nl_object *object)
{
	static const char what[] = "rtnl link";
	struct num index = reading_nl_num(r, what, object, "index");
	struct text name = reading_nl_text(r, what, object, "ifname");

	netdev->name = name.err ? object->key : name.val;
	netdev->index = index.err ? 0 : (unsigned)index.val;
	netdev->kind = reading_nl_text(r, what, object, "linkinfo/kind");
	if (netdev->kind.err == EOPNOTSUPP) /* plain hardware has none */
		netdev->kind.err = ENOENT;
	netdev->type = reading_nl_num(r, what, object, "type");
	netdev->flags = reading_nl_num(r, what, object, "flags");
	netdev->mac = reading_nl_text(r, what, object, "address");
	netdev->permanent_mac = reading_nl_text(r, what, object, "perm_address");
	netdev->carrier = reading_nl_num(r, what, object, "carrier");
	netdev->oper_state = reading_nl_num(r, what, object, "operstate");
	netdev->mtu = reading_nl_num(r, what, object, "mtu");
	netdev->max_mtu = reading_nl_num(r, what, object, "max_mtu");
	if (num_is(netdev->max_mtu, 0)) /* the driver sets no limit */
		netdev->max_mtu = num_err(VALUE_PLACEHOLDER, netdev->max_mtu.origin);
	netdev->vlan_id = reading_nl_num(r, what, object, "linkinfo/data/id");
	if (netdev->kind.err || strcmp(netdev->kind.val, "vlan"))
		netdev->vlan_id = num_err(VALUE_NOT_ASKED, NULL);
	netdev->is_loopback = !netdev->flags.err && (netdev->flags.val & IFF_LOOPBACK);
	netdev->is_ipoib = num_is(netdev->type, ARPHRD_INFINIBAND);
}

static struct text bond_mode_of(struct num mode)
{
	static const char *const names[] = { "balance-rr", "active-backup", "balance-xor", "broadcast",
					     "802.3ad",	   "balance-tlb",   "balance-alb" };

	if (mode.err)
		return text_err(mode.err, mode.origin);
	if (mode.val < 0 || mode.val >= (int64_t)(sizeof(names) / sizeof(*names)))
		return text_err(VALUE_MALFORMED, mode.origin);
	return text_of(names[mode.val], mode.origin);
}

static void read_stacking(struct reading *r, struct netdev *netdev, const struct nl_object *object)
{
	struct num master = reading_nl_num(r, "rtnl link", object, "master");
	struct num link = reading_nl_num(r, "rtnl link", object, "link");

	if (!master.err)
		netdev->master = netdev_by_index(r->snap, master.val);
	/*
	 * With link_netnsid the index counts in another namespace. A veth's link is its other end, not something below.
	 * 
	 */
	if (!link.err && !attr_find(object->attrs, "link_netnsid") &&
	    (netdev->kind.err || strcmp(netdev->kind.val, "veth")))
		netdev->lower = netdev_by_index(r->snap, link.val);
	if (netdev->lower == netdev)
		netdev->lower = NULL;
	if (!netdev->kind.err && !strcmp(netdev->kind.val, "bond"))
		netdev->bond_mode = bond_mode_of(reading_nl_num(r, "rtnl link", object, "linkinfo/data/mode"));
	else
		netdev->bond_mode = text_err(VALUE_NOT_ASKED, NULL);
}

static int64_t object_index(const struct nl_object *object)
{
	return attr_num(object->attrs, "index", NULL).val;
}

static int compare_object_index(const void *a, const void *b)
{
	int64_t x = object_index(a), y = object_index(b);

	return x < y ? -1 : x > y;
}

/* Nothing was asked about it yet; read_netdev_details() comes back for those that matter. */
static void details_not_asked(struct netdev *netdev)
{
	const struct num num = num_err(VALUE_NOT_ASKED, NULL);
	const struct text text = text_err(VALUE_NOT_ASKED, NULL);
	struct counter *const counters[] = { &netdev->carrier_changes, &netdev->carrier_up, &netdev->carrier_down };
	struct num *const nums[] = {
		&netdev->speed_mbps,	   &netdev->duplex,	   &netdev->autoneg,	       &netdev->lanes,
		&netdev->link_detected,	   &netdev->ext_state,	   &netdev->ext_substate,      &netdev->pause_autoneg,
		&netdev->pause_rx,	   &netdev->pause_tx,	   &netdev->channels_combined, &netdev->channels_max,
		&netdev->module_length_cm, &netdev->module_present
	};
	struct text *const texts[] = { &netdev->driver,	     &netdev->driver_version, &netdev->fw_version,
				       &netdev->bus,	     &netdev->fec_active,     &netdev->module_vendor,
				       &netdev->module_part, &netdev->module_serial,  &netdev->module_kind };
	static const char *const names[] = { "carrier_changes", "carrier_up_count", "carrier_down_count" };

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		*counters[i] = (struct counter){ .name = names[i], .first = num, .second = num };
	for (size_t i = 0; i < sizeof(nums) / sizeof(*nums); i++)
		*nums[i] = num;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		*texts[i] = text;
}

#define STACK_DEPTH_MAX 16 /* netdevs on top of each other; the kernel allows 8 */

/* Only a made-up snapshot stands in a ring; whoever walks a stack may trust that it ends. */
static void cut_loops(struct snapshot *snap)
{
	for (size_t i = 0; i < snap->n_netdevs; i++) {
		const struct netdev *lower = &snap->netdevs[i], *master = lower;
		int depth = 0;

		while (depth < STACK_DEPTH_MAX && (lower || master)) {
			lower = lower ? lower->lower : NULL;
			master = master ? master->master : NULL;
			depth++;
		}
		if (lower)
			snap->netdevs[i].lower = NULL;
		if (master)
			snap->netdevs[i].master = NULL;
	}
}

/* ---- addresses ---- */

/*
 * IPv4 first, wide scopes first, the kernel's primary addresses before secondary ones: the same order however they
 * came.
 */
static int compare_addrs(const void *a, const void *b)
{
	const struct ip_addr *x = a, *y = b;

	if (x->family != y->family)
		return x->family == AF_INET ? -1 : 1;
	if (x->scope != y->scope)
		return x->scope - y->scope;
	if (x->is_secondary != y->is_secondary)
		return x->is_secondary ? 1 : -1;
	return memcmp(x->raw, y->raw, sizeof(x->raw)) ?: (int)x->prefix_len - (int)y->prefix_len;
}

static void read_address(struct reading *r, const struct nl_object *object)
{
	static const char what[] = "rtnl address";
	struct num index = reading_nl_num(r, what, object, "index");
	struct num family = reading_nl_num(r, what, object, "family");
	struct text local = reading_nl_text(r, what, object, "local");
	struct num flags = reading_nl_num(r, what, object, "flags");
	const struct netdev *netdev = index.err ? NULL : netdev_by_index(r->snap, index.val);
	struct netdev *own;
	struct ip_addr *addr, parsed = { 0 };

	if (local.err) /* IPv6 has no separate local address unless it is point to point */
		local = reading_nl_text(r, what, object, "address");
	if (!netdev || local.err || family.err || (family.val != AF_INET && family.val != AF_INET6) ||
	    inet_pton((int)family.val, local.val, parsed.raw) != 1)
		return;
	own = &r->snap->netdevs[netdev - r->snap->netdevs];
	addr = arena_push(r->arena, &own->addrs, &own->n_addrs);
	*addr = parsed;
	addr->family = (int)family.val;
	addr->text = local.val;
	addr->prefix_len = (unsigned)reading_nl_num(r, what, object, "prefixlen").val;
	addr->scope = (int)reading_nl_num(r, what, object, "scope").val;
	if (flags.err)
		flags.val = 0;
	addr->is_permanent = flags.val & IFA_F_PERMANENT;
	addr->is_tentative = flags.val & IFA_F_TENTATIVE;
	addr->is_dadfailed = flags.val & IFA_F_DADFAILED;
	addr->is_secondary = family.val == AF_INET && (flags.val & IFA_F_SECONDARY);
}

static void read_addresses(struct reading *r)
{
	const struct nl_object *objects;
	size_t n;

	if (source_nl(r->source, "rtnl", "address", NULL, r->arena, &objects, &n))
		return;
	for (size_t i = 0; i < n; i++)
		read_address(r, &objects[i]);
	for (size_t i = 0; i < r->snap->n_netdevs; i++)
		if (r->snap->netdevs[i].n_addrs)
			qsort(r->snap->netdevs[i].addrs, r->snap->netdevs[i].n_addrs, sizeof(struct ip_addr),
			      compare_addrs);
}

void read_netdevs(struct reading *r)
{
	struct snapshot *snap = r->snap;
	const struct nl_object *objects;
	struct nl_object *sorted;
	size_t n = 0;
	int err = source_nl(r->source, "rtnl", "link", NULL, r->arena, &objects, &n);

	snap->netdevs_listed = err ? num_err(-err, "rtnl link") : num_of((int64_t)n, "rtnl link");
	if (err)
		return;
	sorted = arena_array(r->arena, n, sizeof(*sorted));
	if (n)
		memcpy(sorted, objects, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare_object_index);
	snap->netdevs = arena_array(r->arena, n, sizeof(*snap->netdevs));
	snap->n_netdevs = n;
	for (size_t i = 0; i < n; i++) {
		read_link(r, &snap->netdevs[i], &sorted[i]);
		details_not_asked(&snap->netdevs[i]);
	}
	for (size_t i = 0; i < n; i++)
		read_stacking(r, &snap->netdevs[i], &sorted[i]);
	cut_loops(snap);
	read_addresses(r);
}

const struct netdev *netdev_by_index(const struct snapshot *snap, int64_t index)
{
	size_t low = 0, high = snap->n_netdevs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (snap->netdevs[middle].index == index)
			return &snap->netdevs[middle];
		if (snap->netdevs[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* ---- ethtool, for the few that matter ---- */

/* The one answer about `dev`; NULL and the errno if there is none. */
static const struct nl_object *ethtool_ask(struct reading *r, const char *command, const char *dev, int *ret_err)
{
	const struct nl_object *objects = NULL;
	size_t n = 0;
	int err = source_nl(r->source, "ethtool", command, dev, r->arena, &objects, &n);

	*ret_err = err ? -err : n ? 0 : ENODATA;
	return *ret_err ? NULL : &objects[0];
}

static struct num ethtool_num(struct reading *r, const char *what, const struct nl_object *object, int err,
			      const char *attr)
{
	return object ? reading_nl_num(r, what, object, attr) : num_err(err, arena_strdup(r->arena, what));
}

static struct num speed_of(const struct netdev *netdev, struct num speed)
{
	if (speed.err)
		return speed;
	if (speed.val <= 0 || speed.val >= UINT32_MAX || !num_is(netdev->carrier, 1))
		return num_err(VALUE_PLACEHOLDER, speed.origin);
	return speed;
}

/* ETHTOOL_A_LINKMODES_DUPLEX: 0 half, 1 full, 255 unknown. */
static struct num duplex_of(struct num duplex)
{
	return !duplex.err && duplex.val > 1 ? num_err(VALUE_PLACEHOLDER, duplex.origin) : duplex;
}

/*
 * Names of the bits that are set. A set without a mask lists only these; one with a mask lists all that are supported.
 * 
 */
static const char **mode_names(struct reading *r, const struct nl_object *object, const char *set, size_t *ret_n)
{
	const struct attr *bitset = attr_find(object->attrs, set);
	const struct attr *bits = bitset ? attr_find(bitset->child, "bits") : NULL;
	bool has_mask = bitset && !attr_find(bitset->child, "nomask");
	const char **names = NULL;

	for (const struct attr *bit = bits ? bits->child : NULL; bit; bit = bit->next) {
		const struct attr *name = attr_find(bit->child, "name");

		if (name && name->text && (!has_mask || attr_find(bit->child, "value")))
			*arena_push(r->arena, &names, ret_n) = name->text;
	}
	return names;
}

static void read_linkmodes(struct reading *r, struct netdev *netdev)
{
	int err;
	const struct nl_object *object = ethtool_ask(r, "linkmodes", netdev->name, &err);
	const char *what = "ethtool linkmodes";

	netdev->speed_mbps = speed_of(netdev, ethtool_num(r, what, object, err, "speed"));
	netdev->duplex = duplex_of(ethtool_num(r, what, object, err, "duplex"));
	netdev->autoneg = ethtool_num(r, what, object, err, "autoneg");
	netdev->lanes = ethtool_num(r, what, object, err, "lanes");
	if (!object)
		return;
	netdev->modes_ours = mode_names(r, object, "ours", &netdev->n_modes_ours);
	netdev->modes_peer = mode_names(r, object, "peer", &netdev->n_modes_peer);
}

static void read_linkstate(struct reading *r, struct netdev *netdev)
{
	int err;
	const struct nl_object *object = ethtool_ask(r, "linkstate", netdev->name, &err);
	const char *what = "ethtool linkstate";

	netdev->link_detected = ethtool_num(r, what, object, err, "link");
	netdev->ext_state = ethtool_num(r, what, object, err, "ext_state");
	netdev->ext_substate = ethtool_num(r, what, object, err, "ext_substate");
}

static struct text fec_name(struct num mode)
{
	static const struct {
		const char *name;
		int64_t bit; /* ETHTOOL_LINK_MODE_FEC_…_BIT */
	} names[] = { { "None", 49 }, { "RS", 50 }, { "BASER", 51 }, { "LLRS", 74 } };

	if (mode.err)
		return text_err(mode.err, mode.origin);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].bit == mode.val)
			return text_of(names[i].name, mode.origin);
	return text_err(VALUE_PLACEHOLDER, mode.origin);
}

static void read_settings(struct reading *r, struct netdev *netdev)
{
	const struct nl_object *object;
	int err;

	object = ethtool_ask(r, "fec", netdev->name, &err);
	netdev->fec_active = fec_name(ethtool_num(r, "ethtool fec", object, err, "active"));
	object = ethtool_ask(r, "pause", netdev->name, &err);
	netdev->pause_autoneg = ethtool_num(r, "ethtool pause", object, err, "autoneg");
	netdev->pause_rx = ethtool_num(r, "ethtool pause", object, err, "rx");
	netdev->pause_tx = ethtool_num(r, "ethtool pause", object, err, "tx");
	object = ethtool_ask(r, "channels", netdev->name, &err);
	netdev->channels_combined = ethtool_num(r, "ethtool channels", object, err, "combined_count");
	netdev->channels_max = ethtool_num(r, "ethtool channels", object, err, "combined_max");
}

static struct text text_or_absent(struct text text)
{
	return !text.err && (!*text.val || !strcmp(text.val, "N/A")) ? text_err(ENODEV, text.origin) : text;
}

static void read_drvinfo(struct reading *r, struct netdev *netdev)
{
	const json_t *json = NULL;
	const char *origin = arena_printf(r->arena, "ethtool driver information of %s", netdev->name);
	int err = source_fact(r->source, arena_printf(r->arena, "ethtool/drvinfo/%s", netdev->name), &json);

	netdev->driver = reading_json_text(r, json, err, "driver", origin);
	netdev->driver_version = reading_json_text(r, json, err, "version", origin);
	netdev->fw_version = text_or_absent(reading_json_text(r, json, err, "fw_version", origin));
	netdev->bus = text_or_absent(reading_json_text(r, json, err, "bus_info", origin));
}

static void read_module(struct reading *r, struct netdev *netdev)
{
	const json_t *json = NULL;
	const char *origin = arena_printf(r->arena, "module EEPROM of %s", netdev->name);
	int err = source_fact(r->source, arena_printf(r->arena, "ethtool/module/%s", netdev->name), &json);

	netdev->module_vendor = reading_json_text(r, json, err, "vendor", origin);
	netdev->module_part = reading_json_text(r, json, err, "part", origin);
	netdev->module_serial = reading_json_text(r, json, err, "serial", origin);
	netdev->module_kind = reading_json_text(r, json, err, "kind", origin);
	netdev->module_length_cm = reading_json_num(json, err, "length_cm", origin);
	netdev->module_present = err ? num_err(-err, origin) : num_of(1, origin);
}

static void read_carrier(struct reading *r, struct netdev *netdev)
{
	struct counter *const counters[] = { &netdev->carrier_changes, &netdev->carrier_up, &netdev->carrier_down };

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		counters[i]->first = reading_num(r, NET "/%s/%s", netdev->name, counters[i]->name);
}

static int compare_counters(const void *a, const void *b)
{
	return strcmp(((const struct counter *)a)->name, ((const struct counter *)b)->name);
}

static void read_stats(struct reading *r, struct netdev *netdev)
{
	const json_t *json = NULL;
	const char *key = arena_printf(r->arena, "ethtool/stats/%s", netdev->name);
	const char *origin = arena_printf(r->arena, "ethtool statistics of %s", netdev->name);
	const char *name;
	json_t *value;
	int err = source_fact(r->source, key, &json);

	if (err)
		return;
	json_object_foreach ((json_t *)json, name, value) {
		struct counter *counter;

		if (!json_is_integer(value))
			continue;
		counter = arena_push(r->arena, &netdev->stats, &netdev->n_stats);
		counter->name = arena_strdup(r->arena, name);
		counter->first = num_of(json_integer_value(value), origin);
		counter->second = num_err(VALUE_NOT_ASKED, NULL);
	}
	if (netdev->n_stats)
		qsort(netdev->stats, netdev->n_stats, sizeof(*netdev->stats), compare_counters);
}

static void read_details(struct reading *r, struct netdev *netdev)
{
	struct text phy;

	read_carrier(r, netdev);
	read_linkmodes(r, netdev);
	read_linkstate(r, netdev);
	read_settings(r, netdev);
	read_drvinfo(r, netdev);
	read_stats(r, netdev);
	if (netdev->pci) {
		phy = reading_link(r, NET "/%s/phy80211", netdev->name);
		netdev->is_wireless = !phy.err;
	}
	if (netdev->port && !netdev->is_ipoib)
		read_module(r, netdev);
	else if (netdev->master && netdev->master->port)
		read_module(r, netdev);
}

/*
 * A host may have hundreds of veths; six questions about each would take longer than all else. Those asked about: under
 * an RDMA port, stacked on or below one of these, and real hardware.
 */
static bool netdev_matters(const struct netdev *netdev)
{
	const struct netdev *lower = netdev->lower;

	if (netdev->is_loopback)
		return false;
	if (netdev->port || netdev->pci || (netdev->master && netdev->master->port))
		return true;
	return lower && (lower->port || (lower->master && lower->master->port));
}

static bool is_master_of_port(const struct snapshot *snap, const struct netdev *netdev)
{
	for (size_t i = 0; i < snap->n_ports; i++) {
		const struct netdev *below = snap->ports[i]->netdev;

		if (below && below->master == netdev)
			return true;
	}
	return false;
}

void read_netdev_details(struct reading *r)
{
	for (size_t i = 0; i < r->snap->n_netdevs; i++)
		if (netdev_matters(&r->snap->netdevs[i]) || is_master_of_port(r->snap, &r->snap->netdevs[i]))
			read_details(r, &r->snap->netdevs[i]);
}

/* ---- second sample ---- */

static void reread_stats(struct reading *r, struct netdev *netdev)
{
	const json_t *json = NULL;
	int err = source_fact(r->source, arena_printf(r->arena, "ethtool/stats/%s", netdev->name), &json);

	for (size_t i = 0; i < netdev->n_stats; i++)
		netdev->stats[i].second = reading_json_num(json, err, netdev->stats[i].name,
							   netdev->stats[i].first.origin);
}

void reread_netdevs(struct reading *r)
{
	for (size_t n = 0; n < r->snap->n_netdevs; n++) {
		struct netdev *netdev = &r->snap->netdevs[n];
		struct counter *const counters[] = { &netdev->carrier_changes, &netdev->carrier_up,
						     &netdev->carrier_down };

		if (!netdev->carrier_changes.first.origin) /* never asked */
			continue;
		for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
			counters[i]->second = source_num(r->source, r->arena, counters[i]->first.origin);
		if (netdev->n_stats)
			reread_stats(r, netdev);
	}
}
