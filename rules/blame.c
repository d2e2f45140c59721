// SPDX-License-Identifier: Apache-2.0
/* The one place that decides which check a broken port belongs to: blame.h. */
#include "rules/blame.h"

#include "rules/causes.h"

/* Whether a peer that this port should reach is out of reach altogether; a port on no rail might have reached any. */
static bool peer_is_cut(const struct pairs *pairs, const struct port_info *info)
{
	const struct host_kind *own = kind_of_host(pairs, info->host);

	for (size_t k = 0; k < pairs->n_kinds; k++) {
		const struct host_kind *other = &pairs->kinds[k];

		if ((other != own || own->n > 1) && (!info->rail || kind_is_on_rail(pairs, other, info->rail)) &&
		    kinds_are_cut(own, other))
			return true;
	}
	return false;
}

const struct rail_end *far_end_to_blame(const struct fabric *fabric, const struct rdma_port *port)
{
	const struct port_info *info = fabric_port(fabric, port);
	const struct rail *rail = info ? info->rail : NULL;
	const struct rail_end *far;
	int own = port_blame(port), theirs;

	/* Behind a switch each end has a cable of its own. */
	if (!rail || rail->n_ends != 2 || fabric->kind == FABRIC_SWITCHED || own == 3 || own == 0)
		return NULL;
	far = &rail->ends[rail->ends[0].port == port];
	theirs = port_blame(far->port);
	return theirs > own || (theirs == own && far == &rail->ends[0]) ? far : NULL;
}

enum port_judge port_judged_by(const struct pairs *pairs, const struct rdma_port *port)
{
	const struct port_info *info = fabric_port(pairs->fabric, port);
	enum port_trouble trouble = port_trouble(port);

	if (trouble == TROUBLE_NONE)
		return JUDGE_NOBODY;
	if (trouble == TROUBLE_UNREAD)
		return JUDGE_UNREAD;
	if (trouble == TROUBLE_NO_SM)
		return JUDGE_LINK_IB_SM;
	if (!info || info->use == PORT_UNUSED)
		return JUDGE_UNUSED;
	if (peer_is_cut(pairs, info))
		return JUDGE_LINK_FABRIC;
	return far_end_to_blame(pairs->fabric, port) ? JUDGE_FAR_END : JUDGE_LINK_STATE;
}

bool kind_is_told(const struct pairs *pairs, const struct profile *profile, const struct host_kind *kind)
{
	const struct threshold *devices = profile_threshold(profile, "rdma_devices");

	if (devices && (int64_t)kind->host->n_devs < devices->val)
		return true;
	for (size_t i = 0; i < kind->host->n_ports; i++) {
		enum port_judge judge = port_judged_by(pairs, kind->host->ports[i]);

		if (judge != JUDGE_NOBODY && judge != JUDGE_UNUSED && judge != JUDGE_LINK_FABRIC)
			return true;
	}
	return false;
}
