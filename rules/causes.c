// SPDX-License-Identifier: Apache-2.0
/* Rails counted with one bit a rail and host, and the one place that decides which check a broken port belongs to. */
#include "rules/causes.h"

#include <net/if.h>
#include <string.h>

#include "core/alloc.h"

/* linux/ethtool.h; written out, since older headers lack some. */
#define EXT_STATE_AUTONEG 0
#define EXT_STATE_NO_CABLE 4
#define EXT_SUBSTATE_AN_NO_PARTNER 1

bool port_is_ib(const struct rdma_port *port)
{
	return num_is(port->link_layer, LINK_LAYER_INFINIBAND);
}

bool port_lacks_sm(const struct rdma_port *port)
{
	if (!port_is_ib(port) || port->state.err)
		return false;
	if (port->state.val == PORT_INIT || port->state.val == PORT_ARMED)
		return true;
	return port_is_active(port) && num_is(port->sm_lid, 0);
}

static bool netdev_is_set_down(const struct netdev *netdev)
{
	return netdev && !netdev->flags.err && !(netdev->flags.val & IFF_UP);
}

enum port_trouble port_trouble(const struct rdma_port *port)
{
	const struct netdev *netdev = port->netdev;

	if (port->state.err)
		return TROUBLE_UNREAD;
	if (port_is_active(port))
		return TROUBLE_NONE;
	if (port_is_ib(port))
		return port_lacks_sm(port) ? TROUBLE_NO_SM : TROUBLE_NO_CARRIER;
	if (netdev_is_set_down(netdev))
		return TROUBLE_SET_DOWN;
	if (netdev && num_is(netdev->ext_state, EXT_STATE_NO_CABLE))
		return TROUBLE_NO_CABLE;
	if (netdev && !netdev->ext_state.err)
		return TROUBLE_LINK;
	if (netdev && num_is(netdev->carrier, 1))
		return TROUBLE_SILENT;
	return TROUBLE_NO_CARRIER;
}

static const char *ib_trouble_text(const struct rdma_port *port)
{
	switch (port->phys_state.err ? PHYS_UNKNOWN : port->phys_state.val) {
	case PHYS_POLLING:
		return "no signal from the far end: cable out, or its port off";
	case PHYS_DISABLED:
		return "the port is disabled";
	case PHYS_TRAINING:
	case PHYS_RECOVERY:
		return "the link does not finish training: cable or module";
	default:
		return "the link is down";
	}
}

const char *port_trouble_text(const struct rdma_port *port)
{
	const struct netdev *netdev = port->netdev;

	switch (port_trouble(port)) {
	case TROUBLE_NONE:
		return "ACTIVE";
	case TROUBLE_UNREAD:
		return value_gap_text(port->state.err);
	case TROUBLE_SET_DOWN:
		return "its netdev is set down";
	case TROUBLE_NO_CABLE:
		return "no cable";
	case TROUBLE_LINK:
		if (netdev->ext_state.val == EXT_STATE_AUTONEG &&
		    num_is(netdev->ext_substate, EXT_SUBSTATE_AN_NO_PARTNER))
			return "no link partner: the far end is off or set down";
		return ext_state_name(netdev->ext_state.val);
	case TROUBLE_NO_SM:
		return "no subnet manager has set it up";
	case TROUBLE_SILENT:
		return "the netdev has a carrier, the RDMA port does not follow";
	case TROUBLE_NO_CARRIER:
		break;
	}
	return port_is_ib(port) ? ib_trouble_text(port) : "no carrier: cable out, or the far end off";
}

struct rail_count {
	size_t n_hosts, words;
	uint64_t *joined, *live; /* bit r of host h: its end of rail r */
};

bool rail_end_is_live(const struct rail_end *end)
{
	return port_is_active(end->port) && end->proof != PROOF_REFUTED;
}

bool rail_joins(const struct rail *rail, const struct snapshot *a, const struct snapshot *b)
{
	const struct rail_end *end_a = rail_end_on(rail, a), *end_b = rail_end_on(rail, b);

	return end_a && end_b && rail_end_is_live(end_a) && rail_end_is_live(end_b);
}

size_t fabric_host_index(const struct fabric *fabric, const struct snapshot *host)
{
	size_t i = 0;

	while (i + 1 < fabric->n_hosts && fabric->hosts[i] != host)
		i++;
	return i;
}

/* Ends are in host order, so one walk finds each one's host. */
static void count_rail(struct rail_count *count, const struct fabric *fabric, size_t r)
{
	const struct rail *rail = &fabric->rails[r];
	size_t h = 0;

	for (size_t e = 0; e < rail->n_ends; e++) {
		const struct rail_end *end = &rail->ends[e];
		uint64_t bit = UINT64_C(1) << (r % 64);

		while (h < fabric->n_hosts && fabric->hosts[h] != end->host)
			h++;
		if (h == fabric->n_hosts)
			return;
		count->joined[h * count->words + r / 64] |= bit;
		/* A head's end tells of its proofs towards the others, which each of them tells better. */
		if (e == 0 ? port_is_active(end->port) : rail_end_is_live(end))
			count->live[h * count->words + r / 64] |= bit;
	}
}

struct rail_count *rail_count_new(const struct fabric *fabric)
{
	struct rail_count *count = xcalloc(1, sizeof(*count));

	count->n_hosts = fabric->n_hosts;
	count->words = fabric->n_rails / 64 + 1;
	count->joined = xcalloc(count->n_hosts * count->words, sizeof(*count->joined));
	count->live = xcalloc(count->n_hosts * count->words, sizeof(*count->live));
	for (size_t r = 0; r < fabric->n_rails; r++)
		count_rail(count, fabric, r);
	return count;
}

struct rail_count *rail_count_free(struct rail_count *count)
{
	if (count) {
		cleanup_free_(&count->joined);
		cleanup_free_(&count->live);
		cleanup_free_(&count);
	}
	return NULL;
}

static size_t count_common(const struct rail_count *count, const uint64_t *bits, size_t a, size_t b)
{
	size_t n = 0;

	for (size_t w = 0; w < count->words; w++)
		n += (size_t)__builtin_popcountll(bits[a * count->words + w] & bits[b * count->words + w]);
	return n;
}

size_t rails_joined(const struct rail_count *count, size_t a, size_t b)
{
	return count_common(count, count->joined, a, b);
}

size_t rails_live(const struct rail_count *count, size_t a, size_t b)
{
	return count_common(count, count->live, a, b);
}

size_t rails_missed(const struct rail_count *count, size_t a, size_t b)
{
	size_t n = 0;

	for (size_t w = 0; w < count->words; w++)
		n += (size_t)__builtin_popcountll(count->joined[a * count->words + w] &
						  ~count->joined[b * count->words + w]);
	return n;
}

bool rails_are_alike(const struct rail_count *count)
{
	size_t row = count->words * sizeof(*count->live);

	if (memcmp(count->joined, count->live, count->n_hosts * row))
		return false;
	for (size_t h = 1; h < count->n_hosts; h++)
		if (memcmp(count->live, count->live + h * count->words, row))
			return false;
	return true;
}

bool ib_ports_share_fabric(const struct rdma_port *a, const struct rdma_port *b)
{
	if (a->subnet_prefix.err || b->subnet_prefix.err || strcmp(a->subnet_prefix.val, b->subnet_prefix.val))
		return false;
	return a->sm_lid.err || b->sm_lid.err || a->sm_lid.val == b->sm_lid.val;
}

bool ib_fabrics_differ(const struct snapshot *a, const struct snapshot *b)
{
	bool both = false;

	for (size_t i = 0; i < a->n_ports; i++)
		for (size_t j = 0; j < b->n_ports; j++) {
			const struct rdma_port *pa = a->ports[i], *pb = b->ports[j];

			if (!port_is_ib(pa) || !port_is_ib(pb) || !port_is_active(pa) || !port_is_active(pb) ||
			    pa->subnet_prefix.err || pb->subnet_prefix.err)
				continue;
			if (ib_ports_share_fabric(pa, pb))
				return false;
			both = true;
		}
	return both;
}

static bool some_port_lacks_sm(const struct snapshot *host)
{
	for (size_t i = 0; i < host->n_ports; i++)
		if (port_lacks_sm(host->ports[i]))
			return true;
	return false;
}

bool hosts_are_cut(const struct rail_count *count, const struct fabric *fabric, size_t a, size_t b)
{
	const struct snapshot *one = fabric->hosts[a], *other = fabric->hosts[b];

	if (a == b || one->n_ports == 0 || other->n_ports == 0 || rails_live(count, a, b) > 0)
		return false;
	return !some_port_lacks_sm(one) && !some_port_lacks_sm(other) && !ib_fabrics_differ(one, other);
}

/* Whether a peer that this port should reach is out of reach altogether; a port on no rail might have reached any. */
static bool peer_is_cut(const struct rail_count *count, const struct fabric *fabric, size_t host,
			const struct rail *rail)
{
	for (size_t h = 0; h < fabric->n_hosts; h++)
		if ((!rail || rail_end_on(rail, fabric->hosts[h])) && hosts_are_cut(count, fabric, host, h))
			return true;
	return false;
}

/* How much the trouble is a cause and not an effect. */
static int blame(const struct rdma_port *port)
{
	switch (port_trouble(port)) {
	case TROUBLE_SET_DOWN:
	case TROUBLE_SILENT:
		return 3;
	case TROUBLE_NO_CABLE:
		return 2;
	case TROUBLE_LINK:
	case TROUBLE_NO_CARRIER:
		return 1;
	default:
		return 0;
	}
}

const struct rail_end *far_end_to_blame(const struct fabric *fabric, const struct rdma_port *port)
{
	const struct port_info *info = fabric_port(fabric, port);
	const struct rail *rail = info ? info->rail : NULL;
	const struct rail_end *far;
	int own = blame(port), theirs;

	/* Behind a switch each end has a cable of its own. */
	if (!rail || rail->n_ends != 2 || fabric->kind == FABRIC_SWITCHED || own == 3 || own == 0)
		return NULL;
	far = &rail->ends[rail->ends[0].port == port];
	theirs = blame(far->port);
	return theirs > own || (theirs == own && far == &rail->ends[0]) ? far : NULL;
}

enum port_judge port_judged_by(const struct rail_count *count, const struct fabric *fabric, size_t host,
			       const struct rdma_port *port)
{
	const struct port_info *info = fabric_port(fabric, port);
	enum port_trouble trouble = port_trouble(port);

	if (trouble == TROUBLE_NONE)
		return JUDGE_NOBODY;
	if (trouble == TROUBLE_UNREAD)
		return JUDGE_UNREAD;
	if (trouble == TROUBLE_NO_SM)
		return JUDGE_LINK_IB_SM;
	if (!info || info->use == PORT_UNUSED)
		return JUDGE_UNUSED;
	if (peer_is_cut(count, fabric, host, info->rail))
		return JUDGE_LINK_FABRIC;
	return far_end_to_blame(fabric, port) ? JUDGE_FAR_END : JUDGE_LINK_STATE;
}
