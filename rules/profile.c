// SPDX-License-Identifier: Apache-2.0
/* Reads profiles: one table of the numbers they may hold, and the INI text that fills it. Every number needs a source.
 */
#include "rules/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/ini.h"
#include "core/text.h"
#include "rules/profile_data.h"
#include "rules/profile_match.h"

#define BASES_MAX 4 /* deep enough for a site's own profile on top of ours; a loop ends here */

static const struct profile_key keys[] = {
	{ "rdma_devices", NULL, "RDMA devices that a healthy host has, at least", 0, 4096 },
	{ "rails", NULL, "rails that join each two hosts, at least", 0, 4096 },
	{ "twins_per_cage", NULL, "RDMA ports that share one connector", 1, 16 },
	{ "port_rate_mbps", "Mbit/s", "rate of a port in use, at least", 1, 100000000 },
	{ "rdma_mtu_bytes", "bytes", "RDMA MTU of a port in use, at least", 256, 65536 },
	{ "netdev_mtu_min", "bytes", "netdev MTU from which that RDMA MTU fits, hardware RoCE", 68, 65536 },
	{ "netdev_mtu_min_soft", "bytes", "the same for soft-RoCE", 68, 65536 },
	{ "pcie_width", "lanes", "PCIe lanes of a NIC's function, at least", 1, 32 },
	{ "pcie_speed_mtps", "MT/s", "PCIe speed of a NIC's function, at least", 2500, 1000000 },
	{ "cable_length_max_cm", "cm", "length of a passive copper cable, at most", 1, 100000 },
	{ "carrier_changes_per_run", NULL, "times a link in use may lose or gain its carrier while it is watched", 0,
	  1000000 },
	{ "symbol_errors_per_hour", NULL, "symbol errors of a link in use, at most", 0, INT64_MAX },
	{ 0 },
};

/* What [expect] said about one key in the file being read. */
struct entry {
	int64_t val;
	const char *source;
	enum threshold_kind kind;
	bool is_set, has_kind;
	int line; /* of the value, in the file being read; 0: it came from a base */
};

#define N_KEYS (sizeof(keys) / sizeof(keys[0]) - 1)

struct reader {
	struct profile *profile;
	struct profile_match *match; /* NULL: not asked for */
	struct entry entries[N_KEYS];
	const char *file; /* for messages */
	int depth;
	bool is_late; /* something but [profile] was read: a base would overwrite it */
};

const struct profile_key *profile_keys(void)
{
	return keys;
}

const struct profile_key *profile_key_find(const char *name)
{
	for (const struct profile_key *key = keys; key->name; key++)
		if (!strcmp(key->name, name))
			return key;
	return NULL;
}

static const char *const kind_names[] = {
	[THRESHOLD_MEASURED] = "measured", [THRESHOLD_VENDOR] = "vendor", [THRESHOLD_BELIEF] = "belief"
};

#define N_KINDS (sizeof(kind_names) / sizeof(kind_names[0]))

const char *threshold_kind_name(enum threshold_kind kind)
{
	return kind < N_KINDS ? kind_names[kind] : "belief";
}

static size_t distance(const char *a, const char *b)
{
	return text_distance(a, strlen(a), b, strlen(b));
}

static const char *nearest(const char *word, const char *const names[])
{
	const char *best = names[0];

	for (; *names; names++)
		if (distance(word, *names) < distance(word, best))
			best = *names;
	return best;
}

static int unknown_name(const char *what, const char *word, const char *const names[], struct fault *reterr)
{
	char safe[64];

	snprintf(safe, sizeof(safe), "%s", word);
	return fault_set(reterr, EINVAL, "unknown %s \"%s\"; the nearest known one is \"%s\"", what, safe,
			 nearest(word, names));
}

static int unknown_expectation(const char *word, struct fault *reterr)
{
	const char *names[N_KEYS + 2] = { "ports" };

	for (size_t i = 0; i < N_KEYS; i++)
		names[i + 1] = keys[i].name;
	return unknown_name("key in [expect]", word, names, reterr);
}

/* Words between blanks; a NULL-terminated array. */
static const char *const *word_list(struct arena *arena, const char *text)
{
	const char **words = NULL;
	size_t n = 0;

	while (*(text += strspn(text, " \t\n"))) {
		size_t len = strcspn(text, " \t\n");

		*arena_push(arena, &words, &n) = arena_strndup(arena, text, len);
		text += len;
	}
	*arena_push(arena, &words, &n) = NULL;
	return words;
}

static int read_layer(struct reader *reader, const char *name, struct fault *reterr);

static int take_profile(struct reader *reader, const char *key, const char *value, struct fault *reterr)
{
	static const char *const names[] = { "name", "title", "base", NULL };
	struct arena *arena = reader->profile->arena;

	if (!strcmp(key, "name")) {
		reader->profile->name = text_trim(arena, value);
	} else if (!strcmp(key, "title")) {
		reader->profile->title = text_trim(arena, value);
	} else if (strcmp(key, "base")) {
		return unknown_name("key in [profile]", key, names, reterr);
	} else {
		const char *file = reader->file, *own_name = reader->profile->name, *title = reader->profile->title;
		int r;

		if (reader->is_late)
			return fault_set(reterr, EINVAL, "base has to stand before every other section");
		if (++reader->depth > BASES_MAX)
			return fault_set(reterr, ELOOP, "base profiles loop, or are more than %d deep", BASES_MAX);
		r = read_layer(reader, text_trim(arena, value), reterr);
		if (r < 0)
			return r;
		reader->file = file;
		reader->is_late = false;
		reader->profile->name = own_name;
		reader->profile->title = title;
	}
	return 0;
}

static int take_value(struct entry *entry, const struct profile_key *key, const char *value, int line,
		      struct fault *reterr)
{
	int64_t number;

	*entry = (struct entry){ .line = line };
	if (!strcmp(value, "none"))
		return 0;
	if (!text_parse_i64(value, &number))
		return fault_set(reterr, EINVAL, "%s wants a whole number or \"none\"", key->name);
	if (number < key->min || number > key->max)
		return fault_set(reterr, EINVAL, "%s is out of range: %" PRId64 " to %" PRId64, key->name, key->min,
				 key->max);
	entry->val = number;
	entry->is_set = true;
	return 0;
}

static int take_kind(struct entry *entry, const char *value, struct fault *reterr)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (!strcmp(value, kind_names[i])) {
			entry->kind = (enum threshold_kind)i;
			entry->has_kind = true;
			return 0;
		}
	return fault_set(reterr, EINVAL, "a number is \"measured\", the \"vendor\"'s or a \"belief\"");
}

static int take_expect(struct reader *reader, const char *key, const char *value, int line, struct fault *reterr)
{
	struct arena *arena = reader->profile->arena;
	const char *dot = strrchr(key, '.');
	const char *name = dot ? arena_strndup(arena, key, (size_t)(dot - key)) : key;
	const struct profile_key *known = profile_key_find(name);
	struct entry *entry;

	if (!strcmp(key, "ports")) {
		reader->profile->ports = word_list(arena, value);
		return 0;
	}
	if (!known)
		return unknown_expectation(name, reterr);
	entry = &reader->entries[known - keys];
	if (!dot && entry->line)
		return fault_set(reterr, EINVAL, "%s is given twice, first in line %d", key, entry->line);
	if (!dot)
		return take_value(entry, known, value, line, reterr);
	if (!entry->line)
		return fault_set(reterr, EINVAL, "%s has to stand below %s = …", key, name);
	if (!strcmp(dot, ".kind"))
		return take_kind(entry, value, reterr);
	if (strcmp(dot, ".source"))
		return unknown_name("key", dot, (const char *const[]){ ".source", ".kind", NULL }, reterr);
	entry->source = text_trim(arena, value);
	return 0;
}

static int take_gate(struct reader *reader, const char *key, const char *value, struct fault *reterr)
{
	static const char *const names[] = { "require", "may_skip", NULL };
	const char *const *ids = word_list(reader->profile->arena, value);

	for (const char *const *id = ids; *id; id++)
		if (!strchr(*id, '.'))
			return fault_set(reterr, EINVAL, "\"%s\" is no check id, they look like \"link.fabric\"", *id);
	if (!strcmp(key, "require"))
		reader->profile->require = ids;
	else if (!strcmp(key, "may_skip"))
		reader->profile->may_skip = ids;
	else
		return unknown_name("key in [gate]", key, names, reterr);
	return 0;
}

static int take_match(struct reader *reader, const char *key, const char *value, struct fault *reterr)
{
	struct profile_match ignored = { 0 };

	if (profile_match_set(reader->match ? reader->match : &ignored, reader->profile->arena, key, value))
		return 0;
	return unknown_name("key in [match]", key, profile_match_keys(), reterr);
}

static int take(void *ctx, const char *section, const char *key, const char *value, int line, struct fault *reterr)
{
	static const char *const sections[] = { "profile", "match", "expect", "gate", NULL };
	struct reader *reader = ctx;

	if (!strcmp(section, "profile"))
		return take_profile(reader, key, value, reterr);
	reader->is_late = true;
	if (!strcmp(section, "match"))
		return take_match(reader, key, value, reterr);
	if (!strcmp(section, "expect"))
		return take_expect(reader, key, value, line, reterr);
	if (!strcmp(section, "gate"))
		return take_gate(reader, key, value, reterr);
	return unknown_name("section", section, sections, reterr);
}

/* Every number that this file gave has a source and a kind; from now on they belong to whoever builds on it. */
static int finish_layer(struct reader *reader, struct fault *reterr)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		struct entry *entry = &reader->entries[i];

		if (entry->line && entry->is_set && (!entry->source || !*entry->source))
			return fault_set(reterr, EINVAL, "%s:%d: %s needs %s.source: where does the number come from?",
					 reader->file, entry->line, keys[i].name, keys[i].name);
		if (entry->line && entry->is_set && !entry->has_kind)
			return fault_set(reterr, EINVAL, "%s:%d: %s needs %s.kind: measured, vendor or belief",
					 reader->file, entry->line, keys[i].name, keys[i].name);
		entry->line = 0;
	}
	return 0;
}

static const char *built_in(const char *name)
{
	for (const struct profile_data *data = profile_data; data->name; data++)
		if (!strcmp(data->name, name))
			return data->text;
	return NULL;
}

static int no_such_profile(const char *name, struct fault *reterr)
{
	char names[256] = "", safe[64];
	size_t len = 0;

	for (const struct profile_data *data = profile_data; data->name && len < sizeof(names); data++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "", data->name);
	snprintf(safe, sizeof(safe), "%s", name);
	return fault_set(reterr, ENOENT, "no profile \"%s\"; there are %s, or give the path of a file", safe, names);
}

/* One file or built-in text over what `reader` holds already. */
static int read_layer(struct reader *reader, const char *name, struct fault *reterr)
{
	const char *text = strchr(name, '/') ? NULL : built_in(name);
	int r;

	if (!text && !strchr(name, '/'))
		return no_such_profile(name, reterr);
	reader->file = name;
	reader->is_late = false;
	r = text ? ini_read_text(name, text, take, reader, reterr) : ini_read_file(name, take, reader, reterr);
	return r < 0 ? r : finish_layer(reader, reterr);
}

static void hand_over(struct reader *reader)
{
	static const char *const none[] = { NULL };
	struct profile *profile = reader->profile;
	struct threshold *thresholds = NULL;

	for (size_t i = 0; i < N_KEYS; i++) {
		const struct entry *entry = &reader->entries[i];

		if (entry->is_set)
			*arena_push(profile->arena, &thresholds, &profile->n_thresholds) = (struct threshold){
				.key = keys[i].name, .val = entry->val, .source = entry->source, .kind = entry->kind
			};
	}
	profile->thresholds = thresholds;
	profile->require = profile->require ? profile->require : none;
	profile->may_skip = profile->may_skip ? profile->may_skip : none;
	profile->ports = profile->ports ? profile->ports : none;
}

static struct profile *profile_new(void)
{
	struct arena *arena = arena_new();
	struct profile *profile = arena_alloc(arena, sizeof(*profile));

	profile->arena = arena;
	return profile;
}

static int finish_profile(struct reader *reader, const char *name, int r, struct profile **ret)
{
	struct profile *profile = reader->profile;

	if (r < 0) {
		profile_free(profile);
		return r;
	}
	hand_over(reader);
	if (!profile->name)
		profile->name = arena_strdup(profile->arena, strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
	if (!profile->title)
		profile->title = profile->name;
	profile->why = "asked for by name";
	*ret = profile;
	return 0;
}

int profile_load_matching(const char *name, struct profile **ret, struct profile_match *ret_match, struct fault *reterr)
{
	struct reader reader = { .profile = profile_new(), .match = ret_match };

	return finish_profile(&reader, name, read_layer(&reader, name, reterr), ret);
}

int profile_load(const char *name, struct profile **ret, struct fault *reterr)
{
	return profile_load_matching(name, ret, NULL, reterr);
}

int profile_parse(const char *name, const char *text, struct profile **ret, struct fault *reterr)
{
	struct reader reader = { .profile = profile_new(), .file = name };
	int r = ini_read_text(name, text, take, &reader, reterr);

	return finish_profile(&reader, name, r < 0 ? r : finish_layer(&reader, reterr), ret);
}

struct profile *profile_free(struct profile *profile)
{
	if (profile)
		arena_free(profile->arena);
	return NULL;
}

const struct threshold *profile_threshold(const struct profile *profile, const char *key)
{
	for (size_t i = 0; i < profile->n_thresholds; i++)
		if (!strcmp(profile->thresholds[i].key, key))
			return &profile->thresholds[i];
	return NULL;
}
