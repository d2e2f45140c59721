/* SPDX-License-Identifier: Apache-2.0 */
/* Asks this host and the peers for their facts, tries the rails, reads the counters again: everything before judging. */
#ifndef SPARKFAB_CLI_GATHER_H
#define SPARKFAB_CLI_GATHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fault.h"
#include "core/option.h"
#include "facts/hosts.h"
#include "results/results.h"

struct gather_options {
	struct option_list peers; /* checked by gather_check_peers() */
	const char *via;
	bool no_deploy;
	int64_t timeout_s; /* to reach a peer; 0: the default */
	enum level level;
};

/* The records of each host of a run, head first; also of peers that failed (their contact). */
struct gathering;

/* The --peer arguments: host names, each once. -EINVAL with a message. */
int gather_check_peers(const struct gather_options *options, struct fault *reterr);

/* Never fails because of a peer: that becomes its contact. -EINTR after a signal, everything ended. */
int gather_live(const struct gather_options *options, struct gathering **ret, struct fault *reterr);

size_t gathering_count(const struct gathering *gathering);
struct records *gathering_records(const struct gathering *gathering, size_t i);
const char *gathering_name(const struct gathering *gathering, size_t i);

/* Adds every host's records to `hosts`; the gathering must outlive it. */
void gathering_add_to(const struct gathering *gathering, struct hosts *hosts);

/* Says goodbye to the peers that are still there. */
struct gathering *gathering_free(struct gathering *gathering);

/* Writes one snapshot file a host into `dir` (made if missing): NAME.snap. */
int gathering_save(const struct gathering *gathering, const char *dir, struct fault *reterr);

#endif
