// SPDX-License-Identifier: Apache-2.0
/* Answers out of records: fixtures, peers' answers, bundles. Pure: never touches this machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "facts/record_private.h"
#include "facts/source_private.h"

struct source_memory {
	struct source source;
	const struct records *records;
};

/* "error PATH ERRNO" without a word for what failed holds for whatever is asked of that path and not told otherwise. */
static int path_error(const struct records *records, const char *path)
{
	const struct record *record = records_find(records, RECORD_FILE, path, 1);

	return record && record->err ? -record->err : -ENOENT;
}

int records_answer_read(const struct records *records, const char *path, int sample, const char **ret_text,
			size_t *ret_len)
{
	const struct record *record = records_find(records, RECORD_FILE, path, sample);

	if (!record)
		return -ENOENT;
	if (record->err)
		return -record->err;
	*ret_text = record->text;
	*ret_len = record->text_len;
	return 0;
}

int records_answer_link(const struct records *records, const char *path, const char **ret_target)
{
	const struct record *record = records_find(records, RECORD_LINK, path, 1);

	if (!record)
		return path_error(records, path);
	if (record->err)
		return -record->err;
	*ret_target = record->text;
	return 0;
}

int records_answer_list(const struct records *records, const char *path, struct arena *arena, const char ***ret_names,
			size_t *ret_n)
{
	const struct record *record = records_find(records, RECORD_DIR, path, 1);

	if (record && record->err)
		return -record->err;
	return records_list(records, path, arena, ret_names, ret_n) ? 0 : path_error(records, path);
}

/* Collects the objects of one dump. */
struct collector {
	const char *prefix; /* "rtnl link " */
	size_t prefix_len;
	const char *dev; /* NULL: all; else those whose key is it, or goes on behind it with a blank or a slash */
	int sample;
	struct arena *arena;
	struct nl_object *objects;
	size_t n;
	int err; /* of the first object that is an error */
};

static void collect(struct collector *c, const struct record *record)
{
	const char *key = record->key + c->prefix_len;
	size_t dev_len = c->dev ? strlen(c->dev) : 0;
	struct nl_object *object;

	if (record->sample != c->sample)
		return;
	if (c->dev && (strncmp(key, c->dev, dev_len) != 0 || !strchr(" /", key[dev_len])))
		return;
	if (record->err) {
		c->err = c->err ? c->err : record->err;
		return;
	}
	object = arena_push(c->arena, &c->objects, &c->n);
	object->key = key;
	object->attrs = record->attrs;
}

static size_t first_with_prefix(struct record *const *sorted, size_t n, const char *prefix)
{
	size_t from = 0;

	while (from < n) {
		size_t middle = from + (n - from) / 2;
		const struct record *record = sorted[middle];

		if (record->kind < RECORD_NL || (record->kind == RECORD_NL && record_key_compare(record->key, prefix) < 0))
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

int records_answer_nl(const struct records *records, const char *family, const char *command, const char *dev, int sample,
		      struct arena *arena, const struct nl_object **ret_objects, size_t *ret_n)
{
	struct collector c = { .dev = dev, .sample = sample, .arena = arena };
	const struct record *whole;
	size_t n;
	struct record *const *sorted = records_sorted(records, &n);

	c.prefix = arena_printf(arena, "%s %s ", family, command);
	c.prefix_len = strlen(c.prefix);
	for (size_t i = first_with_prefix(sorted, n, c.prefix);
	     i < n && sorted[i]->kind == RECORD_NL && strncmp(sorted[i]->key, c.prefix, c.prefix_len) == 0; i++)
		collect(&c, sorted[i]);
	whole = records_find(records, RECORD_NL, arena_printf(arena, "%s %s", family, command), sample);
	if (c.n == 0 && c.err)
		return -c.err;
	if (c.n == 0 && !whole)
		return -ENODATA;
	*ret_objects = c.objects;
	*ret_n = c.n;
	/* An error beside objects says that the dump is not complete. */
	return whole && whole->err ? -whole->err : 0;
}

int records_answer_fact(const struct records *records, const char *key, int sample, const json_t **ret)
{
	const struct record *record = records_find(records, RECORD_FACT, key, sample);

	if (!record)
		return -ENODATA;
	if (record->err)
		return -record->err;
	*ret = record->json;
	return 0;
}

static const struct records *records_of(const struct source *source)
{
	return ((const struct source_memory *)source)->records;
}

static int memory_read(struct source *source, const char *path, struct arena *arena, const char **ret_text,
		       size_t *ret_len)
{
	(void)arena;
	return records_answer_read(records_of(source), path, source->sample, ret_text, ret_len);
}

static int memory_link(struct source *source, const char *path, struct arena *arena, const char **ret_target)
{
	(void)arena;
	return records_answer_link(records_of(source), path, ret_target);
}

static int memory_list(struct source *source, const char *path, struct arena *arena, const char ***ret_names,
		       size_t *ret_n)
{
	return records_answer_list(records_of(source), path, arena, ret_names, ret_n);
}

static int memory_nl(struct source *source, const char *family, const char *command, const char *dev,
		     struct arena *arena, const struct nl_object **ret_objects, size_t *ret_n)
{
	return records_answer_nl(records_of(source), family, command, dev, source->sample, arena, ret_objects, ret_n);
}

static int memory_fact(struct source *source, const char *key, const json_t **ret)
{
	return records_answer_fact(records_of(source), key, source->sample, ret);
}

static bool memory_is_live(const struct source *source)
{
	(void)source;
	return false;
}

static void memory_free(struct source *source)
{
	free(source);
}

static const struct source_ops memory_ops = {
	.read = memory_read, .link = memory_link, .list = memory_list, .nl = memory_nl, .fact = memory_fact,
	.is_live = memory_is_live, .free = memory_free,
};

struct source *source_memory_new(const struct records *records)
{
	struct source_memory *memory = xcalloc(1, sizeof(*memory));

	memory->source.ops = &memory_ops;
	memory->source.sample = 1;
	memory->records = records;
	return &memory->source;
}
