// SPDX-License-Identifier: Apache-2.0
/* Keeps what another source answered, so that the same questions asked of the records get the same answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "facts/record_private.h"
#include "facts/source_private.h"

struct source_recorder {
	struct source source;
	struct source *inner;
	struct records *records;
	/* Listings and netlink questions that were asked. Their answers are several records, none of which says by itself that
	 * the answer is complete. */
	struct records *asked;
};

static struct source_recorder *recorder_of(struct source *source)
{
	struct source_recorder *recorder = (struct source_recorder *)source;

	recorder->inner->sample = source->sample;
	return recorder;
}

/* True the first time. */
static bool ask_first(struct source_recorder *recorder, const char *question, int sample)
{
	const struct record mark = { .kind = RECORD_DIR, .key = question, .sample = sample };

	if (records_find(recorder->asked, RECORD_DIR, question, sample))
		return false;
	records_put(recorder->asked, &mark);
	return true;
}

/* What replay says of its own accord need not be kept. */
static void put_error(struct source_recorder *recorder, enum record_kind kind, const char *key, int sample, int rc)
{
	bool is_default = rc == (kind == RECORD_NL || kind == RECORD_FACT ? -ENODATA : -ENOENT);
	const struct record record = { .kind = kind, .key = key, .sample = sample, .err = -rc };

	if (!is_default)
		records_put(recorder->records, &record);
}

static int recorder_read(struct source *source, const char *path, struct arena *arena, const char **ret_text,
			 size_t *ret_len)
{
	struct source_recorder *recorder = recorder_of(source);
	struct record record = { .kind = RECORD_FILE, .key = path, .sample = source->sample };
	int rc;

	if (records_find(recorder->records, RECORD_FILE, path, source->sample))
		return records_answer_read(recorder->records, path, source->sample, ret_text, ret_len);
	rc = source_read(recorder->inner, path, arena, ret_text, ret_len);
	if (rc < 0) {
		put_error(recorder, RECORD_FILE, path, source->sample, rc);
		return rc;
	}
	record.text = *ret_text;
	record.text_len = *ret_len;
	records_put(recorder->records, &record);
	return 0;
}

static int recorder_link(struct source *source, const char *path, struct arena *arena, const char **ret_target)
{
	struct source_recorder *recorder = recorder_of(source);
	struct record record = { .kind = RECORD_LINK, .key = path, .sample = 1 };
	int rc;

	if (records_find(recorder->records, RECORD_LINK, path, 1))
		return records_answer_link(recorder->records, path, ret_target);
	rc = source_link(recorder->inner, path, arena, ret_target);
	if (rc < 0) {
		put_error(recorder, RECORD_LINK, path, 1, rc);
		return rc;
	}
	record.text = *ret_target;
	record.text_len = strlen(*ret_target);
	records_put(recorder->records, &record);
	return 0;
}

static void put_names(struct source_recorder *recorder, const char *path, const char *const *names, size_t n)
{
	const char *separator = strcmp(path, "/") == 0 ? "" : "/";
	struct record record = { .kind = RECORD_DIR, .key = path, .sample = 1 };

	records_put(recorder->records, &record);
	for (size_t i = 0; i < n; i++) {
		record.key = arena_printf(records_arena(recorder->asked), "%s%s%s", path, separator, names[i]);
		if (!records_find(recorder->records, RECORD_DIR, record.key, 1))
			records_put(recorder->records, &record);
	}
}

static int recorder_list(struct source *source, const char *path, struct arena *arena, const char ***ret_names,
			 size_t *ret_n)
{
	struct source_recorder *recorder = recorder_of(source);
	int rc;

	if (!ask_first(recorder, path, 1))
		return records_answer_list(recorder->records, path, arena, ret_names, ret_n);
	rc = source_list(recorder->inner, path, arena, ret_names, ret_n);
	if (rc < 0)
		put_error(recorder, RECORD_DIR, path, 1, rc);
	else
		put_names(recorder, path, *ret_names, *ret_n);
	return rc;
}

static int recorder_nl(struct source *source, const char *family, const char *command, const char *dev,
		       struct arena *arena, const struct nl_object **ret_objects, size_t *ret_n)
{
	struct source_recorder *recorder = recorder_of(source);
	const char *prefix = arena_printf(arena, "%s %s", family, command);
	const char *question = dev ? arena_printf(arena, "%s %s", prefix, dev) : prefix;
	struct record record = { .kind = RECORD_NL, .sample = source->sample };
	int rc;

	if (!ask_first(recorder, question, source->sample))
		return records_answer_nl(recorder->records, family, command, dev, source->sample, arena, ret_objects, ret_n);
	*ret_n = 0;
	rc = source_nl(recorder->inner, family, command, dev, arena, ret_objects, ret_n);
	if (rc < 0)
		put_error(recorder, RECORD_NL, question, source->sample, rc);
	for (size_t i = 0; (rc == 0 || rc == -E2BIG) && i < *ret_n; i++) {
		record.key = arena_printf(arena, "%s %s", prefix, (*ret_objects)[i].key);
		record.attrs = (*ret_objects)[i].attrs;
		records_put(recorder->records, &record);
	}
	if (rc == 0 && *ret_n == 0) { /* asked, and there is none: another thing than never asked */
		record.key = prefix;
		records_put(recorder->records, &record);
	}
	return rc;
}

static int recorder_fact(struct source *source, const char *key, const json_t **ret)
{
	struct source_recorder *recorder = recorder_of(source);
	struct record record = { .kind = RECORD_FACT, .key = key, .sample = source->sample };
	const json_t *json;
	int rc;

	if (records_find(recorder->records, RECORD_FACT, key, source->sample))
		return records_answer_fact(recorder->records, key, source->sample, ret);
	rc = source_fact(recorder->inner, key, &json);
	if (rc < 0) {
		put_error(recorder, RECORD_FACT, key, source->sample, rc);
		return rc;
	}
	record.json = (json_t *)json;
	records_put(recorder->records, &record);
	return records_answer_fact(recorder->records, key, source->sample, ret);
}

static void recorder_put_fact(struct source *source, const char *key, json_t *fact)
{
	const struct record record = { .kind = RECORD_FACT, .key = key, .sample = source->sample, .json = fact };

	records_put(recorder_of(source)->records, &record);
}

static bool recorder_is_live(const struct source *source)
{
	return source_is_live(((const struct source_recorder *)source)->inner);
}

static void recorder_free(struct source *source)
{
	struct source_recorder *recorder = recorder_of(source);

	source_free(recorder->inner);
	records_free(recorder->asked);
	free(recorder);
}

static const struct source_ops recorder_ops = {
	.read = recorder_read, .link = recorder_link, .list = recorder_list, .nl = recorder_nl, .fact = recorder_fact,
	.put_fact = recorder_put_fact, .is_live = recorder_is_live, .free = recorder_free,
};

struct source *source_recorder_new(struct source *inner, struct records *records)
{
	struct source_recorder *recorder = xcalloc(1, sizeof(*recorder));

	recorder->source.ops = &recorder_ops;
	recorder->source.sample = 1;
	recorder->inner = inner;
	recorder->records = records;
	recorder->asked = records_new();
	return &recorder->source;
}
