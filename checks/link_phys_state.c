// SPDX-License-Identifier: Apache-2.0
/* link.phys_state - an InfiniBand port that is ACTIVE has a settled link below it. RoCE ports are judged by their
 * state. */
#include "checks/check.h"
#include "rules/causes.h"

static void judge(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	struct finding *f;

	if (skipped_as_down(v, host, port))
		return;
	if (port->phys_state.err) {
		unread(v, host, port->name, "physical state", port->phys_state);
		return;
	}
	if (port->phys_state.val == PHYS_LINK_UP) {
		pass(v, host, port->name, "the physical link is up");
		return;
	}
	f = fail(v, host, port->name,
		 "the port is ACTIVE, but its physical link is in %s: it is recovering from errors",
		 phys_state_name(port->phys_state.val));
	saw_text(v, f, host, "physical state", text_of(phys_state_name(port->phys_state.val), port->phys_state.origin));
	expected(v, f, "InfiniBand specification, port physical states", "LINK_UP");
	remedy_advice(v->results, f, host, "reseat the cable of %s at both ends, then try another one", port->name);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	size_t n = 0;

	for (size_t i = 0; i < host->n_ports; i++)
		if (port_is_ib(host->ports[i])) {
			judge(v, host, host->ports[i]);
			n++;
		}
	if (n == 0)
		skip(v, host, "", "no InfiniBand port: RoCE drivers tell nothing here that link.state does not");
}

const struct check check_link_phys_state = {
	.id = "link.phys_state",
	.title = "Each ACTIVE InfiniBand port has its physical link up",
	.why = "a link that keeps retraining stalls every queue pair on it",
	.remedy = "reseat or replace the cable",
	.source = "InfiniBand specification, PortPhysicalState",
	.needs = NEEDS_PORTS,
	.run = run,
};
