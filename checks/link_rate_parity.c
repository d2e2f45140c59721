// SPDX-License-Identifier: Apache-2.0
/* link.rate_parity - all ends of a rail run at one rate. */
#include "checks/check.h"
#include "rules/causes.h"

static struct num end_rate(const struct rail_end *end)
{
	const struct rdma_port *port = end->port;

	if (port->rate_mbps.err && port->netdev && !port->netdev->speed_mbps.err)
		return port->netdev->speed_mbps;
	return port->rate_mbps;
}

/* Why nothing can be compared on this rail; NULL if it can. Placeholders of down ports and of soft devices are no
 * rates. */
static const char *nothing_to_compare(const struct rail *rail)
{
	for (size_t e = 0; e < rail->n_ends; e++) {
		if (rail->ends[e].port->dev->is_soft)
			return "soft RDMA devices have no rate of their own";
		if (!port_is_active(rail->ends[e].port))
			return "an end of it is not ACTIVE (see link.state)";
	}
	return NULL;
}

static void judge(struct verdicts *v, const struct rail *rail)
{
	struct parity_value *values = arena_array(v->results->arena, rail->n_ends, sizeof(*values));
	const char *reason = nothing_to_compare(rail);
	struct finding *f;

	if (reason) {
		skip(v, NULL, rail->name, "%s", reason);
		return;
	}
	for (size_t e = 0; e < rail->n_ends; e++)
		values[e] = (struct parity_value){ .host = rail->ends[e].host,
						   .subject_on_host = rail->ends[e].port->name,
						   .num = end_rate(&rail->ends[e]) };
	/* It works at the slower end's pace. Where the profile names a rate, link.rate fails for the end that is below
	 * it. */
	f = parity(v, rail->name, "rate", "Mbit/s", VERDICT_WARN, values, rail->n_ends);
	if (f->verdict == VERDICT_WARN)
		expected(v, f, "two ends of one link, or of one path, carry what the slower one can",
			 "the same rate at all ends");
}

static void compare(struct verdicts *v)
{
	for (size_t r = 0; r < v->fabric->n_rails; r++)
		judge(v, &v->fabric->rails[r]);
	if (v->fabric->n_rails == 0)
		skip(v, NULL, "", "no rail joins the hosts");
}

const struct check check_link_rate_parity = {
	.id = "link.rate_parity",
	.title = "All ends of a rail run at the same rate",
	.why = "the slower end sets the pace, and the faster one fills the switch's buffers",
	.remedy = "bring the slow end up to the others' rate; link.rate says what its port could do",
	.source = "the rates that the ports themselves tell",
	.compare = compare,
};
