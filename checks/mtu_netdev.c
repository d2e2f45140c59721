/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mtu.netdev - do the MTUs of stacked netdevs fit each other and the RDMA MTU. A netdev that is merely small is
 * mtu.rdma's to tell, by what it costs; only where the RDMA MTU cannot be read is it told here.
 */
#include <inttypes.h>

#include "checks/check.h"
#include "rules/mtu.h"

/* The upper netdev may send what the lower one cannot carry. Members of a bond are its lower ones. */
static bool is_too_large_for(const struct netdev *upper, const struct netdev *lower)
{
	return !upper->mtu.err && !lower->mtu.err && upper->mtu.val > lower->mtu.val;
}

static void report_stack(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
			 const struct netdev *upper, const struct netdev *lower)
{
	struct finding *f = fail(v, host, port->name,
				 "%s has MTU %" PRId64 ", %s below it only %" PRId64 ": larger frames are lost",
				 upper->name, upper->mtu.val, lower->name, lower->mtu.val);

	saw_num(v, f, host, arena_printf(v->results->arena, "MTU of %s", upper->name), upper->mtu, "bytes");
	saw_num(v, f, host, arena_printf(v->results->arena, "MTU of %s", lower->name), lower->mtu, "bytes");
	expected(v, f, "Linux kernel: a VLAN or bond hands its frames to the device below as they are",
		 "at least %" PRId64 " bytes on %s", upper->mtu.val, lower->name);
	remedy_set_mtu(v->results, f, host, lower, upper->mtu.val);
}

/* Pairs of upper and lower netdev around the port's own; true if one was reported. */
static bool judge_stack(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct netdev *own = port->netdev;
	bool is_bad = false;

	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct netdev *other = &host->netdevs[i], *upper = own, *lower = other;

		if (other->lower == own) {
			upper = other;
			lower = own;
		} else if (other == own || !port_rides_on(port, other)) {
			continue;
		}
		if (is_too_large_for(upper, lower)) {
			report_stack(v, host, port, upper, lower);
			is_bad = true;
		}
	}
	return is_bad;
}

/* Without verbs, the netdev's MTU is all there is to judge by. */
static void judge_blind(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct threshold *min = port_netdev_mtu_min(v->profile, port);
	const struct netdev *netdev = port->netdev;
	struct num rdma_mtu = port_rdma_mtu(v->profile, port);
	struct finding *f;
	int64_t mtu;

	if (!min || netdev->mtu.val >= min->val) {
		pass(v, host, port->name, "%s has MTU %" PRId64 ", room for the largest RDMA MTU", netdev->name,
		     netdev->mtu.val);
		return;
	}
	if (port_rail_mtus_differ(v->pairs, v->profile, port)) {
		skip(v, host, port->name, "%s has MTU %" PRId64 ", the far end another one: mtu.parity tells",
		     netdev->name, netdev->mtu.val);
		return;
	}
	f = warn(v, host, port->name,
		 "%s has MTU %" PRId64 ": room for an RDMA MTU of %" PRId64 " only, which costs bandwidth",
		 netdev->name, netdev->mtu.val, rdma_mtu.err ? 0 : rdma_mtu.val);
	saw_num(v, f, host, "MTU", netdev->mtu, "bytes");
	saw_num(v, f, host, "RDMA MTU", port->mtu_bytes, "bytes");
	expected_threshold(v, f, min, "bytes");
	mtu = netdev_mtu_to_set(netdev, min->val);
	if (mtu)
		remedy_set_mtu(v->results, f, host, netdev, mtu);
	remedy_advice(v->results, f, host, "set the same MTU at the other end, and on every switch port between them");
}

static void judge_fit(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct threshold *wanted = profile_threshold(v->profile, "rdma_mtu_bytes");
	const struct netdev *netdev = port->netdev;
	struct finding *f;

	if (port->mtu_bytes.val <= netdev->mtu.val) {
		f = pass(v, host, port->name, "%s has MTU %" PRId64 ": enough for the RDMA MTU of %" PRId64 "%s",
			 netdev->name, netdev->mtu.val, port->mtu_bytes.val,
			 wanted && port->mtu_bytes.val < wanted->val ? " (see mtu.rdma)" : "");
		saw_num(v, f, host, "MTU", netdev->mtu, "bytes");
		return;
	}
	f = fail(v, host, port->name, "%s has MTU %" PRId64 ", but RDMA sends packets of %" PRId64 " bytes over it",
		 netdev->name, netdev->mtu.val, port->mtu_bytes.val);
	saw_num(v, f, host, "MTU", netdev->mtu, "bytes");
	saw_num(v, f, host, "RDMA MTU", port->mtu_bytes, "bytes");
	expected(v, f, "RoCE: a packet is one Ethernet frame", "more than %" PRId64 " bytes", port->mtu_bytes.val);
	remedy_set_mtu(v->results, f, host, netdev,
		       netdev_mtu_to_set(netdev, port->mtu_bytes.val) ?: port->mtu_bytes.val);
}

static void judge_port(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	if (!port_is_ethernet(port)) {
		skip(v, host, port->name, "InfiniBand: its packets do not pass a netdev");
		return;
	}
	if (!port->netdev) {
		skip(v, host, port->name, "its netdev is not in this network namespace");
		return;
	}
	if (judge_stack(v, host, port) || skipped_as_down(v, host, port))
		return;
	if (port->netdev->mtu.err)
		unread(v, host, port->name, "MTU", port->netdev->mtu);
	else if (port->mtu_bytes.err)
		judge_blind(v, host, port);
	else
		judge_fit(v, host, port);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	each_used_port(v, host, judge_port);
}

const struct check check_mtu_netdev = {
	.id = "mtu.netdev",
	.title = "MTUs of netdevs fit the RDMA MTU and the devices below them",
	.why = "a frame larger than a device on its way is dropped without a word: small transfers work, the first "
	       "large one hangs",
	.remedy = "give the lower device at least the MTU of the one above it",
	.source = "Linux kernel: VLAN and bond devices do not fragment; mlx5 and rdma_rxe derive the RDMA MTU from the "
		  "netdev's",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.run = run,
};
