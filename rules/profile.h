/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: what is expected of a platform, with the source of every number. INI files under profiles/, built into the
 * program; a file of the user's own is read the same way. Unknown sections and keys are errors.
 *
 *	[profile]   name, title, base (another profile to start from; first of all keys)
 *	[match]     arch, dmi_product, board_id, nic_pci, topology: when it is chosen by itself. A | B: one of them, a part of
 *		    the value is enough for dmi_product. All of arch and topology, and one of the others, must fit every host.
 *	[expect]    KEY = NUMBER, KEY.source = where it comes from, KEY.kind = measured|vendor|belief; KEY = none takes a base's
 *		    number away. ports = RDMA devices that must be in use.
 *	[gate]      require, may_skip: check ids
 */
#ifndef SPARKFAB_RULES_PROFILE_H
#define SPARKFAB_RULES_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/fault.h"
#include "facts/fabric.h"

enum threshold_kind { THRESHOLD_MEASURED, THRESHOLD_VENDOR, THRESHOLD_BELIEF };

struct threshold {
	const char *key;
	int64_t val;
	const char *source; /* never NULL */
	enum threshold_kind kind;
};

struct profile {
	struct arena *arena;
	const char *name, *title, *why; /* why: how it came to be chosen */
	const struct threshold *thresholds; size_t n_thresholds;
	const char *const *require;  /* NULL-terminated */
	const char *const *may_skip; /* NULL-terminated */
	const char *const *ports;    /* expected RDMA devices by name, NULL-terminated; may be empty */
};

/* A number a profile may hold. */
struct profile_key {
	const char *name;
	const char *unit;    /* base unit; NULL: a count */
	const char *meaning; /* what a value of it asks for */
	int64_t min, max;
};

/* All of them, for the reader and for docs/checks.md; ends with a NULL name. */
const struct profile_key *profile_keys(void);
const struct profile_key *profile_key_find(const char *name); /* NULL if there is none */

const char *threshold_kind_name(enum threshold_kind kind); /* "measured", … */

/* NULL if the profile does not say: then the check has no opinion on that number. Keys: rules/profile.c, docs/checks.md. */
const struct threshold *profile_threshold(const struct profile *profile, const char *key);

/* By name ("gb10-direct"), or a path if it holds a '/'. -ENOENT (the message lists the names), -EINVAL with FILE:LINE. */
int profile_load(const char *name, struct profile **ret, struct fault *reterr);

/* The same from a text at hand; `name` is for messages and stands in for a missing [profile] name. */
int profile_parse(const char *name, const char *text, struct profile **ret, struct fault *reterr);

/* The profile that fits these hosts by DMI, PCI ids and topology; `generic` if none does. Never NULL. */
struct profile *profile_detect(const struct fabric *fabric);

struct profile *profile_free(struct profile *profile);

struct profile_name { const char *name, *title; };
/* The built-in ones; ends with a NULL name. */
const struct profile_name *profile_names(void);

#endif
