// SPDX-License-Identifier: Apache-2.0
/* What the typed readers share: values from paths, links, attributes and JSON, each with its errno and its origin. */
#include "facts/reading.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "core/text.h"

#define ERRNO_END 4096 /* MAX_ERRNO of the kernel, and one */

#define PATH_OF(r, format, path) \
	do { \
		va_list args; \
		va_start(args, format); \
		path = arena_vprintf((r)->arena, format, args); \
		va_end(args); \
	} while (0)

struct text reading_text(struct reading *r, const char *format, ...)
{
	const char *path;

	PATH_OF(r, format, path);
	return source_text(r->source, r->arena, path);
}

struct num reading_num(struct reading *r, const char *format, ...)
{
	const char *path;

	PATH_OF(r, format, path);
	return source_num(r->source, r->arena, path);
}

static struct text link_at(struct reading *r, const char *path)
{
	const char *target;
	int err = source_link(r->source, path, r->arena, &target);

	return err ? text_err(-err, path) : text_of(target, path);
}

struct text reading_link(struct reading *r, const char *format, ...)
{
	const char *path;

	PATH_OF(r, format, path);
	return link_at(r, path);
}

struct text reading_link_name(struct reading *r, const char *format, ...)
{
	const char *path, *slash;
	struct text link;

	PATH_OF(r, format, path);
	link = link_at(r, path);
	if (link.err || !link.val)
		return link;
	slash = strrchr(link.val, '/');
	if (slash)
		link.val = slash + 1;
	return link;
}

struct num reading_counter(struct reading *r, const char *path, int64_t top)
{
	const char *text;
	size_t len;
	int64_t val;
	int err = source_read(r->source, path, r->scratch, &text, &len);

	if (err)
		return num_err(-err, path);
	if (!strncmp(text, "N/A", 3))
		return num_err(EOPNOTSUPP, path);
	if (!text_parse_i64(text, &val) || val < 0)
		return num_err(VALUE_MALFORMED, path);
	if (top && val == top)
		return num_err(VALUE_SATURATED, path);
	return num_of(val, path);
}

/* The message came, the attribute is not in it: this kernel or driver does not offer it. */
static int not_offered(int err)
{
	return err == ENODATA ? EOPNOTSUPP : err;
}

struct num reading_nl_num(struct reading *r, const char *what, const struct nl_object *object, const char *attr)
{
	struct num num = attr_num(object->attrs, attr, arena_printf(r->arena, "%s %s: %s", what, object->key, attr));

	num.err = not_offered(num.err);
	return num;
}

struct text reading_nl_text(struct reading *r, const char *what, const struct nl_object *object, const char *attr)
{
	struct text text = attr_text(object->attrs, attr, arena_printf(r->arena, "%s %s: %s", what, object->key, attr));

	text.err = not_offered(text.err);
	return text;
}

struct num reading_json_num(const json_t *json, int err, const char *member, const char *origin)
{
	const json_t *item;

	if (err)
		return num_err(-err, origin);
	item = json_object_get(json, member);
	if (!item || json_is_null(item))
		return num_err(EOPNOTSUPP, origin);
	if (json_is_boolean(item))
		return num_of(json_is_true(item), origin);
	if (!json_is_integer(item))
		return num_err(VALUE_MALFORMED, origin);
	return num_of(json_integer_value(item), origin);
}

int reading_json_errno(const json_t *json)
{
	const json_t *item = json_object_get(json, "errno");
	json_int_t err = json_integer_value(item);

	if (!item || (json_is_integer(item) && !err))
		return 0;
	return err > 0 && err < ERRNO_END ? (int)err : EIO;
}

struct text reading_json_text(struct reading *r, const json_t *json, int err, const char *member, const char *origin)
{
	const json_t *item;

	if (err)
		return text_err(-err, origin);
	item = json_object_get(json, member);
	if (!item || json_is_null(item))
		return text_err(EOPNOTSUPP, origin);
	if (!json_is_string(item))
		return text_err(VALUE_MALFORMED, origin);
	return text_of(arena_strdup(r->arena, json_string_value(item)), origin);
}

/* Domains have four digits or more (VMD and Hyper-V give 32-bit ones). */
bool is_bdf(const char *text, size_t len)
{
	size_t domain = 0;

	while (domain < len && isxdigit((unsigned char)text[domain]))
		domain++;
	if (domain < 4 || len != domain + 8)
		return false;
	text += domain;
	return text[0] == ':' && isxdigit((unsigned char)text[1]) && isxdigit((unsigned char)text[2]) &&
	       text[3] == ':' && isxdigit((unsigned char)text[4]) && isxdigit((unsigned char)text[5]) &&
	       text[6] == '.' && text[7] >= '0' && text[7] <= '7';
}

/* Length of the run of digits at `text`, leading zeros skipped. */
static size_t digits_at(const char **text)
{
	size_t n = 0;

	while (**text == '0' && isdigit((unsigned char)(*text)[1]))
		(*text)++;
	while (isdigit((unsigned char)(*text)[n]))
		n++;
	return n;
}

int name_compare(const char *a, const char *b)
{
	const char *first_a = a, *first_b = b;

	while (*a && *b) {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			size_t n_a = digits_at(&a), n_b = digits_at(&b);
			int order = n_a != n_b ? (n_a < n_b ? -1 : 1) : strncmp(a, b, n_a);

			if (order)
				return order;
			a += n_a;
			b += n_b;
			continue;
		}
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return tolower((unsigned char)*a) - tolower((unsigned char)*b);
		a++;
		b++;
	}
	if (*a || *b)
		return *a ? 1 : -1;
	return strcmp(first_a, first_b); /* a total order: names that differ never compare equal */
}
