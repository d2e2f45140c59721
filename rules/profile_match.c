// SPDX-License-Identifier: Apache-2.0
/* Which built-in profile fits the hosts at hand, and the words that say why. */
#include "rules/profile_match.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "rules/profile_data.h"

static const char *const match_keys[] = { "arch", "dmi_product", "board_id", "nic_pci", "topology", NULL };

const char *const *profile_match_keys(void)
{
	return match_keys;
}

/* Texts between bars, without the blanks around them. */
static const char *const *alternatives(struct arena *arena, const char *text)
{
	const char **items = NULL;
	size_t n = 0;

	for (;;) {
		size_t len = strcspn(text, "|");
		const char *item = text_trim(arena, arena_strndup(arena, text, len));

		if (*item)
			*arena_push(arena, &items, &n) = item;
		if (!text[len])
			break;
		text += len + 1;
	}
	*arena_push(arena, &items, &n) = NULL;
	return items;
}

bool profile_match_set(struct profile_match *match, struct arena *arena, const char *key, const char *value)
{
	const char *const **const fields[] = { &match->arch, &match->dmi_product, &match->board_id, &match->nic_pci,
					       &match->topology };

	for (size_t i = 0; match_keys[i]; i++)
		if (!strcmp(match_keys[i], key)) {
			*fields[i] = alternatives(arena, value);
			return true;
		}
	return false;
}

static bool is_one_of(const char *const *items, const char *text)
{
	for (; items && *items; items++)
		if (!strcmp(*items, text))
			return true;
	return false;
}

static bool holds_one_of(struct text text, const char *const *items)
{
	for (; !text.err && items && *items; items++)
		if (strcasestr(text.val, *items))
			return true;
	return false;
}

static bool has_board(const struct snapshot *host, const char *const *board_ids)
{
	for (size_t i = 0; i < host->n_devs; i++)
		if (!host->devs[i].board_id.err && is_one_of(board_ids, host->devs[i].board_id.val))
			return true;
	return false;
}

static bool has_nic(const struct snapshot *host, const char *const *nic_pci)
{
	char id[32];

	for (size_t i = 0; nic_pci && i < host->n_nics; i++) {
		const struct pci_dev *nic = host->nics[i];

		if (nic->vendor.err || nic->device.err)
			continue;
		snprintf(id, sizeof(id), "%04" PRIx64 ":%04" PRIx64, (uint64_t)nic->vendor.val,
			 (uint64_t)nic->device.val);
		if (is_one_of(nic_pci, id))
			return true;
	}
	return false;
}

/* What the host was known by, for people; NULL if it does not fit. */
static const char *host_fits(struct arena *arena, const struct profile_match *match, const struct snapshot *host)
{
	if (match->arch && (host->id.arch.err || !is_one_of(match->arch, host->id.arch.val)))
		return NULL;
	if (holds_one_of(host->id.dmi_product, match->dmi_product))
		return arena_printf(arena, "product \"%s\"", host->id.dmi_product.val);
	if (has_board(host, match->board_id))
		return "the NIC's board id";
	return has_nic(host, match->nic_pci) ? "the NIC's PCI id" : NULL;
}

static const char *topology_name(enum fabric_kind kind)
{
	switch (kind) {
	case FABRIC_DIRECT:
		return "direct";
	case FABRIC_SWITCHED:
		return "switched";
	case FABRIC_UNKNOWN:
		break;
	}
	return "unknown";
}

static const char *topology_words(struct arena *arena, const struct fabric *fabric)
{
	if (fabric->kind == FABRIC_UNKNOWN)
		return "nothing proves a switch, and this profile asks for nothing that a fabric with one would not "
		       "have";
	return arena_printf(arena, "topology %s%s%s", topology_name(fabric->kind), fabric->kind_why ? ": " : "",
			    fabric->kind_why ? fabric->kind_why : "");
}

/* Why the profile fits all hosts, or NULL. */
static const char *fabric_fits(struct arena *arena, const struct profile_match *match, const struct fabric *fabric)
{
	const char *known_by = NULL;

	if (match->topology && !is_one_of(match->topology, topology_name(fabric->kind)))
		return NULL;
	for (size_t i = 0; i < fabric->n_hosts; i++) {
		const char *fits = host_fits(arena, match, fabric->hosts[i]);

		if (!fits)
			return NULL;
		if (!known_by)
			known_by = fits;
	}
	if (!known_by)
		return NULL;
	return arena_printf(arena, "%s of %s%s; %s", known_by, fabric->hosts[0]->name,
			    fabric->n_hosts > 1 ? ", and the other hosts are alike" : "",
			    topology_words(arena, fabric));
}

/* The text of last resort: without the built-in one there is still a profile, with no opinions. */
static struct profile *generic_profile(void)
{
	struct profile *profile = NULL;

	if (profile_load("generic", &profile, NULL) < 0)
		abort(); /* it is built in, and a test reads it */
	return profile;
}

struct profile *profile_detect(const struct fabric *fabric)
{
	struct profile *profile;

	for (const struct profile_data *data = profile_data; data->name; data++) {
		struct profile_match match = { 0 };

		if (profile_load_matching(data->name, &profile, &match, NULL) < 0)
			continue;
		profile->why = fabric_fits(profile->arena, &match, fabric);
		if (profile->why)
			return profile;
		profile_free(profile);
	}
	profile = generic_profile();
	profile->why = "no other profile fits all hosts";
	return profile;
}

const struct profile_name *profile_names(void)
{
	/* In step with profiles/: a test compares them. */
	static const struct profile_name names[] = {
		{ "gb10-direct", "NVIDIA GB10 (DGX Spark and kin), cabled to each other" },
		{ "gb10-switch", "NVIDIA GB10 (DGX Spark and kin) behind a switch" },
		{ "generic", "Any hosts with RoCE or InfiniBand" },
		{ 0 },
	};

	return names;
}
