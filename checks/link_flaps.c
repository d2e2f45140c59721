/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.flaps - did the link of a used port go away while it was watched. A boot itself changes the carrier several
 * times, so only changes between the two samples count. Twins in one cage lose their carrier together: one finding for
 * the cable.
 */
#include <errno.h>
#include <inttypes.h>

#include "checks/check.h"

/* What became of a link between the samples, worst last. */
enum change { STEADY, CAME_UP, WENT_DOWN, FLAPPED };

struct watch {
	struct verdicts *v;
	const struct snapshot *host;
	double seconds;
	enum change change;
	const char *who; /* names of the links that changed most */
	const struct counter *shown[8]; /* what moved, for the evidence */
	const char *shown_of[8];
	size_t n_shown, n_read;
	struct num gap; /* why a counter says nothing */
	bool has_unreadable; /* one that should have been readable */
	int64_t total; /* carrier changes since boot, of the first link read */
};

static void note(struct watch *watch, const char *name, enum change change, const struct counter *counter)
{
	if (change == STEADY)
		return;
	if (watch->n_shown < sizeof(watch->shown) / sizeof(*watch->shown)) {
		watch->shown_of[watch->n_shown] = name;
		watch->shown[watch->n_shown++] = counter;
	}
	if (change < watch->change)
		return;
	watch->who = change > watch->change ? name
					    : arena_printf(watch->v->results->arena, "%s and %s", watch->who, name);
	watch->change = change;
}

/* True if there is growth to judge in *ret; a counter that went backwards was reset and says nothing. */
static bool growth(struct watch *watch, const struct counter *counter, int64_t *ret)
{
	struct num delta = counter_delta(counter);

	if (delta.err) {
		bool is_bad = value_gap(delta.err) == GAP_UNREADABLE && delta.err != ERANGE;

		watch->has_unreadable |= is_bad;
		if (is_bad || value_gap(delta.err) == GAP_UNSUPPORTED)
			watch->gap = delta;
		return false;
	}
	watch->n_read++;
	*ret = delta.val;
	return true;
}

static void watch_netdev(struct watch *watch, const struct netdev *netdev)
{
	const struct threshold *allowed = profile_threshold(watch->v->profile, "carrier_changes_per_run");
	struct num down = counter_delta(&netdev->carrier_down);
	int64_t changes;
	enum change change = FLAPPED;

	if (!growth(watch, &netdev->carrier_changes, &changes))
		return;
	if (watch->n_read == 1)
		watch->total = netdev->carrier_changes.first.val;
	if (changes <= (allowed ? allowed->val : 0))
		change = STEADY;
	else if (changes == 1)
		change = num_is(down, 1) || (down.err && num_is(netdev->carrier, 1)) ? WENT_DOWN : CAME_UP;
	note(watch, netdev->name, change, &netdev->carrier_changes);
}

/* InfiniBand has no carrier; its port counts how often it was lost. */
static void watch_downed(struct watch *watch, const struct rdma_port *port, const struct counter *downed)
{
	int64_t times;

	if (downed && growth(watch, downed, &times) && times > 0)
		note(watch, port->name, FLAPPED, downed);
}

static void watch_port(struct watch *watch, const struct rdma_port *port)
{
	size_t n_before = watch->n_read;

	for (size_t i = 0; port_is_ethernet(port) && i < watch->host->n_netdevs; i++)
		if (port_rides_on(port, &watch->host->netdevs[i]))
			watch_netdev(watch, &watch->host->netdevs[i]);
	if (watch->n_read > n_before)
		return;
	watch_downed(watch, port, counter_find(port->counters, port->n_counters, "link_downed"));
	watch_downed(watch, port, counter_find(port->hw_counters, port->n_hw_counters, "link_downed"));
}

static struct finding *report(struct watch *watch, const char *subject)
{
	switch (watch->change) {
	case FLAPPED:
		return fail(watch->v, watch->host, subject, "the link of %s went down and came back within %.1f s",
			    watch->who, watch->seconds);
	case WENT_DOWN:
		return fail(watch->v, watch->host, subject, "the link of %s went down within the %.1f s of this run",
			    watch->who, watch->seconds);
	default:
		return warn(watch->v, watch->host, subject, "the link of %s came up only within the %.1f s of this run",
			    watch->who, watch->seconds);
	}
}

static void conclude(struct watch *watch, const char *subject, const struct rdma_port *first)
{
	struct verdicts *v = watch->v;
	const struct threshold *threshold = profile_threshold(v->profile, "carrier_changes_per_run");
	struct finding *f;

	if (watch->change != STEADY) {
		f = report(watch, subject);
		for (size_t i = 0; i < watch->n_shown; i++) {
			const char *name = arena_printf(v->results->arena, "%s of %s", watch->shown[i]->name,
							watch->shown_of[i]);

			saw_num(v, f, watch->host, name, watch->shown[i]->first, NULL);
			saw_num(v, f, watch->host,
				arena_printf(v->results->arena, "%s, %.1f s later", name, watch->seconds),
				watch->shown[i]->second, NULL);
		}
		if (threshold)
			expected_threshold(v, f, threshold, "carrier changes");
		remedy_advice(
			v->results, f, watch->host,
			watch->change == CAME_UP
				? "run the checks again: what was read before the link came up may be out of date"
				: "reseat the cable at both ends and look at the far end's port; if it happens again, "
				  "put another cable or module in");
		return;
	}
	if (skipped_as_down(v, watch->host, first))
		return;
	if (watch->has_unreadable || (watch->n_read == 0 && watch->gap.err))
		unread(v, watch->host, subject, "count of lost links", watch->gap);
	else if (watch->n_read == 0)
		skip(v, watch->host, subject, "the driver does not count how often the link is lost");
	else
		pass(v, watch->host, subject,
		     watch->total ? "the link held for %.1f s (%" PRId64
				    " carrier changes since boot, none of them now)"
				  : "the link held for %.1f s",
		     watch->seconds, watch->total);
}

static void judge_cage(struct verdicts *v, const struct snapshot *host, const struct cage *cage)
{
	struct watch watch = { .v = v, .host = host, .seconds = (double)sample_interval_ns(host).val / 1e9 };
	const struct rdma_port *first = NULL;
	size_t n_used = 0;

	for (size_t i = 0; i < cage->n_ports; i++) {
		if (!fabric_port_is_used(v->fabric, cage->ports[i]))
			continue;
		if (!first || !port_is_active(first))
			first = cage->ports[i];
		n_used++;
		watch_port(&watch, cage->ports[i]);
	}
	if (n_used)
		conclude(&watch, n_used > 1 ? cage->name : first->name, first);
}

static void run(struct verdicts *v, const struct snapshot *host)
{
	struct num interval = sample_interval_ns(host);
	size_t n_before = v->results->n_findings;

	if (interval.err == VALUE_NOT_ASKED) {
		skip(v, host, "", "one sample only (--level probe takes two)");
		return;
	}
	if (interval.err) {
		unread(v, host, "", "time between the samples", interval);
		return;
	}
	for (size_t i = 0; i < host->n_ports; i++) {
		const struct cage *cage = fabric_port(v->fabric, host->ports[i])->cage;

		if (cage->ports[0] == host->ports[i])
			judge_cage(v, host, cage);
	}
	if (v->results->n_findings == n_before)
		skip(v, host, "", "no RDMA port is in use here");
}

const struct check check_link_flaps = {
	.id = "link.flaps",
	.title = "The links of used ports hold while they are watched",
	.why = "a link that is lost for a moment stalls every rank; lost for longer than the retries last, it ends the "
	       "job",
	.remedy = "reseat the cable at both ends; if the link is lost again, replace cable or module",
	.source = "Linux kernel: carrier_changes of the netdev, link_downed of an InfiniBand port; a boot itself makes "
		  "several changes",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.run = run,
};
