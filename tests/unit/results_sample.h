/* SPDX-License-Identifier: Apache-2.0 */
/* Result trees for tests of the reports: two Sparks as they might be met, in order and with MTU 1500 on worker. */
#ifndef SPARKFAB_TESTS_RESULTS_SAMPLE_H
#define SPARKFAB_TESTS_RESULTS_SAMPLE_H

#include <errno.h>

#include "results/results.h"

static const char *const sample_require[] = { "link.fabric", "mtu.parity", "peer.reach", NULL };

static const char *const sample_ports[] = { "rocep1s0f0/1", "roceP2p1s0f0/1" };
static const char *const sample_netdevs[] = { "enp1s0f0np0", "enP2p1s0f0np0" };
static const char *const sample_addrs[2][2] = { { "192.168.100.1", "192.168.101.1" }, { "192.168.100.2", "192.168.101.2" } };
static const char *const sample_rails[] = { "rail 0", "rail 1" };

static void sample_host(struct results *results, const char *name, const char *role)
{
	*arena_push(results->arena, &results->hosts, &results->n_hosts) = (struct results_host){
		.name = name, .role = role, .hostname = name, .kernel = "6.17.0-1032-nvidia", .os = "Ubuntu 24.04.3 LTS",
		.product = "NVIDIA_DGX_Spark", .arch = "aarch64", .answered = true,
	};
}

static void sample_rail(struct results *results, size_t rail, const char *const mtus[2])
{
	static const char *const hosts[] = { "head", "worker" };
	struct rail_picture *picture = arena_push(results->arena, &results->rails, &results->n_rails);

	picture->name = sample_rails[rail];
	picture->is_proven = true;
	for (size_t i = 0; i < 2; i++)
		*arena_push(results->arena, &picture->ends, &picture->n_ends) = (struct rail_picture_end){
			.host = hosts[i], .port = sample_ports[rail], .netdev = sample_netdevs[rail],
			.addr = sample_addrs[i][rail], .rate = "200G", .mtu = mtus[i], .active = true,
		};
}

static struct results *sample_new(void)
{
	struct results *results = results_new();

	results->profile = "gb10-direct";
	results->profile_why = "both hosts are DGX Sparks by DMI, and nothing speaks of a switch";
	results->level = LEVEL_PROBE;
	results->started_real_ns = 1790000000123456789;
	results->duration_ns = 3210987654;
	sample_host(results, "head", "head");
	sample_host(results, "worker", "worker");
	return results;
}

static void sample_each_port(struct results *results, const char *check, enum verdict verdict, const char *message)
{
	static const char *const hosts[] = { "head", "worker" };

	for (size_t h = 0; h < 2; h++)
		for (size_t p = 0; p < 2; p++)
			finding_host(results, finding_add(results, check, verdict, sample_ports[p], "%s", message), hosts[h]);
}

static void sample_common(struct results *results)
{
	struct finding *f;

	f = finding_add(results, "peer.reach", VERDICT_PASS, "", "worker answered over ssh");
	finding_host(results, f, "worker");
	f = finding_add(results, "link.fabric", VERDICT_PASS, "", "2 rails join head and worker");
	finding_host(results, f, "head");
	finding_host(results, f, "worker");
	sample_each_port(results, "link.state", VERDICT_PASS, "the port is ACTIVE");
	sample_each_port(results, "link.rate", VERDICT_PASS, "the port runs at 200 Gb/s");
	sample_each_port(results, "link.errors", VERDICT_SKIP, "one sample only (--level probe takes two)");
	f = finding_add(results, "link.cable", VERDICT_SKIP, sample_ports[0], "module EEPROM: permission denied");
	finding_host(results, f, "head");
	finding_num(results, f, "head", "module EEPROM", num_err(EPERM, "ethtool module-eeprom-get"), NULL);
	f = finding_add(results, "link.bond", VERDICT_SKIP, "", "no RDMA port is on a bond");
	finding_host(results, f, "head");
}

static struct results *sample_healthy(void)
{
	static const char *const mtus[] = { "9000/4096", "9000/4096" };
	struct results *results = sample_new();

	sample_rail(results, 0, mtus);
	sample_rail(results, 1, mtus);
	sample_common(results);
	sample_each_port(results, "mtu.rdma", VERDICT_PASS, "the RDMA MTU is 4096");
	finding_host(results, finding_add(results, "mtu.parity", VERDICT_PASS, "rail 0", "both ends have MTU 9000"), "head");
	results_finish(results, sample_require, NULL);
	return results;
}

/* MTU 1500 came back on worker after a reboot: rails do not fit, RDMA frames are small, one PCIe link is narrow besides. */
static void sample_parity(struct results *results, size_t rail)
{
	struct finding *f = finding_add(results, "mtu.parity", VERDICT_FAIL, sample_rails[rail],
					"the ends have different MTUs: %s on head has 9000, %s on worker 1500",
					sample_netdevs[rail], sample_netdevs[rail]);
	struct remedy now = {
		.host = "worker", .disturbs = "RDMA connections over it are renegotiated",
		.command = arena_printf(results->arena, "ip link set dev %s mtu 9000", sample_netdevs[rail]),
	};
	struct remedy persistent = {
		.host = "worker", .is_persistent = true,
		.disturbs = "applies whatever else changed under /etc/netplan, may bounce links",
		.command = arena_printf(results->arena, "netplan set ethernets.%s.mtu=9000 && netplan apply", sample_netdevs[rail]),
	};

	finding_host(results, f, "worker");
	finding_host(results, f, "head");
	finding_num(results, f, "head", "MTU", num_of(9000, "rtnetlink: link enp1s0f0np0"), "bytes");
	finding_num(results, f, "worker", "MTU", num_of(1500, "rtnetlink: link enp1s0f0np0"), "bytes");
	finding_expect(results, f, "RoCE v2: both ends of a connection send frames of the smaller path MTU, but datagrams are lost",
		       "the same MTU at both ends of a rail");
	finding_remedy(results, f, now);
	finding_remedy(results, f, persistent);
}

static struct results *sample_broken(void)
{
	static const char *const mtus[] = { "9000/4096", "1500/1024" };
	struct results *results = sample_new();
	struct finding *f;

	sample_rail(results, 0, mtus);
	sample_rail(results, 1, mtus);
	results->rails[1].is_broken = true;
	results->rails[1].is_proven = false;
	results->rails[1].note = "192.168.101.2 did not answer on enP2p1s0f0np0 (neighbour table: FAILED)";
	results->rails[1].ends[1].active = false;
	sample_common(results);
	sample_parity(results, 0);
	sample_parity(results, 1);
	f = finding_add(results, "mtu.rdma", VERDICT_WARN, sample_ports[0], "the RDMA MTU is 1024, this device's largest 4096");
	finding_host(results, f, "worker");
	finding_num(results, f, "worker", "RDMA MTU", num_of(1024, "ibv_query_port"), "bytes");
	finding_num(results, f, "worker", "port rate", num_of(200000000000, "/sys/class/infiniband/rocep1s0f0/ports/1/rate"), "bits/s");
	finding_expect(results, f, "profile gb10-direct: measured, 5 to 25 % of bandwidth are lost below it", "4096 bytes");
	f = finding_add(results, "link.pcie_width", VERDICT_UNKNOWN, "0002:01:00.0", "PCIe width: input/output error");
	finding_host(results, f, "worker");
	finding_num(results, f, "worker", "PCIe width", num_err(EIO, "/sys/bus/pci/devices/0002:01:00.0/current_link_width"), NULL);
	finding_remedy(results, f, (struct remedy){ .host = "worker", .advice = "look at the kernel's log for messages about this device" });
	*arena_push(results->arena, &results->not_run, &results->n_not_run) = "perf.verbs_bw";
	*arena_push(results->arena, &results->measurements, &results->n_measurements) = (struct measurement){
		.name = "tcp_connect", .from_host = "head", .from_port = NULL, .to_host = "worker", .to_port = NULL,
		.value = num_of(183000, "connect(2)"), .unit = "ns",
	};
	results_finish(results, sample_require, NULL);
	return results;
}

#endif
