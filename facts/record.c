// SPDX-License-Identifier: Apache-2.0
/* The store of records: a hash table for lookups, a sorted index for listing and writing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "facts/attr_table.h"
#include "facts/record_private.h"

struct record_index {
	struct record **sorted;
	bool valid;
};

const char *const record_header_names[] = {
	"host", "arch", "tool", "role", "agent", "level", "created", "source", "note", NULL,
};

struct records *records_new(void)
{
	struct records *records = xcalloc(1, sizeof(*records));

	records->arena = arena_new();
	records->index = xcalloc(1, sizeof(*records->index));
	return records;
}

struct records *records_free(struct records *records)
{
	if (!records)
		return NULL;
	for (size_t i = 0; i < records->n; i++)
		json_decref(records->items[i]->json);
	free(records->items);
	free(records->slots);
	free(records->index->sorted);
	free(records->index);
	arena_free(records->arena);
	free(records);
	return NULL;
}

struct arena *records_arena(struct records *records)
{
	return records->arena;
}

const char *records_header(const struct records *records, const char *name)
{
	for (size_t i = 0; i < records->n_headers; i++)
		if (strcmp(records->headers[i].name, name) == 0)
			return records->headers[i].value;
	return NULL;
}

void records_set_header(struct records *records, const char *name, const char *value)
{
	size_t known = 0, i = 0;

	while (record_header_names[known] && strcmp(record_header_names[known], name) != 0)
		known++;
	if (!record_header_names[known])
		return;
	while (i < records->n_headers && strcmp(records->headers[i].name, name) != 0)
		i++;
	if (i == records->n_headers)
		records->headers[records->n_headers++].name = record_header_names[known];
	records->headers[i].value = arena_strdup(records->arena, value);
}

static unsigned char_rank(char c)
{
	if (c == '\0')
		return 0;
	return c == '/' ? 1 : (unsigned char)c + 2u;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Order of the numbers that both start with, which are not the same digits. */
static int number_compare(const char *a, const char *b)
{
	size_t zeros_a = 0, zeros_b = 0, i = 0;

	while (a[zeros_a] == '0')
		zeros_a++;
	while (b[zeros_b] == '0')
		zeros_b++;
	a += zeros_a;
	b += zeros_b;
	while (a[i] == b[i] && is_digit(a[i]))
		i++;
	if (is_digit(a[i]) || is_digit(b[i])) {
		size_t more_a = i, more_b = i;

		/* The longer number is the larger one; of equal length, the first digit that differs decides. */
		while (is_digit(a[more_a]))
			more_a++;
		while (is_digit(b[more_b]))
			more_b++;
		if (more_a != more_b)
			return more_a < more_b ? -1 : 1;
		return a[i] < b[i] ? -1 : 1;
	}
	return zeros_a < zeros_b ? -1 : 1;
}

int record_key_compare(const char *a, const char *b)
{
	size_t i = 0, start;

	while (a[i] && a[i] == b[i])
		i++;
	if (a[i] == b[i])
		return 0;
	/* The difference may lie inside of a number: compare it from where it begins. */
	for (start = i; start > 0 && is_digit(a[start - 1]); start--)
		;
	if ((is_digit(a[i]) || is_digit(b[i])) && is_digit(a[start]) && is_digit(b[start]))
		return number_compare(a + start, b + start);
	return (int)char_rank(a[i]) - (int)char_rank(b[i]);
}

static int kind_class(enum record_kind kind)
{
	return kind == RECORD_NL ? 1 : kind == RECORD_FACT ? 2 : 0;
}

static int record_compare(const struct record *a, const struct record *b)
{
	int order = kind_class(a->kind) - kind_class(b->kind);

	if (order == 0)
		order = record_key_compare(a->key, b->key);
	if (order == 0)
		order = (int)a->kind - (int)b->kind;
	return order ? order : a->sample - b->sample;
}

static int compare_items(const void *a, const void *b)
{
	return record_compare(*(struct record *const *)a, *(struct record *const *)b);
}

/* Merges the sorted halves items[0, middle) and items[middle, n) through `spare`. */
static void merge_halves(struct record **items, size_t middle, size_t n, struct record **spare)
{
	size_t a = 0, b = middle, out = 0;

	while (a < middle && b < n)
		spare[out++] = record_compare(items[a], items[b]) <= 0 ? items[a++] : items[b++];
	while (a < middle)
		spare[out++] = items[a++];
	memcpy(items, spare, out * sizeof(*items));
}

struct record *const *records_sorted(const struct records *records, size_t *ret_n)
{
	struct record_index *index = records->index;
	size_t n = records->n, ordered = 1;

	*ret_n = n;
	if (index->valid)
		return index->sorted;
	index->sorted = xreallocarray(index->sorted, n + 1, sizeof(*index->sorted));
	if (n)
		memcpy(index->sorted, records->items, n * sizeof(*index->sorted));
	/* What was read from a text came in order; a variant's own few lines come behind its base's. */
	while (ordered < n && record_compare(index->sorted[ordered - 1], index->sorted[ordered]) < 0)
		ordered++;
	if (ordered < n) {
		struct record **spare cleanup_free = xcalloc(n, sizeof(*spare));

		qsort(index->sorted + ordered, n - ordered, sizeof(*index->sorted), compare_items);
		merge_halves(index->sorted, ordered, n, spare);
	}
	index->valid = true;
	return index->sorted;
}

/* Eight bytes at a time: paths are long, and each question hashes one. */
static uint32_t record_hash(enum record_kind kind, const char *key, int sample)
{
	uint64_t hash = 0xcbf29ce484222325u ^ ((uint64_t)kind << 2 | (uint64_t)sample);
	size_t len = strlen(key);

	for (size_t i = 0; i < len; i += 8) {
		uint64_t word = 0;

		memcpy(&word, key + i, len - i < 8 ? len - i : 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return (uint32_t)(hash ^ hash >> 32);
}

/* The slot that holds the record, or the free one where it belongs. The table is never full. */
static struct record_slot *find_slot(const struct records *records, enum record_kind kind, const char *key, int sample,
				     uint32_t hash)
{
	size_t mask = records->n_slots - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct record_slot *slot = &records->slots[i];
		const struct record *record;

		if (!slot->item)
			return slot;
		if (slot->hash != hash)
			continue;
		record = records->items[slot->item - 1];
		if (record->kind == kind && record->sample == sample && strcmp(record->key, key) == 0)
			return slot;
	}
}

static void insert_slot(struct records *records, uint32_t hash, uint32_t item)
{
	size_t mask = records->n_slots - 1, i = hash & mask;

	while (records->slots[i].item)
		i = (i + 1) & mask;
	records->slots[i] = (struct record_slot){ hash, item };
}

static void grow_slots(struct records *records)
{
	struct record_slot *old = records->slots;
	size_t n_old = records->n_slots;

	records->n_slots = n_old ? 2 * n_old : 64;
	records->slots = xcalloc(records->n_slots, sizeof(*records->slots));
	for (size_t i = 0; i < n_old; i++)
		if (old[i].item)
			insert_slot(records, old[i].hash, old[i].item);
	free(old);
}

/* After items moved: the table is made anew. */
static void refill_slots(struct records *records)
{
	memset(records->slots, 0, records->n_slots * sizeof(*records->slots));
	for (size_t i = 0; i < records->n; i++) {
		const struct record *record = records->items[i];

		insert_slot(records, record_hash(record->kind, record->key, record->sample), (uint32_t)i + 1);
	}
}

const struct record *records_find(const struct records *records, enum record_kind kind, const char *key, int sample)
{
	const struct record_slot *slot;

	if (!records->n_slots)
		return NULL;
	slot = find_slot(records, kind, key, sample, record_hash(kind, key, sample));
	return slot->item ? records->items[slot->item - 1] : NULL;
}

bool records_have_room(const struct records *records, size_t n, size_t key_len)
{
	size_t room;

	if (n > SNAPSHOT_RECORDS_MAX || records->n > SNAPSHOT_RECORDS_MAX - n)
		return false;
	if (arena_used(records->arena) > RECORDS_MEMORY_MAX)
		return false;
	room = RECORDS_MEMORY_MAX - arena_used(records->arena);
	return n <= room / (key_len + sizeof(struct record) + 1);
}

bool records_adopt(struct records *records, const struct record *record)
{
	uint32_t hash = record_hash(record->kind, record->key, record->sample);
	struct record_slot *slot;
	struct record *item;

	if (!records_have_room(records, 1, 0))
		return false;
	if (2 * (records->n + 1) > records->n_slots)
		grow_slots(records);
	slot = find_slot(records, record->kind, record->key, record->sample, hash);
	if (slot->item) {
		item = records->items[slot->item - 1];
		json_decref(item->json);
	} else {
		item = arena_alloc(records->arena, sizeof(*item));
		if ((records->n & (records->n - 1)) == 0)
			records->items = xreallocarray(records->items, records->n ? 2 * records->n : 1,
						       sizeof(struct record *));
		records->items[records->n++] = item;
		*slot = (struct record_slot){ hash, (uint32_t)records->n };
		records->index->valid = false;
	}
	*item = *record;
	item->fresh = true;
	json_incref(item->json);
	return true;
}

/* A fact that its own text form could not carry is kept as the error that it is. */
static void bound_json(struct records *records, struct record *record)
{
	size_t len = json_dumpb(record->json, NULL, 0, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (len == 0 || len > RECORD_JSON_MAX || len > RECORDS_JSON_MAX - records->json_bytes) {
		record->json = NULL;
		record->err = E2BIG;
		return;
	}
	records->json_bytes += len;
}

void records_put(struct records *records, const struct record *record)
{
	struct record copy = *record;
	bool fits = strlen(record->key) <= RECORD_KEY_MAX && record->text_len <= RECORD_TEXT_MAX;

	if (!fits || !records_have_room(records, 1, strlen(record->key) + record->text_len)) {
		records->dropped++;
		return;
	}
	copy.key = arena_strdup(records->arena, record->key);
	if (record->text) {
		char *text = arena_alloc(records->arena, record->text_len + 1);

		memcpy(text, record->text, record->text_len);
		copy.text = text;
	}
	copy.attrs = attr_copy(record->attrs, records->arena);
	if (copy.json)
		bound_json(records, &copy);
	if (!records_adopt(records, &copy))
		records->dropped++;
}

static bool key_is_below(const char *key, const char *top, char separator)
{
	size_t len = strlen(top);

	if (strncmp(key, top, len) != 0)
		return false;
	return key[len] == '\0' || key[len] == separator || (len > 0 && top[len - 1] == separator);
}

size_t records_remove(struct records *records, enum record_kind kind, const char *key, char separator)
{
	size_t kept = 0, removed;

	for (size_t i = 0; i < records->n; i++) {
		struct record *record = records->items[i];

		if (kind_class(record->kind) == kind_class(kind) && key_is_below(record->key, key, separator))
			json_decref(record->json);
		else
			records->items[kept++] = record;
	}
	removed = records->n - kept;
	records->n = kept;
	if (removed) {
		size_t capacity = 1;

		/* records_adopt() grows at powers of two, so the memory must be what it would have been. */
		while (capacity < kept)
			capacity *= 2;
		records->items = xreallocarray(records->items, capacity, sizeof(struct record *));
		refill_slots(records);
		records->index->valid = false;
	}
	return removed;
}

void records_each(const struct records *records, enum record_kind kind, record_visit_fn *visit, void *ctx)
{
	size_t n;
	struct record *const *sorted = records_sorted(records, &n);

	for (size_t i = 0; i < n; i++)
		if (sorted[i]->kind == kind && !visit(ctx, sorted[i]))
			return;
}

/* First of the sorted path records from `from` on whose key is not before `key`. */
static size_t lower_bound(struct record *const *sorted, size_t n, size_t from, const char *key)
{
	while (from < n) {
		size_t middle = from + (n - from) / 2;
		const struct record *record = sorted[middle];

		if (kind_class(record->kind) == 0 && record_key_compare(record->key, key) < 0)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

/* The path one level below `prefix` that `key` lies at or under. */
static const char *name_below(const char *key, size_t prefix_len, struct arena *arena)
{
	const char *name = key + prefix_len;

	return arena_strndup(arena, name, strcspn(name, "/"));
}

static bool is_there(const struct record *record)
{
	return record->err != ENOENT;
}

bool records_list(const struct records *records, const char *path, struct arena *arena, const char ***ret_names,
		  size_t *ret_n)
{
	const char *prefix = strcmp(path, "/") == 0 ? path : arena_printf(arena, "%s/", path);
	const struct record *self = records_find(records, RECORD_DIR, path, 1);
	size_t prefix_len = strlen(prefix), n, n_names = 0, i;
	struct record *const *sorted = records_sorted(records, &n);
	const char **names = NULL;

	i = lower_bound(sorted, n, 0, prefix);
	while (i < n && kind_class(sorted[i]->kind) == 0 && strncmp(sorted[i]->key, prefix, prefix_len) == 0) {
		const char *key = sorted[i]->key, *name;

		if (!is_there(sorted[i])) {
			i++;
			continue;
		}
		name = name_below(key, prefix_len, arena);
		if (n_names == 0 || strcmp(names[n_names - 1], name) != 0)
			*arena_push(arena, &names, &n_names) = name;
		/* Everything below that name comes next: step over it. 0x7f and above is after all that paths hold. */
		i++;
		if (key[prefix_len + strlen(name)] == '/')
			i = lower_bound(sorted, n, i, arena_printf(arena, "%s%s/\xff", prefix, name));
	}
	if (n_names == 0 && (!self || self->err))
		return false;
	*ret_names = names;
	*ret_n = n_names;
	return true;
}
