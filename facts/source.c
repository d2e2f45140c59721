// SPDX-License-Identifier: Apache-2.0
/* The door's front: hands each question to the implementation, and reads answers as values. */
#include <errno.h>
#include <string.h>

#include "core/text.h"
#include "facts/source_private.h"

struct source *source_free(struct source *source)
{
	if (source)
		source->ops->free(source);
	return NULL;
}

void source_set_sample(struct source *source, int sample)
{
	source->sample = sample;
}

bool source_is_live(const struct source *source)
{
	return source->ops->is_live(source);
}

int source_read(struct source *source, const char *path, struct arena *arena, const char **ret_text, size_t *ret_len)
{
	return source->ops->read(source, path, arena, ret_text, ret_len);
}

int source_link(struct source *source, const char *path, struct arena *arena, const char **ret_target)
{
	return source->ops->link(source, path, arena, ret_target);
}

int source_list(struct source *source, const char *path, struct arena *arena, const char ***ret_names, size_t *ret_n)
{
	return source->ops->list(source, path, arena, ret_names, ret_n);
}

int source_nl(struct source *source, const char *family, const char *command, const char *dev, struct arena *arena,
	      const struct nl_object **ret_objects, size_t *ret_n)
{
	return source->ops->nl(source, family, command, dev, arena, ret_objects, ret_n);
}

int source_fact(struct source *source, const char *key, const json_t **ret)
{
	return source->ops->fact(source, key, ret);
}

void source_put_fact(struct source *source, const char *key, json_t *fact)
{
	if (source->ops->put_fact)
		source->ops->put_fact(source, key, fact);
}

struct text source_text(struct source *source, struct arena *arena, const char *path)
{
	const char *origin = arena_strdup(arena, path);
	const char *text;
	size_t len;
	int rc = source_read(source, path, arena, &text, &len);

	if (rc < 0)
		return text_err(-rc, origin);
	if (memchr(text, '\0', len))
		return text_err(VALUE_MALFORMED, origin);
	if (len > 0 && text[len - 1] == '\n')
		len--;
	return text_of(arena_strndup(arena, text, len), origin);
}

struct num source_num(struct source *source, struct arena *arena, const char *path)
{
	struct text text = source_text(source, arena, path);
	int64_t num;

	if (text.err)
		return num_err(text.err, text.origin);
	if (!text_parse_i64(text.val, &num))
		return num_err(VALUE_MALFORMED, text.origin);
	return num_of(num, text.origin);
}
