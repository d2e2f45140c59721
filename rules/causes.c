// SPDX-License-Identifier: Apache-2.0
/* Why a port is down, and which InfiniBand ports can see each other: causes.h. */
#include "rules/causes.h"

#include <net/if.h>
#include <string.h>

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

bool rail_end_is_live(const struct rail_end *end)
{
	return port_is_active(end->port) && end->proof != PROOF_REFUTED;
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

bool netdev_is_way_out(const struct snapshot *host, const struct netdev *netdev)
{
	for (size_t i = 0; i < host->n_routes; i++)
		if (host->routes[i].dst_len == 0 && host->routes[i].netdev == netdev)
			return true;
	return false;
}

bool port_is_way_out(const struct snapshot *host, const struct rdma_port *port)
{
	return port->netdev && netdev_is_way_out(host, port->netdev);
}

static bool has_neighbours(const struct snapshot *host, const struct netdev *netdev)
{
	for (size_t i = 0; i < host->n_neighbours; i++)
		if (host->neighbours[i].netdev == netdev && host->neighbours[i].mac)
			return true;
	return false;
}

bool port_is_stranded(const struct snapshot *host, const struct port_info *info)
{
	const struct rdma_port *port = info->port;

	return info->use == PORT_USED_ADDRESS && !info->rail && port->netdev && port_is_active(port) &&
	       !port_is_ib(port) && !netdev_is_way_out(host, port->netdev) && !has_neighbours(host, port->netdev);
}

int port_blame(const struct rdma_port *port)
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
