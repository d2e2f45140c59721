/* SPDX-License-Identifier: Apache-2.0 */
/* Which check fails for a port that is not as it should be, so that one cause makes one FAIL. */
#ifndef SPARKFAB_RULES_BLAME_H
#define SPARKFAB_RULES_BLAME_H

#include "rules/pairs.h"

enum port_judge {
	JUDGE_NOBODY,	   /* ACTIVE */
	JUDGE_UNUSED,	   /* not ACTIVE, and nothing says that it should be */
	JUDGE_UNREAD,	   /* its state could not be read */
	JUDGE_LINK_STATE,
	JUDGE_FAR_END,	   /* it lost its signal with the other end of the same cable, for which link.state fails */
	JUDGE_LINK_FABRIC, /* it is down, and so is every other rail to that peer: one finding for all of them */
	JUDGE_LINK_IB_SM,
};

enum port_judge port_judged_by(const struct pairs *pairs, const struct rdma_port *port);

/* The other end of a cable whose both ends are down, if the cause is there: set down, or told first. Else NULL. */
const struct rail_end *far_end_to_blame(const struct fabric *fabric, const struct rdma_port *port);

/* Another check than link.fabric fails for hosts of this kind: a port in use is down, or devices are missing. */
bool kind_is_told(const struct pairs *pairs, const struct profile *profile, const struct host_kind *kind);

#endif
