/* SPDX-License-Identifier: Apache-2.0 */
/* What the MTU checks must agree on: mtu.h. */
#include "rules/mtu.h"

#define RDMA_MTU_MAX 4096
#define RDMA_MTU_MIN 256
#define ROCE_HEADERS 96 /* what the kernel takes off a netdev's MTU for RoCE where the profile does not know better */
#define JUMBO 9000
#define JUMBO_SMALL 4200 /* NVIDIA's own advice for RDMA MTU 4096 */

const struct threshold *port_netdev_mtu_min(const struct profile *profile, const struct rdma_port *port)
{
	const struct threshold *soft = port->dev->is_soft ? profile_threshold(profile, "netdev_mtu_min_soft") : NULL;

	return soft ? soft : profile_threshold(profile, "netdev_mtu_min");
}

static struct num rdma_mtu_within(const struct profile *profile, const struct rdma_port *port, struct num netdev_mtu)
{
	const struct threshold *min = port_netdev_mtu_min(profile, port),
			       *rdma = profile_threshold(profile, "rdma_mtu_bytes");
	int64_t headers = min && rdma && min->val > rdma->val ? min->val - rdma->val : ROCE_HEADERS;

	for (int64_t mtu = RDMA_MTU_MAX; mtu >= RDMA_MTU_MIN; mtu /= 2)
		if (mtu + headers <= netdev_mtu.val)
			return num_of(mtu, netdev_mtu.origin);
	return num_err(VALUE_PLACEHOLDER, netdev_mtu.origin);
}

struct num port_rdma_mtu(const struct profile *profile, const struct rdma_port *port)
{
	if (!port->mtu_bytes.err || !port_is_ethernet(port) || !port->netdev || port->netdev->mtu.err)
		return port->mtu_bytes;
	return rdma_mtu_within(profile, port, port->netdev->mtu);
}

bool port_rail_mtus_differ(const struct pairs *pairs, const struct profile *profile, const struct rdma_port *port)
{
	const struct port_info *info = fabric_port(pairs->fabric, port);

	return info && info->rail && pairs->mtus_differ[info->rail - pairs->fabric->rails] &&
	       !port_rdma_mtu(profile, port).err;
}

int64_t netdev_mtu_to_set(const struct netdev *netdev, int64_t at_least)
{
	int64_t max = netdev->max_mtu.err || netdev->max_mtu.val <= 0 ? JUMBO : netdev->max_mtu.val;

	if (max >= JUMBO)
		return JUMBO;
	if (max >= JUMBO_SMALL)
		return JUMBO_SMALL;
	return max >= at_least ? at_least : 0;
}
