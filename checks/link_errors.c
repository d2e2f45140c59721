/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.errors - do error counters of used ports grow while they are watched. Only growth between the two samples is
 * judged: what a counter has gathered since boot may be one bad afternoon a month ago. Corrected FEC bits are how a
 * fast link works and are not in the table; a lost link is link.flaps' to tell.
 */
#include <errno.h>
#include <inttypes.h>

#include "checks/check.h"

enum where { IN_COUNTERS, IN_HW_COUNTERS, IN_STATS };

/* What a person would look at first. */
enum cure { CURE_CABLE, CURE_CONGESTION, CURE_SLOW_HOST, CURE_MTU, CURE_PEER, CURE_FABRIC };

struct error_counter {
	const char *name;
	enum where where;
	bool is_wire; /* of the physical port: twins in one cage show the same number */
	bool is_symbol; /* judged by the profile's symbol_errors_per_hour */
	enum cure cure;
	int warn_per_hour, fail_per_hour; /* more than this many; NEVER */
	const char *meaning;
	const char *source;
};

#define NEVER (-1)
#define PER_SECOND(n) ((n) * 3600)
#define PER_MINUTE(n) ((n) * 60)

static const char nvsentinel[] = "NVSentinel, NIC health monitor: rates of its default configuration";
static const char mlx5_ethtool[] = "Linux kernel documentation, mlx5 ethtool counters; the mark is sparkfab's";
static const char rates_like_nvsentinel[] = "NVSentinel's mark for like counters";

/* The deeper cause first: the first of those that are worst is the headline. */
static const struct error_counter error_counters[] = {
	/* the wire */
	{ "symbol_error", IN_COUNTERS, true, true, CURE_CABLE, 120, PER_SECOND(10), "bits are lost on the cable",
	  nvsentinel },
	{ "rx_pcs_symbol_err_phy", IN_STATS, true, true, CURE_CABLE, 120, PER_SECOND(10),
	  "error correction no longer mends what the cable loses", mlx5_ethtool },
	{ "rx_symbol_err_phy", IN_STATS, true, true, CURE_CABLE, 120, PER_SECOND(10),
	  "packets are dropped for coding errors on the cable", mlx5_ethtool },
	{ "rx_crc_errors_phy", IN_STATS, true, true, CURE_CABLE, 120, PER_SECOND(10),
	  "packets arrive with a wrong checksum", mlx5_ethtool },
	{ "local_link_integrity_errors", IN_COUNTERS, true, false, CURE_CABLE, 0, 0,
	  "the link's own error threshold was passed", nvsentinel },
	{ "excessive_buffer_overrun_errors", IN_COUNTERS, true, false, CURE_CABLE, 0, 0,
	  "the far end sends more than it was allowed to", nvsentinel },
	{ "link_error_recovery", IN_COUNTERS, true, false, CURE_CABLE, PER_MINUTE(5), NEVER,
	  "the link has to train again and again", nvsentinel },
	{ "port_rcv_errors", IN_COUNTERS, true, false, CURE_CABLE, PER_SECOND(10), NEVER, "damaged packets arrive",
	  nvsentinel },
	{ "port_rcv_remote_physical_errors", IN_COUNTERS, true, false, CURE_FABRIC, PER_SECOND(10), NEVER,
	  "packets arrive that were damaged on another link of the fabric", rates_like_nvsentinel },
	{ "rx_icrc_encapsulated", IN_HW_COUNTERS, false, false, CURE_FABRIC, 0, PER_SECOND(10),
	  "RoCE packets arrive damaged inside an intact frame: something on the way corrupts them",
	  "Linux mlx5 driver, RoCE ICRC errors: none is normal; the mark is sparkfab's" },
	/* frames that do not fit */
	{ "rx_oversize_pkts_phy", IN_STATS, true, false, CURE_MTU, PER_SECOND(1), NEVER,
	  "frames larger than this port's MTU arrive and are dropped", mlx5_ethtool },
	/* no room */
	{ "rx_discards_phy", IN_STATS, true, false, CURE_SLOW_HOST, PER_SECOND(100), NEVER,
	  "the NIC has no room for arriving packets: this host takes them too slowly", rates_like_nvsentinel },
	{ "rx_out_of_buffer", IN_STATS, false, false, CURE_SLOW_HOST, PER_SECOND(100), NEVER,
	  "the network stack takes packets too slowly from the NIC", rates_like_nvsentinel },
	{ "tx_pause_storm_error_events", IN_STATS, true, false, CURE_SLOW_HOST, 0, NEVER,
	  "this host stopped the whole link for so long that the NIC broke it off", mlx5_ethtool },
	{ "port_xmit_discards", IN_COUNTERS, true, false, CURE_CONGESTION, PER_SECOND(100), NEVER,
	  "packets are dropped before they are sent: the way out is jammed", nvsentinel },
	{ "tx_discards_phy", IN_STATS, true, false, CURE_CONGESTION, PER_SECOND(100), NEVER,
	  "packets are dropped before they are sent: the way out is jammed", rates_like_nvsentinel },
	{ "tx_errors_phy", IN_STATS, true, false, CURE_CABLE, PER_SECOND(10), NEVER, "packets could not be sent",
	  rates_like_nvsentinel },
	{ "VL15_dropped", IN_COUNTERS, true, false, CURE_FABRIC, PER_SECOND(10), NEVER,
	  "the subnet manager's packets are dropped", rates_like_nvsentinel },
	{ "port_xmit_constraint_errors", IN_COUNTERS, true, false, CURE_FABRIC, PER_SECOND(10), NEVER,
	  "packets are refused for their partition key", rates_like_nvsentinel },
	{ "port_rcv_constraint_errors", IN_COUNTERS, true, false, CURE_FABRIC, PER_SECOND(10), NEVER,
	  "packets are refused for their partition key", rates_like_nvsentinel },
	/* what follows from lost packets */
	{ "req_transport_retries_exceeded", IN_HW_COUNTERS, false, false, CURE_PEER, 0, NEVER,
	  "connections were given up after their last retry", "Linux mlx5 driver: each one is a connection lost" },
	{ "retry_exceeded_err", IN_HW_COUNTERS, false, false, CURE_PEER, 0, NEVER,
	  "connections were given up after their last retry", "Linux rdma_rxe driver: each one is a connection lost" },
	{ "retry_rnr_exceeded_err", IN_HW_COUNTERS, false, false, CURE_PEER, 0, NEVER,
	  "connections were given up since the receiver was never ready",
	  "Linux rdma_rxe driver: each one is a connection lost" },
	{ "rnr_nak_retry_err", IN_HW_COUNTERS, false, false, CURE_PEER, 0, NEVER,
	  "the receiver was not ready until the retries ran out", nvsentinel },
	{ "packet_seq_err", IN_HW_COUNTERS, false, false, CURE_CONGESTION, PER_SECOND(10), NEVER,
	  "the peer asks again for packets that were lost on the way there",
	  "gb10-cluster-guide: no growth on an idle pair, thousands where a switch is too small" },
	{ "out_of_sequence", IN_HW_COUNTERS, false, false, CURE_CONGESTION, PER_SECOND(10), NEVER,
	  "packets on their way here are lost or overtake each other",
	  "gb10-cluster-guide: no growth on an idle pair, thousands where a switch is too small" },
	{ "implied_nak_seq_err", IN_HW_COUNTERS, false, false, CURE_CONGESTION, PER_SECOND(10), NEVER,
	  "answers from the peer are lost on the way here", rates_like_nvsentinel },
	{ "local_ack_timeout_err", IN_HW_COUNTERS, false, false, CURE_CONGESTION, PER_SECOND(1), NEVER,
	  "packets or their acknowledgements are lost and sent again after a pause", nvsentinel },
	{ "roce_slow_restart", IN_HW_COUNTERS, false, false, CURE_CONGESTION, PER_SECOND(10), NEVER,
	  "senders start over slowly after losses", nvsentinel },
	{ "out_of_seq_request", IN_HW_COUNTERS, false, false, CURE_CONGESTION, PER_SECOND(10), NEVER,
	  "packets on their way here are lost or overtake each other", rates_like_nvsentinel },
	{ "rcvd_seq_err", IN_HW_COUNTERS, false, false, CURE_CONGESTION, PER_SECOND(10), NEVER,
	  "the peer asks again for packets that were lost on the way there", rates_like_nvsentinel },
	{ "completer_retry_err", IN_HW_COUNTERS, false, false, CURE_CONGESTION, PER_SECOND(1), NEVER,
	  "packets or their acknowledgements are lost and sent again after a pause", rates_like_nvsentinel },
	{ "send_err", IN_HW_COUNTERS, false, false, CURE_SLOW_HOST, PER_SECOND(10), NEVER,
	  "the network stack refuses packets of soft-RoCE", rates_like_nvsentinel },
};

#define N_COUNTERS (sizeof(error_counters) / sizeof(*error_counters))
#define MOVED_NAMED 4

struct moved {
	const struct error_counter *what;
	const struct counter *counter;
	int64_t delta;
	enum verdict verdict;
};

struct tally {
	struct verdicts *v;
	double seconds;
	struct moved moved[N_COUNTERS * 2]; /* a bond has two wires or more; what does not fit is not needed */
	size_t n_moved, n_read;
	const struct moved *worst;
	struct num gap; /* of a counter that should have been readable */
	const char *gap_name;
	const char *vanished; /* a counter that was there at the first reading only */
};

static const struct threshold *symbol_threshold(const struct verdicts *v, const struct error_counter *what)
{
	return what->is_symbol ? profile_threshold(v->profile, "symbol_errors_per_hour") : NULL;
}

static enum verdict judge_growth(const struct tally *tally, const struct error_counter *what, int64_t delta)
{
	const struct threshold *threshold = symbol_threshold(tally->v, what);
	double per_hour = (double)delta * 3600 / tally->seconds;
	double warn_at = threshold ? (double)threshold->val : what->warn_per_hour;

	if (what->fail_per_hour != NEVER && per_hour > what->fail_per_hour)
		return VERDICT_FAIL;
	return per_hour > warn_at ? VERDICT_WARN : VERDICT_PASS;
}

static void add_counter(struct tally *tally, const struct error_counter *what, const struct counter *counter)
{
	struct num delta = counter ? counter_delta(counter) : num_err(VALUE_NOT_ASKED, NULL);

	if (counter && !counter->first.err && counter->second.err && counter->second.err != VALUE_SATURATED)
		tally->vanished = what->name;
	if (delta.err) {
		/* ERANGE: it was reset between the samples, and what it counted since is not known. */
		if (value_gap(delta.err) == GAP_UNREADABLE && delta.err != ERANGE) {
			tally->gap = delta;
			tally->gap_name = what->name;
		}
		return;
	}
	tally->n_read++;
	if (delta.val == 0 || tally->n_moved == sizeof(tally->moved) / sizeof(*tally->moved))
		return;
	tally->moved[tally->n_moved++] = (struct moved){
		.what = what, .counter = counter, .delta = delta.val, .verdict = judge_growth(tally, what, delta.val)
	};
}

/* Calls add for each counter of that name that the port has: one, or one a wire. */
static void add_of_port(struct tally *tally, const struct snapshot *host, const struct rdma_port *port,
			const struct error_counter *what)
{
	if (what->where == IN_COUNTERS)
		add_counter(tally, what, counter_find(port->counters, port->n_counters, what->name));
	else if (what->where == IN_HW_COUNTERS)
		add_counter(tally, what, counter_find(port->hw_counters, port->n_hw_counters, what->name));
	else
		for (size_t i = 0; i < host->n_netdevs; i++)
			if (port_rides_on(port, &host->netdevs[i]))
				add_counter(tally, what,
					    counter_find(host->netdevs[i].stats, host->netdevs[i].n_stats, what->name));
}

/* A twin that is judged before this port and shows the same wire. */
static const struct rdma_port *twin_before(const struct verdicts *v, const struct rdma_port *port)
{
	const struct cage *cage = fabric_port(v->fabric, port)->cage;

	for (size_t i = 0; cage && i < cage->n_ports && cage->ports[i] != port; i++)
		if (fabric_port_is_used(v->fabric, cage->ports[i]) && port_is_active(cage->ports[i]))
			return cage->ports[i];
	return NULL;
}

static bool is_shown_by(struct verdicts *v, const struct snapshot *host, const struct rdma_port *twin,
			const struct error_counter *what)
{
	struct tally probe = { .v = v, .seconds = 1 };

	if (twin && what->is_wire)
		add_of_port(&probe, host, twin, what);
	return probe.n_read > 0;
}

static void find_worst(struct tally *tally)
{
	for (size_t i = 0; i < tally->n_moved; i++)
		if (!tally->worst || tally->moved[i].verdict > tally->worst->verdict)
			tally->worst = &tally->moved[i];
}

/* A link that was lost meanwhile makes errors of every kind: they are no second fault. */
static bool was_link_lost(const struct snapshot *host, const struct rdma_port *port)
{
	const struct counter *downed = counter_find(port->counters, port->n_counters, "link_downed");
	struct num delta = downed ? counter_delta(downed) : num_err(VALUE_NOT_ASKED, NULL);

	if (!delta.err && delta.val > 0)
		return true;
	for (size_t i = 0; i < host->n_netdevs; i++) {
		delta = counter_delta(&host->netdevs[i].carrier_changes);
		if (port_rides_on(port, &host->netdevs[i]) && !delta.err && delta.val > 0)
			return true;
	}
	return false;
}

static const char *others_words(const struct tally *tally)
{
	struct arena *arena = tally->v->results->arena;
	const char *words = "";
	size_t n = 0;

	for (size_t i = 0; i < tally->n_moved; i++) {
		if (&tally->moved[i] == tally->worst)
			continue;
		if (n++ < MOVED_NAMED)
			words = arena_printf(arena, "%s%s%s +%" PRId64, words, n > 1 ? ", " : "; also ",
					     tally->moved[i].what->name, tally->moved[i].delta);
	}
	if (n > MOVED_NAMED)
		words = arena_printf(arena, "%s and %zu more", words, n - MOVED_NAMED);
	return words;
}

static const char *cure_words(enum cure cure)
{
	switch (cure) {
	case CURE_CABLE:
		return "reseat the cable at both ends; if the counter keeps growing, put another cable or module in";
	case CURE_CONGESTION:
		return "look at the same counters of the peer and of the switch between: where packets are dropped, "
		       "flow control (PFC) or marking (ECN) is missing or differs, or the switch has too little "
		       "capacity";
	case CURE_SLOW_HOST:
		return "look whether this host can take the traffic: PCIe width and speed (link.pcie_*), and other "
		       "load on it";
	case CURE_MTU:
		return "set the same MTU on every port of this segment (mtu.parity)";
	case CURE_PEER:
		return "look at the far end: a process that ended, a link that went away, or a wrong GID or route "
		       "there";
	case CURE_FABRIC:
		return "look at the switches between: their port counters show on which link it begins";
	}
	return "";
}

static void explain(struct verdicts *v, struct finding *f, const struct snapshot *host, const struct tally *tally)
{
	const struct error_counter *what = tally->worst->what;
	const struct threshold *threshold = symbol_threshold(v, what);
	bool is_fail = tally->worst->verdict == VERDICT_FAIL;
	int mark = is_fail ? what->fail_per_hour : threshold ? (int)threshold->val : what->warn_per_hour;

	for (size_t i = 0; i < tally->n_moved; i++) {
		const struct moved *moved = &tally->moved[i];

		saw_num(v, f, host, moved->what->name, moved->counter->first, NULL);
		saw_num(v, f, host,
			arena_printf(v->results->arena, "%s, %.1f s later", moved->what->name, tally->seconds),
			moved->counter->second, NULL);
	}
	expected(v, f, threshold && !is_fail ? threshold->source : what->source,
		 mark ? "at most %d an hour" : "no growth", mark);
	remedy_advice(v->results, f, host, "%s", cure_words(what->cure));
}

static void report(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port,
		   const struct tally *tally)
{
	const struct moved *worst = tally->worst;
	bool was_lost = was_link_lost(host, port);
	struct finding *f;

	f = (worst->verdict == VERDICT_FAIL && !was_lost ? fail : warn)(
		v, host, port->name, "%s grew by %" PRId64 " in %.1f s: %s%s%s", worst->what->name, worst->delta,
		tally->seconds, worst->what->meaning, others_words(tally),
		was_lost ? "; the link was lost meanwhile (see link.flaps)" : "");
	explain(v, f, host, tally);
}

static void judge_port(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port)
{
	const struct rdma_port *twin = twin_before(v, port);
	struct tally tally = { .v = v, .seconds = (double)sample_interval_ns(host).val / 1e9 };
	size_t n_with_twin = 0;

	if (skipped_as_down(v, host, port))
		return;
	for (size_t i = 0; i < N_COUNTERS; i++)
		if (is_shown_by(v, host, twin, &error_counters[i]))
			n_with_twin++;
		else
			add_of_port(&tally, host, port, &error_counters[i]);
	find_worst(&tally);
	if (tally.worst && tally.worst->verdict > VERDICT_PASS)
		report(v, host, port, &tally);
	else if (tally.gap.err)
		unread(v, host, port->name, tally.gap_name, tally.gap);
	else if (tally.vanished)
		unknown(v, host, port->name, "%s could be read once, and not a second time: did the device go away?", tally.vanished);
	else if (tally.n_read + n_with_twin == 0)
		skip(v, host, port->name, "the driver offers no error counters");
	else if (tally.worst)
		pass(v, host, port->name, "nothing beyond its mark in %.1f s; %s +%" PRId64 "%s", tally.seconds,
		     tally.worst->what->name, tally.worst->delta, others_words(&tally));
	else
		pass(v, host, port->name, "none of %zu error counters grew in %.1f s", tally.n_read + n_with_twin,
		     tally.seconds);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	struct num interval = sample_interval_ns(host);

	if (interval.err == VALUE_NOT_ASKED)
		skip(v, host, "", "one sample only (--level probe takes two)");
	else if (interval.err)
		unread(v, host, "", "time between the samples", interval);
	else
		each_used_port(v, host, judge_port);
}

const struct check check_link_errors = {
	.id = "link.errors",
	.title = "Error counters of used ports do not grow beyond their marks while they are watched",
	.why = "lost and damaged packets are sent again after a pause: every rank waits for the slowest link, and too "
	       "many end the job",
	.remedy = "follow the counter that grows: the cable for errors on the wire, PFC and ECN for drops, the far end "
		  "for lost connections",
	.source = "NVSentinel NIC health monitor (default rates); Linux kernel documentation of mlx5's counters",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.run = run,
};
