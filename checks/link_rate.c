// SPDX-License-Identifier: Apache-2.0
/* link.rate - a port in use runs at the rate its platform expects; short of that, at the best rate the port itself
 * knows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checks/check.h"
#include "core/text.h"
#include "rules/causes.h"

static struct num port_rate(const struct rdma_port *port)
{
	if (port->rate_mbps.err && port->netdev && !port->netdev->speed_mbps.err)
		return port->netdev->speed_mbps;
	return port->rate_mbps;
}

/* "200000baseCR4/Full": the number in front. 0 if the best mode is not known. */
static int64_t best_mode_mbps(const char *const *modes, size_t n)
{
	int64_t best = 0;

	for (size_t i = 0; i < n; i++) {
		char *end;
		long long mbps = strtoll(modes[i], &end, 10);

		if (!strncmp(end, "base", 4) && mbps > best)
			best = mbps;
	}
	return best;
}

static const char *rate_words(struct arena *arena, int64_t mbps)
{
	if (mbps % 1000)
		return arena_printf(arena, "%" PRId64 " Mb/s", mbps);
	return arena_printf(arena, "%" PRId64 " Gb/s", mbps / 1000);
}

static void advise(struct verdicts *v, struct finding *f, const struct snapshot *host, const struct rdma_port *port,
		   int64_t wanted)
{
	const struct netdev *netdev = port->netdev;

	if (netdev && port_is_ethernet(port))
		remedy_command(v->results, f, host, false,
			       "bounces the link; a switch port has to be forced to the same speed",
			       "ethtool -s %s speed %" PRId64 " duplex full autoneg off",
			       text_shell_word(v->results->arena, netdev->name), wanted);
	remedy_advice(v->results, f, host,
		      "look at what the far end offers (switch port, cable type), then try another cable");
}

static void too_slow(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port, struct num rate,
		     const struct threshold *wanted)
{
	struct arena *arena = v->results->arena;
	struct finding *f = fail(v, host, port->name, "the port runs at %s instead of %s", rate_words(arena, rate.val),
				 rate_words(arena, wanted->val));

	saw_num(v, f, host, "rate", rate, "Mbit/s");
	if (port->netdev && port->netdev->n_modes_peer)
		saw_num(v, f, host, "best rate that the far end offers",
			num_of(best_mode_mbps(port->netdev->modes_peer, port->netdev->n_modes_peer),
			       "ethtool linkmodes: peer"),
			"Mbit/s");
	expected_threshold(v, f, wanted, "Mbit/s");
	advise(v, f, host, port, wanted->val);
}

/* Without a word from the profile: the port knows better modes than the one in use. */
static bool below_own_best(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
			   struct num rate)
{
	struct arena *arena = v->results->arena;
	const struct netdev *netdev = port->netdev;
	int64_t best = netdev ? best_mode_mbps(netdev->modes_ours, netdev->n_modes_ours) : 0;
	struct finding *f;

	if (best <= rate.val)
		return false;
	f = warn(v, host, port->name, "the port runs at %s and could do %s", rate_words(arena, rate.val),
		 rate_words(arena, best));
	saw_num(v, f, host, "rate", rate, "Mbit/s");
	expected(v, f, "ethtool: link modes that the port offers", "%" PRId64 " Mbit/s", best);
	remedy_advice(v->results, f, host, "if that is not what the far end can do at most, try another cable or port");
	return true;
}

/* One lane of an InfiniBand port that has four: the others did not come up. Two are ordinary: split ports, and a
 * Spark's. */
static bool lost_lanes(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	struct finding *f;

	if (!port_is_ib(port) || !num_is(port->width, 1))
		return false;
	f = warn(v, host, port->name, "the port runs on one lane: the others did not come up");
	saw_num(v, f, host, "lanes", port->width, NULL);
	expected(v, f, "InfiniBand: ports and cables are made with two or four lanes", "more than one lane");
	remedy_advice(v->results, f, host, "reseat the cable of %s at both ends, then try another one", port->name);
	return true;
}

static void judge(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct threshold *wanted = profile_threshold(v->profile, "port_rate_mbps");
	struct num rate = port_rate(port);
	struct finding *f;

	if (port->dev->is_soft) {
		skip(v, host, port->name, "soft RDMA device: it has no rate of its own");
		return;
	}
	if (skipped_as_down(v, host, port))
		return;
	if (rate.err) {
		unread(v, host, port->name, "rate", rate);
		return;
	}
	if (wanted && rate.val < wanted->val) {
		too_slow(v, host, port, rate, wanted);
		return;
	}
	if (lost_lanes(v, host, port) || (!wanted && below_own_best(v, host, port, rate)))
		return;
	f = pass(v, host, port->name, "the port runs at %s", rate_words(v->results->arena, rate.val));
	saw_num(v, f, host, "rate", rate, "Mbit/s");
	if (wanted)
		expected_threshold(v, f, wanted, "Mbit/s");
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	each_used_port(v, host, judge);
}

const struct check check_link_rate = {
	.id = "link.rate",
	.title = "Each port in use runs at the rate its platform expects",
	.why = "every collective waits for the slowest link",
	.remedy = "force the speed at both ends where autonegotiation settles for less, or change the cable",
	.source = "the profile; else the link modes that the port itself offers",
	.needs = NEEDS_PORTS,
	.run = run,
};
