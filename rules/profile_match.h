/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of rules/: when a profile is chosen by itself, the [match] section. */
#ifndef SPARKFAB_RULES_PROFILE_MATCH_H
#define SPARKFAB_RULES_PROFILE_MATCH_H

#include <stdbool.h>

#include "rules/profile.h"

/* Alternatives, NULL-terminated; NULL: the profile does not say. */
struct profile_match {
	const char *const *arch, *const *dmi_product, *const *board_id, *const *nic_pci, *const *topology;
};

/* Keys of [match], NULL-terminated. */
const char *const *profile_match_keys(void);

/* Takes "A | B" for a key; false if there is no such key. */
bool profile_match_set(struct profile_match *match, struct arena *arena, const char *key, const char *value);

/* profile_load() that also tells what the file and its bases say in [match]. */
int profile_load_matching(const char *name, struct profile **ret, struct profile_match *ret_match, struct fault *reterr);

#endif
