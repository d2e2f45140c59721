// SPDX-License-Identifier: Apache-2.0
/* link.twins - where one connector carries several RDMA ports (a Spark's cage), all of them are up if one is in use. */
#include <inttypes.h>

#include "checks/check.h"
#include "rules/causes.h"

static bool is_in_use(const struct verdicts *v, const struct cage *cage)
{
	for (size_t i = 0; i < cage->n_ports; i++)
		if (fabric_port_is_used(v->fabric, cage->ports[i]) && port_is_active(cage->ports[i]))
			return true;
	return false;
}

static const struct rdma_port *first_down(const struct cage *cage)
{
	for (size_t i = 0; i < cage->n_ports; i++)
		if (!port_is_active(cage->ports[i]))
			return cage->ports[i];
	return NULL;
}

/* The check that fails for the down twin already: link.state if it is in use, link.fabric if a rail to a peer is
 * missing. */
static const char *told_by(const struct verdicts *v, const struct rdma_port *twin)
{
	const struct threshold *rails = profile_threshold(v->profile, "rails");

	if (fabric_port_is_used(v->fabric, twin))
		return "link.state";
	return v->fabric->n_hosts > 1 && rails && rails->val > 1 ? "link.fabric" : NULL;
}

static void judge_down(struct verdicts *v, const struct snapshot *host, const struct cage *cage,
		       const struct rdma_port *twin)
{
	const char *elsewhere = told_by(v, twin);
	struct finding *f;

	if (elsewhere) {
		skip(v, host, cage->name, "%s is %s, %s (see %s)", twin->name, port_state_name(twin->state.val),
		     port_trouble_text(twin), elsewhere);
		return;
	}
	f = fail(v, host, cage->name, "one half of the cage is out: %s is %s, %s", twin->name,
		 port_state_name(twin->state.val), port_trouble_text(twin));
	for (size_t i = 0; i < cage->n_ports; i++)
		saw_text(v, f, host, arena_printf(v->results->arena, "state of %s", cage->ports[i]->name),
			 text_of(port_state_name(cage->ports[i]->state.val), cage->ports[i]->state.origin));
	expected_threshold(v, f, profile_threshold(v->profile, "twins_per_cage"), NULL);
	if (port_trouble(twin) == TROUBLE_SET_DOWN)
		remedy_set_up(v->results, f, host, twin->netdev);
	else
		remedy_advice(v->results, f, host,
			      "both halves share one cable: if one is up, the other's netdev or driver is at fault");
}

static void judge(struct verdicts *v, const struct snapshot *host, const struct cage *cage,
		  const struct threshold *wanted)
{
	const struct rdma_port *down = first_down(cage);

	if (!is_in_use(v, cage)) {
		skip(v, host, cage->name, "no port of this cage is in use");
		return;
	}
	if (down && down->state.err) {
		unread(v, host, down->name, "port state", down->state);
	} else if (down) {
		judge_down(v, host, cage, down);
	} else if ((int64_t)cage->n_ports < wanted->val) {
		skip(v, host, cage->name, "%zu of %" PRId64 " ports of this cage are there (see link.present)",
		     cage->n_ports, wanted->val);
	} else {
		pass(v, host, cage->name, "all %zu ports of this cage are up", cage->n_ports);
	}
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	const struct threshold *wanted = profile_threshold(v->profile, "twins_per_cage");

	if (!wanted || wanted->val < 2) {
		skip(v, host, "", "the profile knows no connector that carries several ports here");
		return;
	}
	for (size_t i = 0; i < host->n_ports; i++) {
		const struct cage *cage = fabric_port(v->fabric, host->ports[i])->cage;

		if (cage->ports[0] == host->ports[i])
			judge(v, host, cage, wanted);
	}
}

const struct check check_link_twins = {
	.id = "link.twins",
	.title = "All ports of a cage are up if one of them is in use",
	.why = "each half carries about half of the cable's 200 Gb/s: with one down, collectives run at half speed",
	.remedy = "set the other half's netdev up; it needs an address of its own too",
	.source = "NVIDIA dgx-spark-playbooks: functions of one number in both PCI domains share a cage",
	.needs = NEEDS_PORTS,
	.run = run,
};
