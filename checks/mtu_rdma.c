/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mtu.rdma - is the RDMA MTU of used RoCE ports as large as it can be. It follows from the netdev's MTU, and 1500
 * leaves room for 1024 only. Where the two ends of a rail differ, that is the fault, and mtu.parity's to tell.
 */
#include <inttypes.h>

#include "checks/check.h"
#include "rules/mtu.h"

#define WANTED 4096 /* RDMA's largest */

static void advise(struct verdicts *v, struct finding *f, const struct snapshot *host, const struct rdma_port *port)
{
	const struct threshold *min = port_netdev_mtu_min(v->profile, port);
	int64_t mtu = port->netdev ? netdev_mtu_to_set(port->netdev, min ? min->val : WANTED) : 0;

	if (mtu == 0) {
		remedy_advice(v->results, f, host,
			      "the device below this port allows no larger MTU: plan with the smaller packets");
		return;
	}
	remedy_set_mtu(v->results, f, host, port->netdev, mtu);
	remedy_advice(v->results, f, host, "set the same MTU at the other end, and on every switch port between them");
}

static void report_small(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
			 const struct threshold *wanted)
{
	const struct netdev *netdev = port->netdev;
	const struct threshold *min = port_netdev_mtu_min(v->profile, port);
	bool has_room = netdev && min && !netdev->mtu.err && netdev->mtu.val >= min->val;
	struct finding *f;

	if (!netdev || netdev->mtu.err)
		f = warn(v, host, port->name, "RDMA MTU is %" PRId64, port->mtu_bytes.val);
	else if (has_room)
		f = warn(v, host, port->name, "RDMA MTU is %" PRId64 " although %s has MTU %" PRId64,
			 port->mtu_bytes.val, netdev->name, netdev->mtu.val);
	else
		f = warn(v, host, port->name,
			 "RDMA MTU is only %" PRId64 " since %s has MTU %" PRId64 ": that costs bandwidth",
			 port->mtu_bytes.val, netdev->name, netdev->mtu.val);
	saw_num(v, f, host, "RDMA MTU", port->mtu_bytes, "bytes");
	saw_num(v, f, host, "largest RDMA MTU", port->max_mtu_bytes, "bytes");
	if (netdev)
		saw_num(v, f, host, "MTU", netdev->mtu, "bytes");
	expected(v, f, wanted ? wanted->source : "InfiniBand Architecture Specification: the largest MTU",
		 "RDMA MTU %" PRId64 "; measured between DGX Sparks, 1024 cost 5 to 25 %% of NCCL's bandwidth",
		 wanted ? wanted->val : (int64_t)WANTED);
	if (has_room)
		remedy_advice(v->results, f, host, "set %s down and up once, so that the RDMA port reads its MTU again",
			      netdev->name);
	else
		advise(v, f, host, port);
}

static void judge_port(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct threshold *wanted = profile_threshold(v->profile, "rdma_mtu_bytes");
	int64_t want = wanted ? wanted->val : WANTED;

	if (!port_is_ethernet(port)) {
		skip(v, host, port->name, "the subnet manager sets InfiniBand's MTU (mtu.parity compares the ends)");
		return;
	}
	if (skipped_as_down(v, host, port))
		return;
	if (host->verbs_available.err)
		skip(v, host, port->name,
		     "only libibverbs tells the RDMA MTU, and it is not to be had: %s (mtu.netdev judges instead)",
		     host->verbs_error ? host->verbs_error : value_gap_text(host->verbs_available.err));
	else if (port->mtu_bytes.err)
		unread(v, host, port->name, "RDMA MTU", port->mtu_bytes);
	else if (port->mtu_bytes.val >= want)
		saw_num(v, pass(v, host, port->name, "RDMA MTU is %" PRId64, port->mtu_bytes.val), host, "RDMA MTU",
			port->mtu_bytes, "bytes");
	else if (!port->max_mtu_bytes.err && port->mtu_bytes.val >= port->max_mtu_bytes.val)
		saw_num(v,
			pass(v, host, port->name, "RDMA MTU is %" PRId64 ", this device's largest",
			     port->mtu_bytes.val),
			host, "largest RDMA MTU", port->max_mtu_bytes, "bytes");
	else if (port_rail_mtus_differ(v->pairs, v->profile, port))
		skip(v, host, port->name, "RDMA MTU is %" PRId64 ", another one at the far end: mtu.parity tells",
		     port->mtu_bytes.val);
	else
		report_small(v, host, port, wanted);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	each_used_port(v, host, judge_port);
}

const struct check check_mtu_rdma = {
	.id = "mtu.rdma",
	.title = "Used RoCE ports have an RDMA MTU of 4096",
	.why = "small packets cost bandwidth and CPU: between DGX Sparks an RDMA MTU of 1024 cost 5 to 25 % of what "
	       "NCCL reached, "
	       "and NCCL's GPU-initiated networking assumes 4096",
	.remedy = "set the netdev's MTU to 9000 (4200 is enough) on both ends and on the switch between, now and "
		  "persistently",
	.source = "NVIDIA RoCE guidance: netdev MTU 4200 for RDMA MTU 4096; NVIDIA/dgx-spark-playbooks issues 25 and "
		  "103; NVIDIA/nccl issue 1957",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.run = run,
};
