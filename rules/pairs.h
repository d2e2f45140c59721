/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hosts have in common, worked out once a run. A thousand hosts make half a million pairs, but they are of a few
 * kinds only: what holds for two hosts holds for each two of the same kinds.
 */
#ifndef SPARKFAB_RULES_PAIRS_H
#define SPARKFAB_RULES_PAIRS_H

#include "facts/fabric.h"
#include "rules/profile.h"

/* Hosts that differ in nothing by which a pair is judged: the same ports, in the same state, on the same rails. */
struct host_kind {
	const struct snapshot *host; /* the first of them stands for all */
	size_t n;		     /* how many there are */
	uint64_t *joined, *live;     /* a bit for each rail of the fabric: it has an end here; and that end works */
	size_t n_words;
	bool has_idle; /* has a port that nothing uses */
	bool has_stranded; /* has a port that is in use and reaches nobody: port_is_stranded() */
	bool lacks_sm; /* an InfiniBand port of it has no subnet manager */
};

struct pairs {
	struct arena *arena;
	const struct fabric *fabric;
	struct host_kind *kinds; size_t n_kinds; /* in the order of their first hosts */
	size_t *kind_of; /* index into kinds, by index into fabric->hosts */
	bool *mtus_differ; /* by rail: two of its ends have RDMA MTUs that are known and not the same */
};

struct pairs *pairs_new(const struct fabric *fabric, const struct profile *profile);
struct pairs *pairs_free(struct pairs *pairs);

const struct host_kind *kind_of_host(const struct pairs *pairs, size_t host); /* host: index into fabric->hosts */

/* Rails that join a host of kind `a` and another one of kind `b`, and those of them whose both ends work. */
size_t rails_joined(const struct host_kind *a, const struct host_kind *b);
size_t rails_live(const struct host_kind *a, const struct host_kind *b);

bool kind_is_on_rail(const struct pairs *pairs, const struct host_kind *kind, const struct rail *rail);

/* Both have RDMA ports, and no rail between them works, for a reason that no other check fails for. */
bool kinds_are_cut(const struct host_kind *a, const struct host_kind *b);

/* Pairs of which one thing is said at once, since they have one host in common: one broken host, one finding. */
struct pair_group {
	size_t a, b; /* the first of the pairs, as indices into fabric->hosts; a < b */
	size_t n;    /* how many they are */
};

/* Groups of all pairs whose entry in `cases`, a byte for each two kinds (n_kinds x n_kinds, symmetric), is `what`. */
struct pair_group *pairs_group(const struct pairs *pairs, const uint8_t *cases, uint8_t what, struct arena *arena,
			       size_t *ret_n);

/* Pairs of hosts of these two kinds. */
size_t pairs_between(const struct host_kind *a, const struct host_kind *b);

#endif
