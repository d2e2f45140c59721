// SPDX-License-Identifier: Apache-2.0
/* link.bond - an RDMA port on a bond has all its members up, in a mode in which the NIC can follow. */
#include <string.h>

#include "checks/check.h"
#include "core/text.h"

/* Modes that mlx5 offloads as one RDMA device; in others RoCE stays on one member, or there is no bonded device at all.
 */
static const char *const good_modes[] = { "802.3ad", "active-backup", "balance-xor" };

static const struct netdev *port_bond(const struct rdma_port *port)
{
	const struct netdev *netdev = port->netdev;

	if (netdev && netdev->lower)
		netdev = netdev->lower;
	if (netdev && netdev->master)
		netdev = netdev->master;
	return netdev && !netdev->kind.err && !strcmp(netdev->kind.val, "bond") ? netdev : NULL;
}

static bool is_up(const struct netdev *member)
{
	return num_is(member->carrier, 1) && !member->flags.err && (member->flags.val & IFF_UP);
}

static bool has_good_mode(const struct netdev *bond)
{
	if (bond->bond_mode.err)
		return true;
	for (size_t i = 0; i < sizeof(good_modes) / sizeof(good_modes[0]); i++)
		if (!strcmp(bond->bond_mode.val, good_modes[i]))
			return true;
	return false;
}

static void judge_member(struct verdicts *v, const struct snapshot *host, const struct netdev *bond,
			 const struct netdev *member)
{
	struct arena *arena = v->results->arena;
	bool set_down = !member->flags.err && !(member->flags.val & IFF_UP);
	struct finding *f = warn(v, host, bond->name, "member %s of %s is out: %s", member->name, bond->name,
				 set_down ? "it is set down" : "no carrier");

	saw_num(v, f, host, arena_printf(arena, "%s carrier", member->name), member->carrier, NULL);
	expected(v, f, "a bond is as fast and as safe as the members it has", "every member up");
	if (set_down)
		remedy_set_up(v->results, f, host, member);
	else
		remedy_advice(v->results, f, host, "plug the cable of %s in again, at both ends", member->name);
}

static void judge(struct verdicts *v, const struct snapshot *host, const struct netdev *bond)
{
	size_t n_members = 0, n_up = 0;
	struct finding *f;

	for (size_t i = 0; i < host->n_netdevs; i++) {
		const struct netdev *member = &host->netdevs[i];

		if (member->master != bond)
			continue;
		n_members++;
		if (is_up(member))
			n_up++;
		else
			judge_member(v, host, bond, member);
	}
	if (!has_good_mode(bond)) {
		f = warn(v, host, bond->name, "bond mode %s is none that RDMA NICs follow", bond->bond_mode.val);
		saw_text(v, f, host, "bond mode", bond->bond_mode);
		expected(v, f, "Linux mlx5 driver, RoCE LAG", "802.3ad, active-backup or balance-xor");
	} else if (n_up == n_members) {
		f = pass(v, host, bond->name,
			 "%zu members are up%s; one queue pair uses one member, so NCCL needs "
			 "NCCL_IB_QPS_PER_CONNECTION of 2 "
			 "or more to fill the bond",
			 n_members, n_members < 2 ? " (a bond of one)" : "");
		saw_text(v, f, host, "bond mode", bond->bond_mode);
	}
}

static bool seen_before(const struct snapshot *host, size_t i, const struct netdev *bond)
{
	while (i-- > 0)
		if (port_bond(host->ports[i]) == bond)
			return true;
	return false;
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	size_t n = 0;

	for (size_t i = 0; i < host->n_ports; i++) {
		const struct netdev *bond = port_bond(host->ports[i]);

		if (!bond || seen_before(host, i, bond))
			continue;
		judge(v, host, bond);
		n++;
	}
	if (n == 0)
		skip(v, host, "", "no RDMA port is on a bond");
}

const struct check check_link_bond = {
	.id = "link.bond",
	.title = "An RDMA port on a bond has all its members up",
	.why = "a bond that lost a member goes on at a fraction of its rate, and no state check shows it",
	.remedy = "bring the member up again",
	.source = "Linux bonding; mlx5 RoCE LAG",
	.needs = NEEDS_PORTS,
	.run = run,
};
