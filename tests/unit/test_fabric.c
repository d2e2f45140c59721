// SPDX-License-Identifier: Apache-2.0
/* The fabric between hosts: from whole recorded machines, and from small ones made here for each rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/alloc.h"
#include "core/buf.h"
#include "facts/fabric.h"

#define MAX_HOSTS 1100

/* Hosts of one test: their texts are written, then all are loaded and joined. */
struct world {
	struct buf text[MAX_HOSTS];
	struct records *records[MAX_HOSTS];
	struct source *sources[MAX_HOSTS];
	const struct snapshot *hosts[MAX_HOSTS];
	size_t n;
	struct fabric *fabric;
};

static struct world *world_new(void)
{
	return xcalloc(1, sizeof(struct world));
}

static void world_free(struct world *w)
{
	fabric_free(w->fabric);
	for (size_t i = 0; i < w->n; i++) {
		snapshot_free((struct snapshot *)w->hosts[i]);
		source_free(w->sources[i]);
		records_free(w->records[i]);
		buf_release(&w->text[i]);
	}
	free(w);
}

static void world_add(struct world *w, struct records *records, const char *name)
{
	w->records[w->n] = records;
	w->hosts[w->n] = snapshot_from_records(records, name, w->n ? "worker" : "head", &w->sources[w->n]);
	w->n++;
}

static void world_load(struct world *w, const char *file, const char *name)
{
	struct fault fault = { 0 };
	struct records *records = records_new();
	char path[512];

	snprintf(path, sizeof(path), TEST_TOP "/fixtures/hosts/%s", file);
	if (records_load(records, path, &fault))
		fail_msg("%s", fault.msg);
	world_add(w, records, name);
}

static void world_join(struct world *w, const struct fabric_hints *hints)
{
	w->fabric = fabric_build(w->hosts, w->n, hints);
}

/* ---- small hosts ---- */

static struct buf *host_begin(struct world *w)
{
	struct buf *text = &w->text[w->n];

	buf_adds(text,
		 "sparkfab-snapshot 1\nhost made\nnl rtnl link lo\n  index 1\n  type 772\n  flags 0x9\n  ifname lo\n");
	return text;
}

static void host_end(struct world *w, const char *name)
{
	struct fault fault = { 0 };
	struct records *records = records_new();

	buf_adds(&w->text[w->n], "end\n");
	if (records_parse(records, name, buf_str(&w->text[w->n]), w->text[w->n].len, NULL, NULL, &fault))
		fail_msg("%s", fault.msg);
	world_add(w, records, name);
}

/* An Ethernet port mlx5_N on ethN with MAC 02:00:00:00:HOST:N; state "4: ACTIVE" or another. */
static void add_port(struct buf *text, unsigned host, unsigned n, const char *state)
{
	buf_addf(text,
		 "link /sys/class/infiniband/mlx5_%u -> ../../devices/pci0000:00/0000:0%u:00.0/infiniband/mlx5_%u\n", n,
		 n, n);
	buf_addf(text, "file /sys/class/infiniband/mlx5_%u/ports/1/state\n| %s\n", n, state);
	buf_addf(text, "file /sys/class/infiniband/mlx5_%u/ports/1/link_layer\n| Ethernet\n", n);
	buf_addf(
		text,
		"nl rtnl link eth%u\n  index %u\n  type 1\n  flags 0x1003\n  ifname eth%u\n"
		"  address 02:00:00:%02x:%02x:%02x\n"
		"  carrier 1\n",
		n, n + 2, n, host / 256, host % 256, n);
	buf_addf(text,
		 "nl rdma link mlx5_%u/1\n  dev_name mlx5_%u\n  port_index 1\n  ndev_index %u\n  ndev_name eth%u\n", n,
		 n, n + 2, n);
}

static void add_addr(struct buf *text, unsigned n, const char *addr, unsigned prefix_len, int scope)
{
	int family = strchr(addr, ':') ? 10 : 2;

	buf_addf(text,
		 "nl rtnl address eth%u %s/%u\n  family %d\n  prefixlen %u\n  scope %d\n  index %u\n  address %s\n", n,
		 addr, prefix_len, family, prefix_len, scope, n + 2, addr);
}

static void add_neighbour(struct buf *text, unsigned n, const char *addr, unsigned state, const char *mac)
{
	buf_addf(text, "nl rtnl neigh eth%u %s\n  family %d\n  index %u\n  state 0x%x\n  dst %s\n", n, addr,
		 strchr(addr, ':') ? 10 : 2, n + 2, state, addr);
	if (mac)
		buf_addf(text, "  lladdr %s\n", mac);
}

static void add_route(struct buf *text, unsigned n, const char *dst, unsigned len, const char *gateway, unsigned table)
{
	buf_addf(
		text,
		"nl rtnl route %s/%u eth%u %u\n  family 2\n  dst_len %u\n  type 1\n  dst %s\n  oif %u\n  gateway %s\n"
		"  table %u\n",
		dst, len, n, table, len, dst, n + 2, gateway, table);
}

static void add_ib_port(struct buf *text, unsigned n, const char *state, unsigned lid, unsigned sm_lid)
{
	buf_addf(text,
		 "link /sys/class/infiniband/mlx5_%u -> ../../devices/pci0000:00/0000:0%u:00.0/infiniband/mlx5_%u\n", n,
		 n, n);
	buf_addf(text, "file /sys/class/infiniband/mlx5_%u/ports/1/state\n| %s\n", n, state);
	buf_addf(text, "file /sys/class/infiniband/mlx5_%u/ports/1/link_layer\n| InfiniBand\n", n);
	buf_addf(text,
		 "file /sys/class/infiniband/mlx5_%u/ports/1/gids/0\n| fe80:0000:0000:0000:0200:0003:000a:000%u\n", n,
		 n);
	buf_addf(text, "file /sys/class/infiniband/mlx5_%u/ports/1/lid\n| 0x%x\n", n, lid);
	buf_addf(text, "file /sys/class/infiniband/mlx5_%u/ports/1/sm_lid\n| 0x%x\n", n, sm_lid);
}

static const char *port_on(const struct rail *rail, size_t end)
{
	return rail->ends[end].port->name;
}

/* ---- whole machines ---- */

static void test_spark_pair(void **state)
{
	struct world *w = world_new();
	const struct fabric *f;

	(void)state;
	world_load(w, "spark-head.snap", "head");
	world_load(w, "spark-worker.snap", "worker");
	world_join(w, NULL);
	f = w->fabric;
	assert_int_equal(f->n_cages, 4);
	assert_string_equal(f->cages[0].name, "cage 0");
	assert_int_equal(f->cages[0].n_ports, 2);
	assert_string_equal(f->cages[0].ports[0]->name, "rocep1s0f0/1");
	assert_string_equal(f->cages[0].ports[1]->name, "roceP2p1s0f0/1");
	assert_string_equal(f->cages[1].name, "cage 1");
	assert_string_equal(f->cages[1].ports[0]->name, "rocep1s0f1/1");
	assert_string_equal(f->cages[1].ports[1]->name, "roceP2p1s0f1/1");
	assert_ptr_equal(f->cages[2].host, w->hosts[1]);

	assert_int_equal(f->n_rails, 2);
	assert_string_equal(f->rails[0].name, "rail 0");
	assert_string_equal(port_on(&f->rails[0], 0), "rocep1s0f1/1");
	assert_string_equal(port_on(&f->rails[0], 1), "rocep1s0f1/1");
	assert_string_equal(f->rails[0].ends[0].addr->text, "192.168.100.1");
	assert_string_equal(f->rails[0].ends[1].addr->text, "192.168.100.2");
	assert_int_equal(f->rails[0].ends[1].proof, PROOF_NEIGHBOUR);
	assert_string_equal(
		f->rails[0].ends[1].proof_text,
		"192.168.100.2 is at 02:00:00:0b:00:01 on enp1s0f1np1 (neighbour table of head: REACHABLE)");
	assert_int_equal(f->rails[0].ends[0].proof, PROOF_NEIGHBOUR);
	assert_true(f->rails[0].is_proven);
	assert_string_equal(port_on(&f->rails[1], 1), "roceP2p1s0f1/1");
	assert_true(f->rails[1].is_proven);

	assert_int_equal(f->ports[0][0].use, PORT_UNUSED);
	assert_int_equal(f->ports[0][1].use, PORT_USED_ADDRESS);
	assert_int_equal(f->ports[0][2].use, PORT_UNUSED);
	assert_ptr_equal(f->ports[0][1].rail, &f->rails[0]);
	assert_ptr_equal(f->ports[0][1].cage, &f->cages[1]);
	assert_false(fabric_port_is_used(f, w->hosts[1]->ports[0]));
	assert_true(fabric_port_is_used(f, w->hosts[1]->ports[1]));
	assert_ptr_equal(rail_end_on(&f->rails[1], w->hosts[1])->port, w->hosts[1]->ports[3]);
	assert_int_equal(f->kind, FABRIC_UNKNOWN);
	assert_non_null(f->kind_why);
	world_free(w);
}

static void test_spark_without_nic(void **state)
{
	struct world *w = world_new();

	(void)state;
	world_load(w, "spark-nocable.snap", "head");
	world_load(w, "spark-worker.snap", "worker");
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 0);
	assert_int_equal(w->fabric->n_cages, 2);
	assert_int_equal(w->fabric->kind, FABRIC_UNKNOWN);
	world_free(w);
}

/* ---- which machine is a Spark ---- */

/* A ConnectX-7 function with one RDMA port, without a board id: only its place tells. */
static void add_function(struct buf *text, const char *bdf, const char *dev)
{
	buf_addf(text, "link /sys/bus/pci/devices/%s -> ../../../devices/pci0000:00/%s\n", bdf, bdf);
	buf_addf(text, "file /sys/bus/pci/devices/%s/class\n| 0x020000\n", bdf);
	buf_addf(text, "file /sys/bus/pci/devices/%s/vendor\n| 0x15b3\n", bdf);
	buf_addf(text, "file /sys/bus/pci/devices/%s/device\n| 0x1021\n", bdf);
	buf_addf(text, "link /sys/class/infiniband/%s -> ../../devices/pci0000:00/%s/infiniband/%s\n", dev, bdf, dev);
	buf_addf(text, "file /sys/class/infiniband/%s/ports/1/state\n| 4: ACTIVE\n", dev);
	buf_addf(text, "file /sys/class/infiniband/%s/ports/1/link_layer\n| Ethernet\n", dev);
}

/* Cages of an aarch64 host with ConnectX-7 functions at these places. */
static size_t cages_of(const char *const bdfs[], const char *arch)
{
	struct world *w = world_new();
	struct buf *text = host_begin(w);
	size_t n_cages;
	char dev[16];

	buf_addf(text, "fact uname {\"sysname\":\"Linux\", \"release\":\"6.8.0\", \"machine\":\"%s\"}\n", arch);
	for (unsigned i = 0; bdfs[i]; i++) {
		snprintf(dev, sizeof(dev), "mlx5_%u", i);
		add_function(text, bdfs[i], dev);
	}
	host_end(w, "head");
	world_join(w, NULL);
	n_cages = w->fabric->n_cages;
	world_free(w);
	return n_cages;
}

static void test_spark_by_its_functions(void **state)
{
	static const char *const spark[] = { "0000:01:00.0", "0000:01:00.1", "0002:01:00.0", "0002:01:00.1", NULL },
				 *const grace[] = { "0000:01:00.0", "0002:01:00.0", NULL },
				 *const grace_dual[] = { "0000:03:00.0", "0000:03:00.1", "0002:01:00.0", "0002:01:00.1", NULL },
				 *const grace_six[] = { "0000:01:00.0", "0000:01:00.1", "0002:01:00.0", "0002:01:00.1",
							"0006:01:00.0", "0016:01:00.0", NULL };

	(void)state;
	assert_int_equal(cages_of(spark, "aarch64"), 2);
	assert_int_equal(cages_of(spark, "x86_64"), 4);
	assert_int_equal(cages_of(grace, "aarch64"), 2); /* each alone: as many cages as ports */
	assert_int_equal(cages_of(grace_dual, "aarch64"), 4);
	assert_int_equal(cages_of(grace_six, "aarch64"), 6);
}

/* ---- rules ---- */

/* `n` hosts with one port in 10.0.0.0/24. */
static struct world *one_subnet(unsigned n)
{
	struct world *w = world_new();
	char addr[32], name[32];

	for (unsigned h = 0; h < n; h++) {
		struct buf *text = host_begin(w);

		add_port(text, h, 0, "4: ACTIVE");
		snprintf(addr, sizeof(addr), "10.0.0.%u", h + 1);
		snprintf(name, sizeof(name), "h%u", h);
		add_addr(text, 0, addr, 24, 0);
		host_end(w, name);
	}
	return w;
}

static void test_subnet_is_only_a_hint(void **state)
{
	struct world *w = one_subnet(2);

	(void)state;
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 1);
	assert_int_equal(w->fabric->rails[0].ends[1].proof, PROOF_SUBNET);
	assert_string_equal(w->fabric->rails[0].ends[1].proof_text,
			    "10.0.0.1 and 10.0.0.2 lie in one subnet; neither host has seen the other there");
	assert_false(w->fabric->rails[0].is_proven);
	world_free(w);
}

static void test_three_hosts_need_a_switch(void **state)
{
	struct world *w = one_subnet(3);

	(void)state;
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 1);
	assert_int_equal(w->fabric->rails[0].n_ends, 3);
	assert_int_equal(w->fabric->kind, FABRIC_SWITCHED);
	assert_string_equal(w->fabric->kind_why, "rail 0 joins 3 hosts");
	world_free(w);
}

/* One entry in head's or in worker's neighbour table, and what follows for the worker's end. */
static enum rail_proof proof_with(unsigned head_state, const char *head_mac, unsigned worker_state,
				  const char *worker_mac)
{
	struct world *w = world_new();
	struct buf *text = host_begin(w);
	enum rail_proof proof;

	add_port(text, 0, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.1", 24, 0);
	if (head_state)
		add_neighbour(text, 0, "10.0.0.2", head_state, head_mac);
	host_end(w, "head");
	text = host_begin(w);
	add_port(text, 1, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.2", 24, 0);
	if (worker_state)
		add_neighbour(text, 0, "10.0.0.1", worker_state, worker_mac);
	host_end(w, "worker");
	world_join(w, NULL);
	proof = w->fabric->rails[0].ends[1].proof;
	world_free(w);
	return proof;
}

static void test_neighbour_tables(void **state)
{
	const char *head = "02:00:00:00:00:00", *worker = "02:00:00:00:01:00", *other = "02:00:00:00:99:00";

	(void)state;
	assert_int_equal(proof_with(0x2, worker, 0, NULL), PROOF_NEIGHBOUR);
	assert_int_equal(proof_with(0x4, worker, 0, NULL), PROOF_NEIGHBOUR);
	assert_int_equal(proof_with(0x80, worker, 0, NULL), PROOF_NEIGHBOUR);
	assert_int_equal(proof_with(0, NULL, 0x4, head), PROOF_NEIGHBOUR);
	assert_int_equal(proof_with(0x20, NULL, 0, NULL), PROOF_REFUTED);
	assert_int_equal(proof_with(0x1, NULL, 0, NULL), PROOF_SUBNET);
	assert_int_equal(proof_with(0x2, other, 0, NULL), PROOF_REFUTED);
	assert_int_equal(proof_with(0x2, other, 0x2, head), PROOF_REFUTED);
	assert_int_equal(proof_with(0x20, NULL, 0x2, head), PROOF_NEIGHBOUR);
}

/* As proof_with, with a probe of the head. */
static void check_probe(const char *json, unsigned worker_state, enum rail_proof want, const char *want_text)
{
	struct world *w = world_new();
	struct buf *text = host_begin(w);

	add_port(text, 0, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.1", 24, 0);
	buf_addf(text, "fact probe/neigh/eth0/10.0.0.2 %s\n", json);
	host_end(w, "head");
	text = host_begin(w);
	add_port(text, 1, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.2", 24, 0);
	add_neighbour(text, 0, "10.0.0.1", worker_state, "02:00:00:00:00:00");
	host_end(w, "worker");
	world_join(w, NULL);
	assert_int_equal(w->fabric->rails[0].ends[1].proof, want);
	assert_string_equal(w->fabric->rails[0].ends[1].proof_text, want_text);
	assert_int_equal(w->fabric->rails[0].is_proven, want != PROOF_REFUTED);
	world_free(w);
}

static void test_probes_beat_tables(void **state)
{
	(void)state;
	check_probe("{\"state\":\"reachable\",\"mac\":\"02:00:00:00:01:00\",\"rtt_ns\":1000}", 0x20, PROOF_REACHED,
		    "10.0.0.2 answered from 02:00:00:00:01:00 on eth0 (probe of head)");
	check_probe("{\"state\":\"failed\"}", 0x2, PROOF_REFUTED, "10.0.0.2 did not answer on eth0 (probe of head)");
	check_probe(
		"{\"state\":\"reachable\",\"mac\":\"02:00:00:00:99:00\"}", 0x2, PROOF_REFUTED,
		"10.0.0.2 is at 02:00:00:00:99:00 on eth0 (probe of head), which is not eth0 of worker (02:00:00:00:01:00)");
	check_probe("{\"state\":\"error\",\"error\":\"EPERM\"}", 0x4, PROOF_NEIGHBOUR,
		    "10.0.0.1 is at 02:00:00:00:00:00 on eth0 (neighbour table of worker: STALE)");
}

/* The netdev that answers instead is named; one address at both ends is told without asking anybody. */
static void test_refuted_why(void **state)
{
	struct world *w = world_new();
	struct buf *text = host_begin(w);

	(void)state;
	for (unsigned n = 0; n < 2; n++)
		add_port(text, 0, n, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.1", 24, 0);
	add_addr(text, 1, "10.0.1.1", 24, 0);
	add_neighbour(text, 0, "10.0.0.2", 0x2, "02:00:00:00:01:01");
	host_end(w, "head");
	text = host_begin(w);
	for (unsigned n = 0; n < 2; n++)
		add_port(text, 1, n, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.2", 24, 0);
	add_addr(text, 1, "10.0.1.1", 24, 0);
	host_end(w, "worker");
	world_join(w, NULL);
	assert_int_equal(w->fabric->rails[0].ends[1].fault, RAIL_OTHER_PORT);
	assert_string_equal(w->fabric->rails[0].ends[1].proof_text,
			    "10.0.0.2 is at 02:00:00:00:01:01 on eth0 (neighbour table of head), which is eth1 of worker, "
			    "not eth0");
	assert_int_equal(w->fabric->rails[1].ends[0].proof, PROOF_REFUTED);
	assert_int_equal(w->fabric->rails[1].ends[0].fault, RAIL_SAME_ADDR);
	assert_string_equal(w->fabric->rails[1].ends[1].proof_text,
			    "10.0.1.1 is the address of both eth1 of head and eth1 of worker");
	world_free(w);
}

static void test_down_port_stays_in_its_rail(void **state)
{
	struct world *w = world_new();
	struct buf *text = host_begin(w);

	(void)state;
	add_port(text, 0, 0, "1: DOWN");
	add_addr(text, 0, "10.0.0.1", 24, 0);
	host_end(w, "head");
	text = host_begin(w);
	add_port(text, 1, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.2", 24, 0);
	add_neighbour(text, 0, "10.0.0.1", 0x4, "02:00:00:00:00:00");
	host_end(w, "worker");
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 1);
	assert_int_equal(w->fabric->rails[0].ends[1].proof, PROOF_NEIGHBOUR);
	assert_false(w->fabric->rails[0].is_proven);
	world_free(w);
}

/* Four ports in one /16 on both hosts, cabled crosswise: the neighbour tables tell, and each port is in one rail. */
static void test_twins_in_one_subnet(void **state)
{
	struct world *w = world_new();

	(void)state;
	for (unsigned h = 0; h < 2; h++) {
		struct buf *text = host_begin(w);
		char addr[32];

		for (unsigned n = 0; n < 4; n++) {
			add_port(text, h, n, "4: ACTIVE");
			snprintf(addr, sizeof(addr), "10.0.%u.%u", n, h + 1);
			add_addr(text, n, addr, 16, 0);
		}
		if (!h) {
			add_neighbour(text, 0, "10.0.1.2", 0x2, "02:00:00:00:01:01");
			add_neighbour(text, 1, "10.0.0.2", 0x2, "02:00:00:00:01:00");
		}
		host_end(w, h ? "worker" : "head");
	}
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 4);
	assert_string_equal(port_on(&w->fabric->rails[0], 0), "mlx5_0/1");
	assert_string_equal(port_on(&w->fabric->rails[0], 1), "mlx5_1/1");
	assert_string_equal(port_on(&w->fabric->rails[1], 1), "mlx5_0/1");
	assert_string_equal(port_on(&w->fabric->rails[2], 1), "mlx5_2/1");
	assert_string_equal(port_on(&w->fabric->rails[3], 1), "mlx5_3/1");
	assert_true(w->fabric->rails[0].is_proven);
	assert_false(w->fabric->rails[2].is_proven);
	for (size_t p = 0; p < 4; p++)
		assert_ptr_equal(w->fabric->ports[0][p].rail, &w->fabric->rails[p]);
	world_free(w);
}

/* A ring: each cable is a subnet of its own between two hosts. */
static void test_ring(void **state)
{
	struct world *w = world_new();

	(void)state;
	for (unsigned h = 0; h < 3; h++) {
		struct buf *text = host_begin(w);
		char addr[32];

		for (unsigned n = 0; n < 2; n++) {
			add_port(text, h, n, "4: ACTIVE");
			/* cable c joins port 1 of host c to port 0 of host c+1 */
			snprintf(addr, sizeof(addr), "10.0.%u.%u", n ? h : (h + 2) % 3, n + 1);
			add_addr(text, n, addr, 24, 0);
		}
		host_end(w, h == 0 ? "a" : h == 1 ? "b" : "c");
	}
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(w->fabric->rails[i].n_ends, 2);
	assert_ptr_equal(w->fabric->rails[0].ends[1].host, w->hosts[2]);
	assert_ptr_equal(w->fabric->rails[1].ends[1].host, w->hosts[1]);
	assert_ptr_equal(w->fabric->rails[2].ends[0].host, w->hosts[1]);
	assert_ptr_equal(w->fabric->rails[2].ends[1].host, w->hosts[2]);
	assert_int_equal(w->fabric->kind, FABRIC_UNKNOWN);
	world_free(w);
}

/*
 * fe80 and 169.254 are the same subnet everywhere: a neighbour entry joins. What no entry tells of 169.254, which somebody
 * gave, is guessed by name, so that it can be tried.
 */
static void test_link_local(void **state)
{
	struct world *w = world_new();
	struct buf *text = host_begin(w);

	(void)state;
	for (unsigned n = 0; n < 3; n++)
		add_port(text, 0, n, "4: ACTIVE");
	add_addr(text, 0, "169.254.1.1", 16, 253);
	add_addr(text, 1, "fe80::1", 64, 253);
	add_addr(text, 2, "fe80::2", 64, 253);
	add_neighbour(text, 1, "fe80::22", 0x4, "02:00:00:00:01:02");
	host_end(w, "head");
	text = host_begin(w);
	for (unsigned n = 0; n < 3; n++)
		add_port(text, 1, n, "4: ACTIVE");
	add_addr(text, 0, "169.254.1.2", 16, 253);
	add_addr(text, 1, "fe80::21", 64, 253);
	add_addr(text, 2, "fe80::22", 64, 253);
	host_end(w, "worker");
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 2);
	assert_string_equal(port_on(&w->fabric->rails[0], 0), "mlx5_0/1");
	assert_string_equal(port_on(&w->fabric->rails[0], 1), "mlx5_0/1");
	assert_int_equal(w->fabric->rails[0].ends[1].proof, PROOF_SUBNET);
	assert_false(w->fabric->rails[0].is_proven);
	assert_string_equal(port_on(&w->fabric->rails[1], 0), "mlx5_1/1");
	assert_string_equal(port_on(&w->fabric->rails[1], 1), "mlx5_2/1");
	assert_true(w->fabric->rails[1].is_proven);
	/* 169.254 was given by somebody, fe80 came by itself */
	assert_int_equal(w->fabric->ports[0][0].use, PORT_USED_ADDRESS);
	assert_int_equal(w->fabric->ports[0][1].use, PORT_USED_JOINED);
	assert_int_equal(w->fabric->ports[0][2].use, PORT_UNUSED);
	world_free(w);
}

/* /24 on one side and /16 on the other: still one cable. */
static void test_unequal_prefixes(void **state)
{
	struct world *w = world_new();
	struct buf *text = host_begin(w);

	(void)state;
	add_port(text, 0, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.1", 24, 0);
	add_neighbour(text, 0, "10.0.0.2", 0x2, "02:00:00:00:01:00");
	host_end(w, "head");
	text = host_begin(w);
	add_port(text, 1, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.2", 16, 0);
	host_end(w, "worker");
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 1);
	assert_true(w->fabric->rails[0].is_proven);
	world_free(w);
}

static void add_routed_host(struct world *w, unsigned h, const char *name, unsigned gateway_state)
{
	struct buf *text = host_begin(w);
	char addr[32], gateway[32], net[32];

	for (unsigned n = 0; n < 2; n++) {
		add_port(text, h, n, "4: ACTIVE");
		snprintf(addr, sizeof(addr), "10.%u.%u.2", n, h);
		snprintf(gateway, sizeof(gateway), "10.%u.%u.1", n, h);
		snprintf(net, sizeof(net), "10.%u.0.0", n);
		add_addr(text, n, addr, 24, 0);
		add_route(text, n, net, 16, gateway, 254);
		add_neighbour(text, n, gateway, gateway_state, gateway_state == 0x20 ? NULL : "02:00:00:00:77:00");
	}
	host_end(w, name);
}

/* Rails that are routed, not bridged: a subnet for each host and rail. */
static void test_routed_rails(void **state)
{
	struct world *w = world_new();

	(void)state;
	add_routed_host(w, 0, "head", 0x2);
	add_routed_host(w, 1, "worker", 0x2);
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(port_on(&w->fabric->rails[i], 1), i ? "mlx5_1/1" : "mlx5_0/1");
		assert_int_equal(w->fabric->rails[i].ends[1].proof, PROOF_ROUTE);
		assert_false(w->fabric->rails[i].is_proven);
	}
	assert_string_equal(w->fabric->rails[0].ends[1].proof_text,
			    "10.0.1.2 is routed through 10.0.0.1 on eth0 (10.0.0.0/16 of head)");
	world_free(w);

	w = world_new();
	add_routed_host(w, 0, "head", 0x20);
	add_routed_host(w, 1, "worker", 0x2);
	world_join(w, NULL);
	assert_int_equal(w->fabric->rails[0].ends[1].proof, PROOF_REFUTED);
	world_free(w);
}

/* The port's own table, chosen by its address, goes before the main one. */
static void test_policy_routes(void **state)
{
	struct world *w = world_new();

	(void)state;
	for (unsigned h = 0; h < 2; h++) {
		struct buf *text = host_begin(w);

		for (unsigned n = 0; n < 2; n++) {
			char addr[32], gateway[32];

			add_port(text, h, n, "4: ACTIVE");
			snprintf(addr, sizeof(addr), "10.%u.%u.2", n, h);
			snprintf(gateway, sizeof(gateway), "10.%u.%u.1", n, h);
			add_addr(text, n, addr, 24, 0);
			add_route(text, n, "10.0.0.0", 8, gateway, 100 + n);
			buf_addf(
				text,
				"nl rtnl rule ipv4 %u\n  family 2\n  dst_len 0\n  src_len 32\n  action 1\n  src %s\n"
				"  table %u\n",
				n, addr, 100 + n);
		}
		host_end(w, h ? "worker" : "head");
	}
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 2);
	assert_string_equal(port_on(&w->fabric->rails[0], 1), "mlx5_0/1");
	assert_string_equal(port_on(&w->fabric->rails[1], 1), "mlx5_1/1");
	world_free(w);
}

static void test_infiniband(void **state)
{
	struct world *w = world_new();
	struct buf *text = host_begin(w);

	(void)state;
	add_ib_port(text, 0, "4: ACTIVE", 10, 1);
	add_ib_port(text, 1, "4: ACTIVE", 11, 1);
	add_ib_port(text, 2, "2: INIT", 0xffff, 0);
	host_end(w, "head");
	text = host_begin(w);
	add_ib_port(text, 0, "1: DOWN", 0xffff, 0);
	add_ib_port(text, 1, "4: ACTIVE", 21, 1);
	add_ib_port(text, 2, "4: ACTIVE", 22, 7); /* another fabric */
	host_end(w, "worker");
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, 1);
	assert_string_equal(port_on(&w->fabric->rails[0], 0), "mlx5_1/1"); /* the same name, not the first in order */
	assert_string_equal(port_on(&w->fabric->rails[0], 1), "mlx5_1/1");
	assert_null(w->fabric->rails[0].ends[0].addr);
	assert_int_equal(w->fabric->rails[0].ends[1].proof, PROOF_FABRIC);
	assert_string_equal(w->fabric->rails[0].ends[1].proof_text,
			    "both ACTIVE in subnet fe80:0000:0000:0000 under the subnet manager at LID 1");
	assert_true(w->fabric->rails[0].is_proven);
	assert_int_equal(w->fabric->ports[0][0].use, PORT_USED_ADDRESS);
	assert_int_equal(w->fabric->ports[0][2].use, PORT_UNUSED);
	world_free(w);
}

static void test_switch_by_neighbours(void **state)
{
	struct world *w = world_new();
	struct buf *text = host_begin(w);

	(void)state;
	add_port(text, 0, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.1", 24, 0);
	add_neighbour(text, 0, "10.0.0.2", 0x2, "02:00:00:00:01:00");
	add_neighbour(text, 0, "10.0.0.12", 0x4, "02:00:00:00:01:01"); /* worker's other port: the same machine */
	add_neighbour(text, 0, "10.0.0.13", 0x20, NULL);
	host_end(w, "head");
	text = host_begin(w);
	add_port(text, 1, 0, "4: ACTIVE");
	add_port(text, 1, 1, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.2", 24, 0);
	host_end(w, "worker");
	world_join(w, NULL);
	assert_int_equal(w->fabric->kind, FABRIC_UNKNOWN);
	fabric_free(w->fabric);
	w->fabric = NULL;
	world_free(w);

	w = world_new();
	text = host_begin(w);
	add_port(text, 0, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.1", 24, 0);
	add_neighbour(text, 0, "10.0.0.2", 0x2, "02:00:00:00:01:00");
	add_neighbour(text, 0, "10.0.0.9", 0x4, "02:00:00:00:09:00");
	host_end(w, "head");
	text = host_begin(w);
	add_port(text, 1, 0, "4: ACTIVE");
	add_addr(text, 0, "10.0.0.2", 24, 0);
	host_end(w, "worker");
	world_join(w, NULL);
	assert_int_equal(w->fabric->kind, FABRIC_SWITCHED);
	assert_string_equal(w->fabric->kind_why,
			    "eth0 of head has several neighbours, among them 02:00:00:00:01:00 and 02:00:00:00:09:00");
	world_free(w);
}

static void test_named_ports(void **state)
{
	static const char *const names[] = { "worker=mlx5_0", "mlx5_1/1", NULL };
	const struct fabric_hints hints = { .named_ports = names };
	struct world *w = world_new();

	(void)state;
	for (unsigned h = 0; h < 2; h++) {
		struct buf *text = host_begin(w);

		add_port(text, h, 0, "1: DOWN");
		add_port(text, h, 1, "1: DOWN");
		add_addr(text, 0, h ? "10.0.0.2" : "10.1.0.1", 24, 0);
		host_end(w, h ? "worker" : "head");
	}
	world_join(w, &hints);
	assert_int_equal(w->fabric->ports[0][0].use, PORT_USED_ADDRESS);
	assert_int_equal(w->fabric->ports[0][1].use, PORT_USED_PROFILE);
	assert_int_equal(w->fabric->ports[1][0].use, PORT_USED_PROFILE);
	assert_int_equal(w->fabric->n_rails, 0);
	assert_string_equal(w->fabric->cages[0].name, "mlx5_0/1");
	world_free(w);
}

/* Many hosts with all ports in one flat subnet, the worst case for pairing: it must end, with each port in one rail. */
static void test_many_hosts(void **state)
{
	enum { HOSTS = 256, PORTS = 8 };
	struct world *w = world_new();

	(void)state;
	for (unsigned h = 0; h < HOSTS; h++) {
		struct buf *text = host_begin(w);
		char addr[32], name[32];

		for (unsigned n = 0; n < PORTS; n++) {
			add_port(text, h, n, "4: ACTIVE");
			snprintf(addr, sizeof(addr), "10.%u.%u.1", n, h);
			add_addr(text, n, addr, 8, 0);
		}
		snprintf(name, sizeof(name), "h%u", h);
		host_end(w, name);
	}
	world_join(w, NULL);
	assert_int_equal(w->fabric->n_rails, PORTS);
	for (size_t i = 0; i < PORTS; i++) {
		assert_int_equal(w->fabric->rails[i].n_ends, HOSTS);
		assert_ptr_equal(w->fabric->rails[i].ends[200].port, w->hosts[200]->ports[i]);
	}
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spark_pair),
		cmocka_unit_test(test_spark_without_nic),
		cmocka_unit_test(test_spark_by_its_functions),
		cmocka_unit_test(test_subnet_is_only_a_hint),
		cmocka_unit_test(test_three_hosts_need_a_switch),
		cmocka_unit_test(test_neighbour_tables),
		cmocka_unit_test(test_probes_beat_tables),
		cmocka_unit_test(test_refuted_why),
		cmocka_unit_test(test_down_port_stays_in_its_rail),
		cmocka_unit_test(test_twins_in_one_subnet),
		cmocka_unit_test(test_ring),
		cmocka_unit_test(test_link_local),
		cmocka_unit_test(test_unequal_prefixes),
		cmocka_unit_test(test_routed_rails),
		cmocka_unit_test(test_policy_routes),
		cmocka_unit_test(test_infiniband),
		cmocka_unit_test(test_switch_by_neighbours),
		cmocka_unit_test(test_named_ports),
		cmocka_unit_test(test_many_hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
