/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: what is expected of a platform, with the source of every number. INI files under profiles/, built into the
 * program; a file of the user's own is read the same way. Unknown sections and keys are errors.
 *
 *	[profile]   name, title, base (another profile to start from)
 *	[match]     dmi_product, gpu_pci, nic_pci, … (when it is chosen by itself)
 *	[expect]    KEY = VALUE ; source   (every key also has KEY.source and KEY.kind = measured|vendor|belief)
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

/* NULL if the profile does not say: then the check has no opinion on that number. Keys: rules/profile.c, docs/checks.md. */
const struct threshold *profile_threshold(const struct profile *profile, const char *key);

/* By name ("gb10-direct"), or a path if it holds a '/'. -ENOENT (the message lists the names), -EINVAL with FILE:LINE. */
int profile_load(const char *name, struct profile **ret, struct fault *reterr);

/* The profile that fits these hosts by DMI, PCI ids and topology; `generic` if none does. Never NULL. */
struct profile *profile_detect(const struct fabric *fabric);

struct profile *profile_free(struct profile *profile);

struct profile_name { const char *name, *title; };
/* The built-in ones; ends with a NULL name. */
const struct profile_name *profile_names(void);

#endif
