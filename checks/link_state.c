// SPDX-License-Identifier: Apache-2.0
/* link.state - a port in use is ACTIVE; one that is not says why: set down, no cable, no partner, training failed. */
#include "checks/check.h"
#include "core/text.h"
#include "rules/blame.h"
#include "rules/causes.h"

static void saw_state(struct verdicts *v, struct finding *f, const struct snapshot *host, const struct rdma_port *port)
{
	struct arena *arena = v->results->arena;
	const struct netdev *netdev = port->netdev;

	if (!port->state.err)
		saw_text(v, f, host, "state", text_of(port_state_name(port->state.val), port->state.origin));
	if (!port->phys_state.err)
		saw_text(v, f, host, "physical state",
			 text_of(phys_state_name(port->phys_state.val), port->phys_state.origin));
	if (!netdev)
		return;
	if (!netdev->flags.err)
		saw_text(v, f, host, arena_printf(arena, "%s administratively", netdev->name),
			 text_of(netdev->flags.val & IFF_UP ? "up" : "down", netdev->flags.origin));
	if (!netdev->carrier.err)
		saw_num(v, f, host, arena_printf(arena, "%s carrier", netdev->name), netdev->carrier, NULL);
	if (!netdev->ext_state.err)
		saw_text(v, f, host, "why the driver keeps the link down",
			 text_of(ext_state_name(netdev->ext_state.val), netdev->ext_state.origin));
}

static void advise(struct verdicts *v, struct finding *f, const struct snapshot *host, const struct rdma_port *port)
{
	const char *end = port->netdev ? port->netdev->name : port->name;

	switch (port_trouble(port)) {
	case TROUBLE_SET_DOWN:
		remedy_set_up(v->results, f, host, port->netdev);
		break;
	case TROUBLE_SILENT:
		remedy_command(v->results, f, host, false, "bounces the link and every connection over it",
			       "ip link set dev %s down && ip link set dev %s up",
			       text_shell_word(v->results->arena, end), text_shell_word(v->results->arena, end));
		break;
	case TROUBLE_NO_CABLE:
	case TROUBLE_NO_CARRIER:
		remedy_advice(v->results, f, host,
			      "plug the cable of %s in until it clicks, at both ends; then look whether the far end is "
			      "set up",
			      end);
		break;
	default:
		remedy_advice(v->results, f, host,
			      "reseat the cable of %s at both ends, then try another cable or port", end);
		break;
	}
}

static const char *used_because(const struct port_info *info)
{
	switch (info->use) {
	case PORT_USED_ADDRESS:
		return "it carries an address";
	case PORT_USED_LAUNCH:
		return "the launch environment names it";
	case PORT_USED_PROFILE:
		return "the profile expects it";
	default:
		return "a peer's port is on the same segment";
	}
}

static void judge_down(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
		       enum port_judge judge)
{
	const char *why = port_trouble_text(port);
	const struct rail_end *far = far_end_to_blame(v->fabric, port);
	struct finding *f;

	if (judge == JUDGE_FAR_END)
		f = warn(v, host, port->name, "the port is %s with its far end, %s's %s, for which this check fails",
			 port_state_name(port->state.val), far->host->name, far->port->name);
	else if (judge == JUDGE_LINK_FABRIC)
		f = warn(v, host, port->name,
			 "the port is %s: %s (link.fabric fails for it: no rail to that peer is left)",
			 port_state_name(port->state.val), why);
	else if (judge == JUDGE_LINK_IB_SM)
		f = warn(v, host, port->name, "the port is %s: %s (link.ib_sm fails for it)",
			 port_state_name(port->state.val), why);
	else
		f = fail(v, host, port->name, "the port is %s: %s", port_state_name(port->state.val), why);
	saw_state(v, f, host, port);
	if (judge == JUDGE_LINK_STATE) {
		expected(v, f, used_because(fabric_port(v->fabric, port)), "state ACTIVE");
		advise(v, f, host, port);
	}
}

static void judge_unused(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const char *why = port_trouble(port) == TROUBLE_NO_CARRIER ? "no carrier" : port_trouble_text(port);

	skip(v, host, port->name, "unused: %s", port_is_active(port) ? "it carries no address" : why);
}

static void judge_active(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	struct finding *f = pass(v, host, port->name, "the port is ACTIVE");

	saw_state(v, f, host, port);
}

/* An InfiniBand port needs no address to be of use, so being ACTIVE is all that can be asked of it. */
static bool is_wanted(const struct verdicts *v, const struct rdma_port *port)
{
	return port_is_ib(port) || fabric_port_is_used(v->fabric, port);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	for (size_t i = 0; i < host->n_ports; i++) {
		const struct rdma_port *port = host->ports[i];
		enum port_judge judge = port_judged_by(v->pairs, port);

		if (judge == JUDGE_UNREAD)
			unread(v, host, port->name, "port state", port->state);
		else if (judge == JUDGE_UNUSED || (judge == JUDGE_NOBODY && !is_wanted(v, port)))
			judge_unused(v, host, port);
		else if (judge == JUDGE_NOBODY)
			judge_active(v, host, port);
		else
			judge_down(v, host, port, judge);
	}
}

const struct check check_link_state = {
	.id = "link.state",
	.title = "Each RDMA port in use is ACTIVE",
	.why = "NCCL leaves a port out that is not ACTIVE, or hangs at its first connection over it",
	.remedy = "set the netdev up, plug the cable in, or take the address off a port that is not meant to be used",
	.source = "InfiniBand specification, port states; Linux ib_core tells the same ones for RoCE",
	.needs = NEEDS_PORTS,
	.run = run,
};
