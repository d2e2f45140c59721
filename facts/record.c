// SPDX-License-Identifier: Apache-2.0
/* The store of records: a hash table for lookups, a sorted index for listing and writing. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "facts/attr_table.h"
#include "facts/record_private.h"

struct record_index {
	struct record **sorted;
	size_t n;
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
	struct record_header *header = NULL;

	for (size_t i = 0; i < records->n_headers; i++)
		if (strcmp(records->headers[i].name, name) == 0)
			header = &records->headers[i];
	for (size_t i = 0; !header && record_header_names[i]; i++) {
		if (strcmp(record_header_names[i], name) != 0)
			continue;
		header = &records->headers[records->n_headers++];
		header->name = record_header_names[i];
	}
	if (header)
		header->value = arena_strdup(records->arena, value);
}

static unsigned char_rank(char c)
{
	if (c == '\0')
		return 0;
	return c == '/' ? 1 : (unsigned char)c + 2u;
}

/* Compares the numbers that *a and *b start with, and moves both behind them if they are the same digits. */
static int number_compare(const char **a, const char **b)
{
	size_t zeros_a = strspn(*a, "0"), zeros_b = strspn(*b, "0");
	size_t len_a = strspn(*a + zeros_a, "0123456789"), len_b = strspn(*b + zeros_b, "0123456789");
	int order;

	if (len_a != len_b)
		return len_a < len_b ? -1 : 1;
	order = memcmp(*a + zeros_a, *b + zeros_b, len_a);
	if (order)
		return order;
	if (zeros_a != zeros_b)
		return zeros_a < zeros_b ? -1 : 1;
	*a += zeros_a + len_a;
	*b += zeros_b + len_b;
	return 0;
}

int record_key_compare(const char *a, const char *b)
{
	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			int order = number_compare(&a, &b);

			if (order)
				return order;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	return (int)char_rank(*a) - (int)char_rank(*b);
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

struct record *const *records_sorted(const struct records *records, size_t *ret_n)
{
	struct record_index *index = records->index;

	if (!index->valid) {
		index->sorted = xreallocarray(index->sorted, records->n + 1, sizeof(*index->sorted));
		if (records->n)
			memcpy(index->sorted, records->items, records->n * sizeof(*index->sorted));
		index->n = records->n;
		qsort(index->sorted, index->n, sizeof(*index->sorted), compare_items);
		index->valid = true;
	}
	*ret_n = index->n;
	return index->sorted;
}

static size_t record_hash(enum record_kind kind, const char *key, int sample)
{
	uint64_t hash = 0xcbf29ce484222325u ^ ((uint64_t)kind << 2 | (uint64_t)sample);

	for (; *key; key++)
		hash = (hash ^ (unsigned char)*key) * 0x100000001b3u;
	return (size_t)(hash ^ hash >> 32);
}

/* The slot that holds the record, or the free one where it belongs. The table is never full. */
static size_t *find_slot(const struct records *records, enum record_kind kind, const char *key, int sample)
{
	size_t mask = records->n_slots - 1;

	for (size_t i = record_hash(kind, key, sample) & mask;; i = (i + 1) & mask) {
		const struct record *record;

		if (!records->slots[i])
			return &records->slots[i];
		record = records->items[records->slots[i] - 1];
		if (record->kind == kind && record->sample == sample && strcmp(record->key, key) == 0)
			return &records->slots[i];
	}
}

static void rehash(struct records *records, size_t n_slots)
{
	free(records->slots);
	records->slots = xcalloc(n_slots, sizeof(*records->slots));
	records->n_slots = n_slots;
	for (size_t i = 0; i < records->n; i++) {
		const struct record *record = records->items[i];

		*find_slot(records, record->kind, record->key, record->sample) = i + 1;
	}
}

const struct record *records_find(const struct records *records, enum record_kind kind, const char *key, int sample)
{
	size_t slot = records->n_slots ? *find_slot(records, kind, key, sample) : 0;

	return slot ? records->items[slot - 1] : NULL;
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
	struct record *item;
	size_t *slot;

	if (!records_have_room(records, 1, 0))
		return false;
	if (2 * (records->n + 1) > records->n_slots)
		rehash(records, records->n_slots ? 2 * records->n_slots : 64);
	slot = find_slot(records, record->kind, record->key, record->sample);
	if (*slot) {
		item = records->items[*slot - 1];
		json_decref(item->json);
	} else {
		item = arena_alloc(records->arena, sizeof(*item));
		if ((records->n & (records->n - 1)) == 0)
			records->items = xreallocarray(records->items, records->n ? 2 * records->n : 1,
						       sizeof(struct record *));
		records->items[records->n++] = item;
		*slot = records->n;
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
		rehash(records, records->n_slots);
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
