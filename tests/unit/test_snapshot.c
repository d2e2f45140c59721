// SPDX-License-Identifier: Apache-2.0
/* The typed readers: values of whole recorded machines, and the traps of single files and attributes. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/buf.h"
#include "facts/reading.h"
#include "facts/snapshot.h"

struct one {
	struct records *records;
	struct source *source;
	struct snapshot *snap;
};

static struct one load(const char *file)
{
	struct one one = { .records = records_new() };
	struct fault fault = { 0 };
	char path[512];

	snprintf(path, sizeof(path), TEST_TOP "/fixtures/hosts/%s", file);
	if (records_load(one.records, path, &fault))
		fail_msg("%s", fault.msg);
	one.snap = snapshot_from_records(one.records, "host", "head", &one.source);
	return one;
}

/* A host out of these lines alone. */
static struct one made(const char *lines)
{
	struct one one = { .records = records_new() };
	struct fault fault = { 0 };
	struct buf text = BUF_INIT;

	buf_addf(&text, "sparkfab-snapshot 1\nhost made\n%send\n", lines);
	if (records_parse(one.records, "made", buf_str(&text), text.len, NULL, NULL, &fault))
		fail_msg("%s", fault.msg);
	buf_release(&text);
	one.snap = snapshot_from_records(one.records, "host", "head", &one.source);
	return one;
}

static void drop(struct one *one)
{
	snapshot_free(one->snap);
	source_free(one->source);
	records_free(one->records);
}

#define assert_num(n, want)                                                                                            \
	do {                                                                                                           \
		assert_int_equal((n).err, 0);                                                                          \
		assert_int_equal((n).val, want);                                                                       \
	} while (0)

#define assert_text(t, want)                                                                                           \
	do {                                                                                                           \
		assert_int_equal((t).err, 0);                                                                          \
		assert_string_equal((t).val, want);                                                                    \
	} while (0)

static const struct rdma_port *port_of(const struct one *one, const char *name)
{
	const struct rdma_port *port = snapshot_find_port(one->snap, name);

	assert_non_null(port);
	return port;
}

static const struct netdev *netdev_of(const struct one *one, const char *name)
{
	const struct netdev *netdev = snapshot_find_netdev(one->snap, name);

	assert_non_null(netdev);
	return netdev;
}

/* ---- whole machines ---- */

static void test_spark_identity(void **state)
{
	struct one one = load("spark-head.snap");
	const struct identity *id = &one.snap->id;

	(void)state;
	assert_text(id->hostname, "spark-head");
	assert_text(id->dmi_product, "NVIDIA_DGX_Spark");
	assert_text(id->dmi_board, "P4242");
	assert_text(id->arch, "aarch64");
	assert_text(id->kernel, "6.17.0-1029-nvidia");
	assert_text(id->os_id, "ubuntu");
	assert_text(id->os_version, "24.04");
	assert_text(id->os_name, "Ubuntu 24.04.3 LTS");
	assert_text(id->cpu_model, "implementer 0x41 part 0xd87");
	assert_text(id->netns, "net:[4026531840]");
	assert_num(id->mem_total_bytes, 125526016LL * 1024);
	assert_num(id->uid, 1000);
	assert_num(id->hotplug_enabled, 1);
	assert_int_equal(id->boot2_ns.val - id->boot_ns.val, 1000000000);
	assert_string_equal(id->mem_total_bytes.origin, "/proc/meminfo");
	drop(&one);
}

static void test_spark_ports(void **state)
{
	struct one one = load("spark-head.snap");
	const struct rdma_port *up, *down, *trap;

	(void)state;
	assert_int_equal(one.snap->n_ports, 4);
	assert_string_equal(one.snap->ports[0]->name, "rocep1s0f0/1");
	assert_string_equal(one.snap->ports[3]->name, "roceP2p1s0f1/1");
	assert_num(one.snap->devs_listed, 4);
	assert_num(one.snap->verbs_available, 1);
	up = port_of(&one, "rocep1s0f1/1");
	assert_true(port_is_active(up));
	assert_true(port_is_ethernet(up));
	assert_num(up->phys_state, PHYS_LINK_UP);
	assert_num(up->rate_mbps, 200000);
	assert_text(up->rate, "200 Gb/sec (2X NDR)");
	assert_num(up->mtu_bytes, 4096);
	assert_num(up->width, 2);
	assert_string_equal(up->netdev->name, "enp1s0f1np1");
	assert_ptr_equal(up->netdev->port, up);
	assert_ptr_equal(up->netdev->pci, up->dev->pci);
	assert_text(up->dev->fw_version, "28.45.4028");
	assert_text(up->dev->board_id, "NVD0000000087");
	assert_text(up->dev->hca_type, "MT4129");
	assert_text(up->dev->driver, "mlx5_core");
	assert_text(up->dev->node_type, "CA");
	assert_text(up->dev->uverbs, "/dev/infiniband/uverbs1");
	assert_num(up->dev->uverbs_access, 1);
	assert_false(up->dev->is_soft);
	assert_int_equal(up->lid.val, 0);
	assert_int_equal(up->subnet_prefix.err, VALUE_NOT_ASKED);

	down = port_of(&one, "rocep1s0f0/1");
	assert_num(down->state, PORT_DOWN);
	assert_num(down->phys_state, PHYS_DISABLED);
	assert_int_equal(down->rate_mbps.err, VALUE_PLACEHOLDER);
	assert_int_equal(down->mtu_bytes.err, VALUE_PLACEHOLDER);
	assert_num(down->max_mtu_bytes, 4096);
	trap = port_of(&one, "roceP2p1s0f0/1"); /* DOWN and LINK_UP in one line */
	assert_false(port_is_active(trap));
	assert_num(trap->phys_state, PHYS_LINK_UP);
	drop(&one);
}

static void test_spark_gids_and_counters(void **state)
{
	static const uint8_t v4[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 168, 100, 1 };
	struct one one = load("spark-head.snap");
	const struct rdma_port *port = port_of(&one, "rocep1s0f1/1");
	const struct counter *counter;

	(void)state;
	assert_num(port->gid_slots, 256);
	assert_int_equal(port->n_gids, 4);
	assert_int_equal(port->gids[2].type, GID_ROCE_V1);
	assert_int_equal(port->gids[3].index, 3);
	assert_int_equal(port->gids[3].type, GID_ROCE_V2);
	assert_memory_equal(port->gids[3].raw, v4, 16);
	assert_string_equal(port->gids[3].text, "0000:0000:0000:0000:0000:ffff:c0a8:6401");
	assert_ptr_equal(port->gids[3].netdev, port->netdev);
	counter = counter_find(port->counters, port->n_counters, "port_rcv_data");
	assert_num(counter->first, 1825000000);
	assert_num(counter_delta(counter), 0);
	assert_null(counter_find(port->hw_counters, port->n_hw_counters, "lifespan"));
	assert_non_null(counter_find(port->hw_counters, port->n_hw_counters, "roce_adp_retrans"));
	drop(&one);
}

static void test_spark_netdev(void **state)
{
	struct one one = load("spark-head.snap");
	const struct netdev *up = netdev_of(&one, "enp1s0f1np1"), *down = netdev_of(&one, "enp1s0f0np0"), *other;
	const struct ip_addr *addr = netdev_address(up);

	(void)state;
	assert_num(up->mtu, 9000);
	assert_num(up->max_mtu, 9978);
	assert_num(up->carrier, 1);
	assert_text(up->mac, "02:00:00:0a:00:01");
	assert_num(up->speed_mbps, 200000);
	assert_num(up->lanes, 4);
	assert_num(up->duplex, 1);
	assert_num(up->link_detected, 1);
	assert_text(up->fec_active, "RS");
	assert_num(up->pause_rx, 1);
	assert_text(up->driver, "mlx5_core");
	assert_text(up->driver_version, "6.17.0-1029-nvidia");
	assert_text(up->fw_version, "28.45.4028 (NVD0000000087)");
	assert_int_equal(up->module_present.err, EPERM);
	assert_num(up->carrier_changes.first, 2);
	assert_num(counter_delta(&up->carrier_changes), 0);
	assert_num(counter_delta(counter_find(up->stats, up->n_stats, "rx_packets_phy")), 6);
	assert_int_equal(up->n_modes_ours, 12); /* Asym_Pause is supported, not advertised */
	assert_int_equal(up->n_modes_peer, 6);
	assert_string_equal(addr->text, "192.168.100.1");
	assert_int_equal(addr->prefix_len, 24);
	assert_true(addr->is_permanent);
	assert_int_equal(up->kind.err, ENOENT);

	assert_int_equal(down->speed_mbps.err, VALUE_PLACEHOLDER);
	assert_int_equal(down->duplex.err, VALUE_PLACEHOLDER);
	assert_num(down->ext_state, 4);
	assert_string_equal(ext_state_name(down->ext_state.val), "no cable");
	assert_null(netdev_address(down));

	assert_true(netdev_of(&one, "wlP9s9")->is_wireless);
	other = netdev_of(&one, "enP7s7");
	assert_false(other->is_wireless);
	assert_false(netdev_address(other)->is_permanent); /* DHCP */
	other = netdev_of(&one, "docker0");		   /* not asked: it has nothing to do with the fabric */
	assert_int_equal(other->speed_mbps.err, VALUE_NOT_ASKED);
	assert_text(other->kind, "bridge");
	drop(&one);
}

static void test_spark_pci(void **state)
{
	struct one one = load("spark-head.snap");
	const struct pci_dev *pci = port_of(&one, "roceP2p1s0f1/1")->dev->pci, *narrowest;

	(void)state;
	assert_string_equal(pci->bdf, "0002:01:00.1");
	assert_num(pci->vendor, 0x15b3);
	assert_num(pci->device, 0x1021);
	assert_num(pci->class_code, 0x020000);
	assert_num(pci->speed_mtps, 32000);
	assert_num(pci->width, 4);
	assert_num(pci->numa_node, -1);
	assert_string_equal(pci->parent->bdf, "0002:00:00.0");
	assert_null(pci->parent->parent);
	assert_int_equal(pci->n_aer, 3);
	assert_string_equal(pci->aer[0].name, "correctable");
	assert_num(counter_delta(&pci->aer[0]), 0);
	assert_num(pci_path_mbps(pci, &narrowest), 126030);
	assert_ptr_equal(narrowest, pci);
	/* the GPU's own link, which means nothing, is not even looked at */
	for (size_t i = 0; i < one.snap->n_pcis; i++)
		assert_string_not_equal(one.snap->pcis[i]->bdf, "000f:01:00.0");
	assert_int_equal(one.snap->n_nics, 6);
	drop(&one);
}

static void test_spark_routes(void **state)
{
	struct one one = load("spark-head.snap");
	const struct snapshot *snap = one.snap;
	const struct neighbour *neighbour = NULL;

	(void)state;
	for (size_t i = 0; i < snap->n_neighbours; i++)
		if (!strcmp(snap->neighbours[i].addr, "192.168.100.2"))
			neighbour = &snap->neighbours[i];
	assert_non_null(neighbour);
	assert_string_equal(neighbour->netdev->name, "enp1s0f1np1");
	assert_string_equal(neighbour->mac, "02:00:00:0b:00:01");
	assert_num(neighbour->state, 2);
	assert_num(snap->routes_listed, 7);
	for (size_t i = 0; i < snap->n_routes; i++) {
		if (strcmp(snap->routes[i].dst_text, "default"))
			continue;
		assert_string_equal(snap->routes[i].gateway, "192.0.2.254");
		assert_string_equal(snap->routes[i].netdev->name, "enP7s7");
		assert_num(snap->routes[i].metric, 100);
	}
	assert_int_equal(snap->n_rules, 5);
	assert_num(snap->rules[0].priority, 0);
	assert_null(snap->rules[0].from);
	drop(&one);
}

static void test_spark_without_cable(void **state)
{
	struct one one = load("spark-nocable.snap");

	(void)state;
	assert_num(one.snap->devs_listed, 0);
	assert_int_equal(one.snap->n_ports, 0);
	assert_num(one.snap->id.hotplug_enabled, 1);
	for (size_t i = 0; i < one.snap->n_nics; i++)
		assert_int_not_equal(one.snap->nics[i]->vendor.val, 0x15b3);
	drop(&one);
}

static void test_infiniband_host(void **state)
{
	struct one one = load("ib-8hca-a.snap");
	const struct rdma_port *port = port_of(&one, "mlx5_3/1"), *bond = port_of(&one, "mlx5_bond_0/1"), *ipoib;
	const struct counter *counter;

	(void)state;
	assert_int_equal(one.snap->n_ports, 9);
	assert_num(port->link_layer, LINK_LAYER_INFINIBAND);
	assert_num(port->rate_mbps, 400000);
	assert_num(port->lid, 13);
	assert_num(port->sm_lid, 1);
	assert_text(port->subnet_prefix, "fe80:0000:0000:0000");
	assert_int_equal(port->n_gids, 1);
	assert_int_equal(port->gids[0].type, GID_IB);
	assert_int_equal(port->n_pkeys, 1);
	assert_int_equal(port->pkeys[0], 0xffff);
	assert_null(port->netdev);
	/* a four-bit register at its top */
	counter = counter_find(port->counters, port->n_counters, "excessive_buffer_overrun_errors");
	assert_int_equal(counter->first.err, VALUE_SATURATED);
	counter = counter_find(port->counters, port->n_counters, "port_rcv_data");
	assert_num(counter_delta(counter), 500);
	assert_num(pci_path_mbps(port->dev->pci, NULL), 504123);
	assert_string_equal(port->dev->pci->parent->parent->parent->bdf, "0000:5a:01.0");
	ipoib = port_of(&one, "mlx5_0/1");
	assert_string_equal(ipoib->netdev->name, "ibp24s0");
	assert_true(ipoib->netdev->is_ipoib);
	assert_true(port_is_ethernet(bond));
	assert_string_equal(bond->netdev->name, "bond0");
	drop(&one);
}

static void test_bonded_host(void **state)
{
	struct one one = load("bond-roce-b.snap");
	const struct rdma_port *port = port_of(&one, "mlx5_bond_0/1");
	const struct netdev *vlan = netdev_of(&one, "bond0.100"), *slave = netdev_of(&one, "enp65s0f1np1");

	(void)state;
	/* netlink names a slave; the port is the bond's */
	assert_string_equal(port->netdev->name, "bond0");
	assert_ptr_equal(port->netdev->port, port);
	assert_text(port->netdev->bond_mode, "802.3ad");
	assert_null(netdev_of(&one, "enp65s0f0np0")->port);
	assert_ptr_equal(slave->master, port->netdev);
	assert_text(slave->permanent_mac, "02:00:00:01:40:01");
	assert_num(slave->speed_mbps, 100000);
	assert_text(slave->module_part, "MCP1600-C003E30L");
	assert_num(slave->module_length_cm, 300);
	assert_num(slave->module_present, 1);
	assert_ptr_equal(vlan->lower, port->netdev);
	assert_num(vlan->vlan_id, 100);
	assert_num(vlan->carrier_changes.first, 2);
	assert_int_equal(port->n_gids, 6);
	assert_ptr_equal(port->gids[5].netdev, vlan);
	drop(&one);
}

static void test_soft_roce_guest(void **state)
{
	struct one one = load("softroce-a.snap");
	const struct rdma_port *port = port_of(&one, "rocep1s0f0/1");
	const struct netdev *netdev = netdev_of(&one, "eth1");
	const struct num path = pci_path_mbps(netdev->pci, NULL);

	(void)state;
	assert_true(port->dev->is_soft);
	assert_text(port->dev->driver, "rdma_rxe");
	assert_null(port->dev->pci);
	assert_int_equal(port->dev->fw_version.err, ENODEV);
	assert_int_equal(port->dev->board_id.err, ENOENT);
	assert_int_equal(port->rate_mbps.err, VALUE_PLACEHOLDER);
	assert_text(port->rate, "2.5 Gb/sec (1X SDR)");
	assert_num(port->mtu_bytes, 4096);
	assert_num(port->gid_slots, 1024);
	assert_int_equal(port->n_gids, 2);
	assert_int_equal(port->n_counters, 0);
	assert_int_equal(port->n_hw_counters, 15);
	assert_ptr_equal(port->netdev, netdev);
	assert_int_equal(netdev->speed_mbps.err, VALUE_PLACEHOLDER);
	assert_string_equal(netdev->pci->bdf, "0000:00:08.0");
	assert_int_equal(value_gap(path.err), GAP_ABSENT);
	assert_int_equal(netdev->pci->n_aer, 0);
	assert_num(one.snap->id.hotplug_enabled, 0);
	drop(&one);
}

/* ---- traps ---- */

#define DEV "/sys/class/infiniband/mlx5_0"
#define PORT DEV "/ports/1"
#define HARD "link " DEV " -> ../../devices/pci0000:00/0000:00:01.0/infiniband/mlx5_0\n"

static void test_counter_gaps(void **state)
{
	struct one one = made(HARD "file " PORT "/state\n| 4: ACTIVE\n"
				   "file " PORT "/counters/link_downed\n| 255\n"
				   "file " PORT "/counters/symbol_error\n| 65535\n"
				   "file " PORT "/counters/port_xmit_wait\n| 4294967295\n"
				   "file " PORT "/counters/port_rcv_data\n| 255\n"
				   "file " PORT "/counters/port_rcv_errors\n| N/A (no PMA)\n"
				   "error " PORT "/counters/VL15_dropped EINVAL\n"
				   "file " PORT "/counters/port_xmit_data\n| soup\n"
				   "file " PORT "/hw_counters/link_downed\n| 255\n"
				   "file@2 " PORT "/counters/port_rcv_data\n| 254\n");
	const struct rdma_port *port = port_of(&one, "mlx5_0/1");
	static const struct {
		const char *name;
		int err;
	} want[] = { { "link_downed", VALUE_SATURATED },    { "symbol_error", VALUE_SATURATED },
		     { "port_xmit_wait", VALUE_SATURATED }, { "port_rcv_data", 0 },
		     { "port_rcv_errors", EOPNOTSUPP },	    { "VL15_dropped", EINVAL },
		     { "port_xmit_data", VALUE_MALFORMED } };

	(void)state;
	assert_int_equal(port->n_counters, 7);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(counter_find(port->counters, 7, want[i].name)->first.err, want[i].err);
	assert_int_equal(counter_delta(counter_find(port->counters, 7, "port_rcv_data")).err, ERANGE);
	assert_int_equal(counter_delta(counter_find(port->counters, 7, "link_downed")).err, VALUE_SATURATED);
	assert_string_equal(counter_find(port->counters, 7, "link_downed")->first.origin, PORT "/counters/link_downed");
	assert_num(port->hw_counters[0].first, 255); /* the driver's own is wider */
	drop(&one);
}

static void test_unreadable_port(void **state)
{
	struct one one = made(HARD "error " PORT "/state EACCES\nfile " PORT "/phys_state\n| LinkUp\n"
				   "file " PORT "/link_layer\n| Ethernet\nfile " PORT "/rate\n| 100 Gb/sec (4X EDR)\n"
				   "fact verbs {\"errno\":2,\"error\":\"libibverbs.so.1 is not installed\"}\n"
				   "error fact verbs/mlx5_0/1 ENOENT\n"
				   "fact rdma/uverbs/mlx5_0 {\"path\":\"/dev/infiniband/uverbs0\",\"errno\":13}\n");
	const struct rdma_port *port = port_of(&one, "mlx5_0/1");

	(void)state;
	assert_int_equal(port->state.err, EACCES);
	assert_string_equal(port->state.origin, PORT "/state");
	assert_int_equal(port->phys_state.err, VALUE_MALFORMED);
	assert_int_equal(port->rate_mbps.err, VALUE_PLACEHOLDER);
	assert_int_equal(port->mtu_bytes.err, ENOENT);
	assert_string_equal(port->mtu_bytes.origin, "ibv_query_port mlx5_0/1: libibverbs.so.1 is not installed");
	assert_int_equal(one.snap->verbs_available.err, ENOENT);
	assert_text(port->dev->uverbs, "/dev/infiniband/uverbs0");
	assert_int_equal(port->dev->uverbs_access.err, EACCES);
	assert_null(port->netdev);
	drop(&one);
}

static void test_verbs_refused(void **state)
{
	struct one one = made(
		HARD "file " PORT "/state\n| 4: ACTIVE\n"
		     "fact verbs/mlx5_0/1 {\"errno\":13,\"error\":\"the verbs library cannot open the device\"}\n");
	const struct rdma_port *port = port_of(&one, "mlx5_0/1");

	(void)state;
	assert_int_equal(port->mtu_bytes.err, EACCES);
	assert_string_equal(port->mtu_bytes.origin,
			    "ibv_query_port mlx5_0/1: the verbs library cannot open the device");
	drop(&one);
}

static void test_rates(void **state)
{
	static const struct {
		const char *text;
		int64_t mbps;
		int err;
	} rows[] = { { "2.5 Gb/sec (1X SDR)", 2500, 0 },
		     { "400 Gb/sec (4X NDR)", 400000, 0 },
		     { "14.0625 Gb/sec (1X FDR)", 14062, 0 },
		     { "fast", 0, VALUE_MALFORMED },
		     { "10 Mb/sec", 0, VALUE_MALFORMED } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char lines[512];
		struct one one;

		snprintf(lines, sizeof(lines), HARD "file " PORT "/state\n| 4: ACTIVE\nfile " PORT "/rate\n| %s\n",
			 rows[i].text);
		one = made(lines);
		assert_int_equal(one.snap->ports[0]->rate_mbps.err, rows[i].err);
		if (!rows[i].err)
			assert_int_equal(one.snap->ports[0]->rate_mbps.val, rows[i].mbps);
		drop(&one);
	}
}

/* GID types of empty slots are not asked; that of a set one may be refused; the table may start in its middle. */
static void test_sparse_gids(void **state)
{
	struct one one = made(HARD "file " PORT "/state\n| 4: ACTIVE\nfile " PORT "/link_layer\n| Ethernet\n"
				   "file " PORT "/gids/{0..3}\n| 0000:0000:0000:0000:0000:0000:0000:0000\n"
				   "error " PORT "/gid_attrs/types/{0..3} EINVAL\n"
				   "file " PORT "/gids/4\n| 0000:0000:0000:0000:0000:ffff:0a00:0001\n"
				   "error " PORT "/gid_attrs/types/4 EINVAL\n"
				   "file " PORT "/gid_attrs/ndevs/4\n| eth7\n"
				   "file " PORT "/gids/10\n| not a gid\n");
	const struct rdma_port *port = port_of(&one, "mlx5_0/1");

	(void)state;
	assert_num(port->gid_slots, 6);
	assert_int_equal(port->n_gids, 1);
	assert_int_equal(port->gids[0].index, 4);
	assert_int_equal(port->gids[0].type, GID_TYPE_UNKNOWN);
	assert_int_equal(port->gids[0].type_err, EINVAL);
	assert_null(port->gids[0].netdev); /* in another network namespace */
	assert_null(port->netdev);
	drop(&one);
}

/* netlink's index is that of the netdev's own namespace: a chance number here must not tie the port to a stranger. */
static void test_netdev_of_another_namespace(void **state)
{
	struct one one = made(
		HARD "file " PORT "/state\n| 4: ACTIVE\nfile " PORT "/link_layer\n| Ethernet\n"
		     "nl rtnl link eth0\n  index 2\n  type 1\n  ifname eth0\n"
		     "nl rtnl link eth1\n  index 3\n  type 1\n  ifname eth1\n  link 2\n  link_netnsid 0\n"
		     "nl rdma link mlx5_0/1\n  dev_name mlx5_0\n  port_index 1\n  ndev_index 2\n  ndev_name ens1\n");

	(void)state;
	assert_null(one.snap->ports[0]->netdev);
	assert_null(netdev_of(&one, "eth1")->lower);
	drop(&one);
}

/* Kernels before 5.11 hang rxe below the NIC's PCI function. */
static void test_old_soft_roce(void **state)
{
	struct one one = made(
		"link /sys/class/infiniband/rxe0 -> ../../devices/pci0000:00/0000:00:03.0/infiniband/rxe0\n"
		"link /sys/class/infiniband/rxe0/device/driver -> ../../../../bus/pci/drivers/e1000\n"
		"file /sys/class/infiniband/rxe0/node_desc\n| rxe\n"
		"file /sys/class/infiniband/rxe0/ports/1/state\n| 4: ACTIVE\n");

	(void)state;
	assert_true(one.snap->devs[0].is_soft);
	assert_text(one.snap->devs[0].driver, "rdma_rxe");
	assert_null(one.snap->devs[0].pci);
	drop(&one);
}

#define FUNCTION(bdf, path, class_code, speed, width)                                                                  \
	"link /sys/bus/pci/devices/" bdf " -> ../../../devices/" path "\nfile /sys/bus/pci/devices/" bdf               \
	"/class\n| " class_code "\nfile /sys/bus/pci/devices/" bdf "/current_link_speed\n| " speed                     \
	"\nfile /sys/bus/pci/devices/" bdf "/current_link_width\n| " width "\n"

static void test_pci_path(void **state)
{
	struct one one = made(
		FUNCTION("0000:00:01.0", "pci0000:00/0000:00:01.0", "0x060400", "8.0 GT/s PCIe", "8") FUNCTION(
			"0000:01:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0", "0x060400", "Unknown",
			"0") FUNCTION("0000:02:00.0", "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0", "0x020700",
				      "16.0 GT/s PCIe", "16")
			FUNCTION(
				"0000:03:00.0", "pci0000:00/0000:03:00.0", "0x020000", "5 GT/s",
				"8") "link /sys/bus/pci/devices/0000:03:00.1 -> ../../../devices/pci0000:00/0000:03:00.1\n"
				     "file /sys/bus/pci/devices/0000:03:00.1/class\n| 0x020000\n"
				     "link /sys/bus/pci/devices/0000:03:00.1/physfn -> ../0000:03:00.0\n"
				     "file /sys/bus/pci/devices/0000:04:00.0/class\n| 0x030000\n");
	const struct snapshot *snap = one.snap;
	const struct pci_dev *narrowest;

	(void)state;
	assert_int_equal(snap->n_nics, 3);
	assert_int_equal(snap->n_pcis, 5);
	assert_string_equal(snap->nics[0]->bdf, "0000:02:00.0");
	assert_num(pci_path_mbps(snap->nics[0], &narrowest), 63015); /* Gen3 x8 above a Gen4 x16 card */
	assert_string_equal(narrowest->bdf, "0000:00:01.0");
	assert_int_equal(snap->nics[0]->parent->speed_mtps.err, VALUE_PLACEHOLDER);
	assert_int_equal(snap->nics[0]->parent->width.err, VALUE_PLACEHOLDER);
	assert_num(pci_path_mbps(snap->nics[1], NULL), 32000); /* 8b/10b */
	assert_false(snap->nics[1]->is_vf);
	assert_true(snap->nics[2]->is_vf);
	assert_ptr_equal(snap->nics[2]->physfn, snap->nics[1]);
	assert_int_equal(pci_path_mbps(snap->nics[2], &narrowest).err, ENOENT);
	assert_null(narrowest);
	assert_int_equal(pci_path_mbps(NULL, NULL).err, VALUE_NOT_ASKED);
	drop(&one);
}

static void test_addresses(void **state)
{
	struct one one = made(
		"nl rtnl link eth0\n  index 2\n  type 1\n  ifname eth0\n"
		"nl rtnl address eth0 2001:db8::1/64\n  family 10\n  prefixlen 64\n  scope 0\n  index 2\n"
		"  address 2001:db8::1\n"
		"nl rtnl address eth0 10.0.0.9/24\n  family 2\n  prefixlen 24\n  scope 0\n  index 2\n"
		"  address 10.0.0.9\n"
		"  local 10.0.0.9\n  flags 0x80\n"
		"nl rtnl address eth0 10.0.0.1/24\n  family 2\n  prefixlen 24\n  scope 0\n  index 2\n"
		"  address 10.0.0.1\n"
		"  local 10.0.0.1\n  flags 0x81\n"
		"nl rtnl address eth0 169.254.0.1/16\n  family 2\n  prefixlen 16\n  scope 253\n  index 2\n"
		"  address 169.254.0.1\n"
		"nl rtnl link eth1\n  index 3\n  type 1\n  ifname eth1\n"
		"nl rtnl address eth1 169.254.0.2/16\n  family 2\n  prefixlen 16\n  scope 253\n  index 3\n"
		"  address 169.254.0.2\n"
		"nl rtnl address eth1 2001:db8::2/64\n  family 10\n  prefixlen 64\n  scope 0\n  index 3\n"
		"  address 2001:db8::2\n"
		"nl rtnl address eth1 fe80::1/64\n  family 10\n  prefixlen 64\n  scope 253\n  index 3\n"
		"  address fe80::1\n"
		"nl rtnl link ppp0\n  index 4\n  type 512\n  ifname ppp0\n"
		"nl rtnl address ppp0 10.9.0.1/32\n  family 2\n  prefixlen 32\n  scope 0\n  index 4\n"
		"  address 10.9.0.2\n"
		"  local 10.9.0.1\n");

	(void)state;
	assert_int_equal(netdev_of(&one, "eth0")->n_addrs, 4);
	assert_string_equal(netdev_address(netdev_of(&one, "eth0"))->text, "10.0.0.9"); /* the other is secondary */
	assert_true(netdev_of(&one, "eth0")->addrs[1].is_secondary);
	assert_string_equal(netdev_address(netdev_of(&one, "eth1"))->text, "2001:db8::2");
	assert_string_equal(netdev_address(netdev_of(&one, "ppp0"))->text, "10.9.0.1"); /* ours, not the far end's */
	drop(&one);
}

static void test_nothing_recorded(void **state)
{
	struct one one = made("");

	(void)state;
	assert_int_equal(one.snap->devs_listed.err, EIO);
	assert_int_equal(one.snap->netdevs_listed.err, ENODATA);
	assert_int_equal(one.snap->routes_listed.err, ENODATA);
	assert_int_equal(one.snap->id.kernel.err, ENODATA);
	assert_int_equal(one.snap->id.hostname.err, ENOENT);
	assert_int_equal(one.snap->id.boot2_ns.err, VALUE_NOT_ASKED);
	assert_num(one.snap->id.hotplug_enabled, 0);
	drop(&one);
}

static void test_gateway_of_other_family(void **state)
{
	struct one one = made(
		"nl rtnl link eth0\n  index 2\n  type 1\n  ifname eth0\n"
		"nl rtnl route 10.0.0.0/8\n  family 2\n  dst_len 8\n  type 1\n  dst 10.0.0.0\n  oif 2\n  table 254\n"
		"  via 0a00fe800000000000000000000000000001\n");

	(void)state;
	assert_int_equal(one.snap->n_routes, 1);
	assert_string_equal(one.snap->routes[0].gateway, "fe80::1");
	assert_string_equal(one.snap->routes[0].dst_text, "10.0.0.0/8");
	assert_int_equal(one.snap->routes[0].metric.err, EOPNOTSUPP);
	drop(&one);
}

/* A snapshot may come from a stranger: netdevs that stand on each other must not make anybody walk for ever. */
static void test_stacking_loops_are_cut(void **state)
{
	struct one one = made(HARD "file " PORT "/state\n| 4: ACTIVE\nfile " PORT "/link_layer\n| Ethernet\n"
				   "file " PORT "/gids/0\n| fe80:0000:0000:0000:0000:0000:0000:0001\n"
				   "file " PORT "/gid_attrs/ndevs/0\n| a\n"
				   "nl rtnl link a\n  index 2\n  type 1\n  ifname a\n  link 3\n  master 4\n"
				   "nl rtnl link b\n  index 3\n  type 1\n  ifname b\n  link 2\n"
				   "nl rtnl link c\n  index 4\n  type 1\n  ifname c\n  link 4\n  master 2\n"
				   "nl rtnl link d\n  index 5\n  type 1\n  ifname d\n  link 6\n"
				   "nl rtnl link e\n  index 6\n  type 1\n  ifname e\n");
	const struct netdev *netdevs = one.snap->netdevs;

	(void)state;
	assert_true(!netdevs[0].lower || !netdevs[1].lower);
	assert_true(!netdevs[0].master || !netdevs[2].master);
	assert_null(netdevs[2].lower);
	assert_string_equal(netdev_of(&one, "d")->lower->name, "e");
	drop(&one);
}

/* Numbers no kernel writes: refused, and no arithmetic on them. */
static void test_absurd_numbers(void **state)
{
	struct one one = made("file /sys/bus/pci/devices/0000:02:00.0/class\n| 0x020700\n"
			      "file /sys/bus/pci/devices/0000:02:00.0/current_link_speed\n| 16.0 GT/s PCIe\n"
			      "file /sys/bus/pci/devices/0000:02:00.0/current_link_width\n| 9223372036854775807\n"
			      "file /sys/bus/pci/devices/0000:02:00.0/max_link_width\n| -4\n" HARD
			      "file " PORT "/state\n| 4: ACTIVE\nfile " PORT "/counters/port_rcv_data\n| -5\n"
			      "fact verbs/mlx5_0/1 {\"errno\":-2147483648}\n");
	const struct counter counter = { .first = num_of(INT64_MIN, "a"), .second = num_of(INT64_MAX, "a") };
	const struct rdma_port *port = port_of(&one, "mlx5_0/1");

	(void)state;
	assert_int_equal(one.snap->nics[0]->width.err, VALUE_MALFORMED);
	assert_int_equal(one.snap->nics[0]->max_width.err, VALUE_MALFORMED);
	assert_int_equal(pci_path_mbps(one.snap->nics[0], NULL).err, VALUE_MALFORMED);
	assert_int_equal(port->counters[0].first.err, VALUE_MALFORMED);
	assert_int_equal(port->mtu_bytes.err, EIO);
	assert_int_equal(counter_delta(&counter).err, ERANGE);
	drop(&one);
}

static void test_names(void **state)
{
	static const char *const sorted[] = { "mlx5_0",	    "mlx5_2",	  "mlx5_10",	 "mlx5_bond_0",
					      "rocep1s0f0", "rocep1s0f1", "roceP2p1s0f0" };

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(sorted) / sizeof(*sorted); i++) {
		assert_true(name_compare(sorted[i], sorted[i + 1]) < 0);
		assert_true(name_compare(sorted[i + 1], sorted[i]) > 0);
		assert_int_equal(name_compare(sorted[i], sorted[i]), 0);
	}
	assert_int_not_equal(name_compare("eth01", "eth1"), 0);
	assert_string_equal(port_state_name(PORT_ACTIVE), "ACTIVE");
	assert_string_equal(port_state_name(99), "unknown");
	assert_string_equal(port_state_name(-1), "unknown");
	assert_string_equal(phys_state_name(PHYS_LINK_UP), "LINK_UP");
	assert_string_equal(link_layer_name(LINK_LAYER_INFINIBAND), "InfiniBand");
	assert_string_equal(gid_type_name(GID_ROCE_V2), "RoCE v2");
	assert_string_equal(ext_state_name(1), "link training failed");
	assert_true(is_bdf("0000:01:00.0", 12));
	assert_true(is_bdf("10000:01:00.0", 13));
	assert_false(is_bdf("0000:01:00.8", 12));
	assert_false(is_bdf("pci0000:00", 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spark_identity),
		cmocka_unit_test(test_spark_ports),
		cmocka_unit_test(test_spark_gids_and_counters),
		cmocka_unit_test(test_spark_netdev),
		cmocka_unit_test(test_spark_pci),
		cmocka_unit_test(test_spark_routes),
		cmocka_unit_test(test_spark_without_cable),
		cmocka_unit_test(test_infiniband_host),
		cmocka_unit_test(test_bonded_host),
		cmocka_unit_test(test_soft_roce_guest),
		cmocka_unit_test(test_counter_gaps),
		cmocka_unit_test(test_unreadable_port),
		cmocka_unit_test(test_verbs_refused),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_sparse_gids),
		cmocka_unit_test(test_netdev_of_another_namespace),
		cmocka_unit_test(test_old_soft_roce),
		cmocka_unit_test(test_pci_path),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_nothing_recorded),
		cmocka_unit_test(test_gateway_of_other_family),
		cmocka_unit_test(test_stacking_loops_are_cut),
		cmocka_unit_test(test_absurd_numbers),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
