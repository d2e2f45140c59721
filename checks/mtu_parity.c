/* SPDX-License-Identifier: Apache-2.0 */
/* mtu.parity - do all ends of a rail have the same MTU. */
#include <inttypes.h>
#include <stdlib.h>

#include "checks/check.h"
#include "core/alloc.h"
#include "rules/mtu.h"

#define ENDS_NAMED 4

/* What is compared along a rail. */
typedef struct num end_value_fn(const struct verdicts *v, const struct rail_end *end);

static struct num rdma_mtu_of(const struct verdicts *v, const struct rail_end *end)
{
	return port_rdma_mtu(v->profile, end->port);
}

static struct num netdev_mtu_of(const struct verdicts *v, const struct rail_end *end)
{
	(void)v;
	if (!port_is_ethernet(end->port) || !end->port->netdev)
		return num_err(VALUE_NOT_ASKED, NULL);
	return end->port->netdev->mtu;
}

static int compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The value that stands most often in a sorted row; the larger one if two do. */
static int64_t commonest(const int64_t *values, size_t n)
{
	int64_t best = values[0];
	size_t n_best = 0;

	for (size_t from = 0, to; from < n; from = to) {
		for (to = from; to < n && values[to] == values[from]; to++)
			;
		if (to - from >= n_best) {
			best = values[from];
			n_best = to - from;
		}
	}
	return best;
}

/* The first end with the value that most ends have; the larger one if as many have another. NULL: none was read. */
static const struct rail_end *reference_end(const struct verdicts *v, const struct rail *rail, end_value_fn *value_of)
{
	cleanup_free int64_t *values = xcalloc(rail->n_ends, sizeof(*values));
	int64_t wanted;
	size_t n = 0, i = 0;

	for (size_t e = 0; e < rail->n_ends; e++) {
		struct num value = value_of(v, &rail->ends[e]);

		if (!value.err)
			values[n++] = value.val;
	}
	if (n == 0)
		return NULL;
	qsort(values, n, sizeof(*values), compare_values);
	wanted = commonest(values, n);
	while (!num_is(value_of(v, &rail->ends[i]), wanted))
		i++;
	return &rail->ends[i];
}

static bool is_odd(const struct verdicts *v, const struct rail_end *end, const struct rail_end *reference,
		   end_value_fn *value_of)
{
	struct num value = value_of(v, end);

	return !value.err && value.val != value_of(v, reference).val;
}

static size_t count_odd(const struct verdicts *v, const struct rail *rail, const struct rail_end *reference,
			end_value_fn *value_of)
{
	size_t n = 0;

	for (size_t i = 0; i < rail->n_ends; i++)
		n += is_odd(v, &rail->ends[i], reference, value_of);
	return n;
}

/* "worker eth1 has MTU 1500 (RDMA 1024)" */
static const char *end_words(struct verdicts *v, const struct rail_end *end)
{
	struct arena *arena = v->results->arena;
	struct num netdev = netdev_mtu_of(v, end), rdma = rdma_mtu_of(v, end);

	if (netdev.err)
		return arena_printf(arena, "%s %s has RDMA MTU %" PRId64, end->host->name, end->port->name, rdma.val);
	if (rdma.err)
		return arena_printf(arena, "%s %s has MTU %" PRId64, end->host->name, end->port->netdev->name,
				    netdev.val);
	return arena_printf(arena, "%s %s has MTU %" PRId64 " (RDMA %" PRId64 ")", end->host->name,
			    end->port->netdev->name, netdev.val, rdma.val);
}

static const char *odd_words(struct verdicts *v, const struct rail *rail, const struct rail_end *reference,
			     end_value_fn *value_of)
{
	struct arena *arena = v->results->arena;
	const char *words = "";
	size_t n = 0;

	for (size_t i = 0; i < rail->n_ends; i++) {
		if (!is_odd(v, &rail->ends[i], reference, value_of))
			continue;
		if (n++ < ENDS_NAMED)
			words = arena_printf(arena, "%s%s%s", words, n > 1 ? ", " : "", end_words(v, &rail->ends[i]));
	}
	if (n > ENDS_NAMED)
		words = arena_printf(arena, "%s and %zu more", words, n - ENDS_NAMED);
	return words;
}

static void add_end(struct verdicts *v, struct finding *f, const struct rail_end *end)
{
	struct num netdev = netdev_mtu_of(v, end);

	finding_host(v->results, f, end->host->name);
	if (netdev.err != VALUE_NOT_ASKED)
		saw_num(v, f, end->host, arena_printf(v->results->arena, "MTU of %s", end->port->netdev->name), netdev,
			"bytes");
	saw_num(v, f, end->host, arena_printf(v->results->arena, "RDMA MTU of %s", end->port->name),
		end->port->mtu_bytes, "bytes");
}

/* The odd ends are brought to the others' value; where only the RDMA MTU differs, the netdevs have to grow on all. */
static void add_cure(struct verdicts *v, struct finding *f, const struct rail_end *end,
		     const struct rail_end *reference)
{
	struct num own = netdev_mtu_of(v, end), other = netdev_mtu_of(v, reference);

	if (own.err || other.err)
		remedy_advice(v->results, f, end->host,
			      "let the subnet manager give every port of this fabric the same MTU");
	else if (own.val != other.val)
		remedy_set_mtu(v->results, f, end->host, end->port->netdev, other.val);
	else
		remedy_advice(v->results, f, end->host,
			      "set MTU 9000 on every end of this rail: at %" PRId64 " the drivers differ in what fits",
			      own.val);
}

static void report(struct verdicts *v, const struct rail *rail, end_value_fn *value_of,
		   const struct rail_end *reference, bool is_broken)
{
	size_t n_like = 0;
	struct finding *f;
	const char *more;

	for (size_t i = 0; i < rail->n_ends; i++)
		n_like += num_is(value_of(v, &rail->ends[i]), value_of(v, reference).val);
	more = n_like > 1 ? arena_printf(v->results->arena, " and %zu more", n_like - 1) : "";
	f = (is_broken ? fail : warn)(
		v, NULL, rail->name, "%s, but %s%s%s", odd_words(v, rail, reference, value_of), end_words(v, reference),
		more, is_broken ? ": larger RDMA packets are lost" : ": RDMA fits on both, other large frames may not");
	for (int odd = 1; odd >= 0; odd--)
		for (size_t i = 0; i < rail->n_ends; i++)
			if (is_odd(v, &rail->ends[i], reference, value_of) == (odd == 1))
				add_end(v, f, &rail->ends[i]);
	expected(v, f, "NVIDIA/nccl issue 1524 and pull request 2135: with unequal MTUs NCCL fails or hangs",
		 "one MTU on all ends of a rail");
	for (size_t i = 0; i < rail->n_ends; i++)
		if (is_odd(v, &rail->ends[i], reference, value_of))
			add_cure(v, f, &rail->ends[i], reference);
}

static void report_equal(struct verdicts *v, const struct rail *rail, const struct rail_end *reference)
{
	struct num netdev = netdev_mtu_of(v, reference), rdma = reference->port->mtu_bytes;
	const char *all = rail->n_ends == 2 ? "both" : arena_printf(v->results->arena, "all %zu", rail->n_ends);
	struct finding *f;

	for (size_t i = 0; i < rail->n_ends; i++)
		if (rail->ends[i].port->mtu_bytes.err)
			rdma = rail->ends[i].port->mtu_bytes;
	if (netdev.err)
		f = pass(v, NULL, rail->name, "%s ends have RDMA MTU %" PRId64, all, rdma.val);
	else if (rdma.err)
		f = pass(v, NULL, rail->name, "%s ends have MTU %" PRId64 "; the RDMA MTU follows from it", all,
			 netdev.val);
	else
		f = pass(v, NULL, rail->name, "%s ends have MTU %" PRId64 " and RDMA MTU %" PRId64, all, netdev.val,
			 rdma.val);
	for (size_t i = 0; i < rail->n_ends; i++)
		add_end(v, f, &rail->ends[i]);
}

/* An end that says nothing, or whose RDMA MTU should have been readable: then no parity can be told for the rail. What
 * the netdev leaves room for is enough to find a difference, not to vouch for the opposite. */
static const struct rail_end *unread_end(const struct verdicts *v, const struct rail *rail)
{
	for (size_t i = 0; i < rail->n_ends; i++)
		if (rdma_mtu_of(v, &rail->ends[i]).err ||
		    value_gap(rail->ends[i].port->mtu_bytes.err) == GAP_UNREADABLE)
			return &rail->ends[i];
	return NULL;
}

/* link.state tells about it; what MTU it will have once it is up is not known before. */
static const struct rail_end *inactive_end(const struct rail *rail)
{
	for (size_t i = 0; i < rail->n_ends; i++)
		if (!port_is_active(rail->ends[i].port))
			return &rail->ends[i];
	return NULL;
}

static void judge_rail(struct verdicts *v, const struct rail *rail)
{
	const struct rail_end *rdma = reference_end(v, rail, rdma_mtu_of),
			      *netdev = reference_end(v, rail, netdev_mtu_of);
	const struct rail_end *gap = unread_end(v, rail), *down = inactive_end(rail);
	bool rdma_differs = rdma && count_odd(v, rail, rdma, rdma_mtu_of),
	     netdev_differs = netdev && count_odd(v, rail, netdev, netdev_mtu_of);

	if (down && (rdma_differs || netdev_differs || gap))
		skip(v, down->host, rail->name, "%s on %s is down (see link.state): MTUs count once it is up", down->port->name,
		     down->host->name);
	else if (rdma_differs)
		report(v, rail, rdma_mtu_of, rdma, true);
	else if (netdev_differs)
		report(v, rail, netdev_mtu_of, netdev, false);
	else if (gap)
		unread(v, gap->host, rail->name,
		       arena_printf(v->results->arena, "RDMA MTU of %s on %s", gap->port->name, gap->host->name),
		       gap->port->mtu_bytes);
	else if (rdma) /* no end without one is left; a rail without ends is none */
		report_equal(v, rail, rdma);
}

static void compare(struct verdicts *v)
{
	for (size_t i = 0; i < v->fabric->n_rails; i++)
		judge_rail(v, &v->fabric->rails[i]);
	if (v->fabric->n_rails == 0)
		skip(v, NULL, "", "no rail joins these hosts (see link.fabric)");
}

const struct check check_mtu_parity = {
	.id = "mtu.parity",
	.title = "All ends of a rail have the same MTU",
	.why = "the end with the larger MTU sends packets that the other one drops: the first large transfer fails or "
	       "hangs",
	.remedy = "give the end with the smaller MTU the other's, now and persistently",
	.source = "InfiniBand Architecture Specification: both ends of a connection use one path MTU; NVIDIA/nccl "
		  "issue 1524, pull request 2135",
	.needs = NEEDS_PORTS,
	.level = LEVEL_PASSIVE,
	.compare = compare,
};
