// SPDX-License-Identifier: Apache-2.0
/* link.ib_sm - every InfiniBand port whose wire is up is served by a subnet manager. */
#include "checks/check.h"
#include "core/buf.h"
#include "rules/causes.h"

/* One missing subnet manager is one finding, however many ports wait for it. */
static void run(struct verdicts *v, const struct snapshot *host)
{
	struct arena *arena = v->results->arena;
	cleanup_buf struct buf lacking = BUF_INIT;
	const char *names;
	size_t n_ib = 0, n_lacking = 0;
	struct finding *f;

	for (size_t i = 0; i < host->n_ports; i++) {
		const struct rdma_port *port = host->ports[i];

		n_ib += port_is_ib(port) && (port_is_active(port) || port_lacks_sm(port));
		if (port_lacks_sm(port))
			buf_addf(&lacking, "%s%s", n_lacking++ ? ", " : "", port->name);
	}
	names = arena_strdup(arena, buf_str(&lacking));
	if (n_lacking == 0) {
		if (n_ib == 0)
			skip(v, host, "", "no InfiniBand port with its link up");
		else
			pass(v, host, "", "%zu InfiniBand port%s served by a subnet manager", n_ib,
			     n_ib == 1 ? " is" : "s are");
		return;
	}
	f = fail(v, host, names, "no subnet manager serves %zu of %zu InfiniBand ports whose link is up", n_lacking,
		 n_ib);
	for (size_t i = 0; i < host->n_ports; i++) {
		const struct rdma_port *port = host->ports[i];

		if (!port_lacks_sm(port))
			continue;
		saw_text(v, f, host, arena_printf(arena, "state of %s", port->name),
			 text_of(port_state_name(port->state.val), port->state.origin));
		saw_num(v, f, host, arena_printf(arena, "subnet manager's LID on %s", port->name), port->sm_lid, NULL);
	}
	expected(v, f, "InfiniBand specification: a port gets its LID from the subnet manager",
		 "state ACTIVE, SM LID not 0");
	remedy_advice(
		v->results, f, host,
		"start a subnet manager on the switch, or on one host of this subnet: systemctl enable --now opensm");
}

const struct check check_link_ib_sm = {
	.id = "link.ib_sm",
	.title = "Each InfiniBand port whose link is up is served by a subnet manager",
	.why = "without a LID no packet leaves the port, and NCCL does not see it",
	.remedy = "start a subnet manager: on the switch, or opensm on one host",
	.source = "InfiniBand specification, subnet management",
	.needs = NEEDS_PORTS,
	.run = run,
};
