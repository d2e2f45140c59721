// SPDX-License-Identifier: Apache-2.0
/* Netlink attributes: from the wire into a tree, from the tree into lines of text, and from the text back. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "facts/attr.h"
#include "facts/attr_table.h"

/* A sibling list under construction. */
struct chain {
	struct attr *first;
	struct attr *last;
};

static struct attr *chain_add(struct chain *chain, struct arena *arena, const char *name, enum attr_type type)
{
	struct attr *attr = arena_alloc(arena, sizeof(*attr));

	attr->name = name;
	attr->type = type;
	if (chain->last)
		chain->last->next = attr;
	else
		chain->first = attr;
	chain->last = attr;
	return attr;
}

static const struct attr *find_step(const struct attr *attrs, const char *name, size_t len)
{
	for (; attrs; attrs = attrs->next)
		if (strncmp(attrs->name, name, len) == 0 && attrs->name[len] == '\0')
			return attrs;
	return NULL;
}

const struct attr *attr_find(const struct attr *attrs, const char *path)
{
	for (;;) {
		size_t len = strcspn(path, "/");
		const struct attr *found = find_step(attrs, path, len);

		if (!found || path[len] == '\0')
			return found;
		attrs = found->child;
		path += len + 1;
	}
}

static bool type_is_number(enum attr_type type)
{
	return type == ATTR_FLAG || type == ATTR_UINT || type == ATTR_SINT || type == ATTR_HEX || type == ATTR_BE16;
}

static bool type_is_nest(enum attr_type type)
{
	return type == ATTR_NEST || type == ATTR_LIST;
}

struct num attr_num(const struct attr *attrs, const char *path, const char *origin)
{
	const struct attr *attr = attr_find(attrs, path);

	if (!attr)
		return num_err(ENODATA, origin);
	if (!type_is_number(attr->type))
		return num_err(VALUE_MALFORMED, origin);
	return num_of((int64_t)attr->num, origin);
}

struct text attr_text(const struct attr *attrs, const char *path, const char *origin)
{
	const struct attr *attr = attr_find(attrs, path);

	if (!attr)
		return text_err(ENODATA, origin);
	if (type_is_nest(attr->type) || !attr->text)
		return text_err(VALUE_MALFORMED, origin);
	return text_of(attr->text, origin);
}

static const struct attr_def *def_by_number(const struct attr_table *table, unsigned number)
{
	for (size_t i = 0; table && i < table->n_defs; i++)
		if (table->defs[i].number == number)
			return &table->defs[i];
	return NULL;
}

static const struct attr_def *def_by_name(const struct attr_table *table, const char *name)
{
	for (size_t i = 0; table && i < table->n_defs; i++)
		if (!table->defs[i].left_out && strcmp(table->defs[i].name, name) == 0)
			return &table->defs[i];
	return NULL;
}

static const struct attr_field *field_by_name(const struct attr_table *table, const char *name)
{
	for (size_t i = 0; table && i < table->n_fields; i++)
		if (strcmp(table->fields[i].name, name) == 0)
			return &table->fields[i];
	return NULL;
}

/* The members' table of a nest, which may depend on a sibling that came before it. NULL: nothing in there is known. */
static const struct attr_table *nest_table(const struct attr_def *def, const struct attr *siblings)
{
	const struct attr *kind;

	if (!def->kinds)
		return def->table;
	kind = attr_find(siblings, def->kind_of);
	if (!kind || !kind->text)
		return NULL;
	for (const struct attr_kind *k = def->kinds; k->kind; k++)
		if (strcmp(k->kind, kind->text) == 0)
			return k->table;
	return NULL;
}

static const char *hex_of(struct arena *arena, const uint8_t *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *text = arena_alloc(arena, 2 * len + 1);

	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digits[data[i] >> 4];
		text[2 * i + 1] = digits[data[i] & 15];
	}
	return text;
}

static const char *mac_of(struct arena *arena, const uint8_t *data, size_t len)
{
	char *text = arena_alloc(arena, 3 * len + 1);

	for (size_t i = 0; i < len; i++)
		snprintf(text + 3 * i, 4, i + 1 < len ? "%02x:" : "%02x", data[i]);
	return text;
}

static void number_set(struct attr *attr, uint64_t num, struct arena *arena)
{
	attr->num = num;
	if (attr->type == ATTR_FLAG)
		attr->text = "1";
	else if (attr->type == ATTR_SINT)
		attr->text = arena_printf(arena, "%" PRId64, (int64_t)num);
	else if (attr->type == ATTR_UINT)
		attr->text = arena_printf(arena, "%" PRIu64, num);
	else
		attr->text = arena_printf(arena, "0x%" PRIx64, num);
}

/* A number of 1, 2, 4 or 8 bytes in host order; false for any other length. */
static bool number_load(const uint8_t *data, size_t len, bool is_signed, uint64_t *ret)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	switch (len) {
	case 1:
		memcpy(&u8, data, len);
		*ret = is_signed ? (uint64_t)(int8_t)u8 : u8;
		return true;
	case 2:
		memcpy(&u16, data, len);
		*ret = is_signed ? (uint64_t)(int16_t)u16 : u16;
		return true;
	case 4:
		memcpy(&u32, data, len);
		*ret = is_signed ? (uint64_t)(int32_t)u32 : u32;
		return true;
	case 8:
		memcpy(&u64, data, len);
		*ret = u64;
		return true;
	default:
		return false;
	}
}

static bool decode_ip(struct attr *attr, const uint8_t *data, size_t len, struct arena *arena)
{
	char text[INET6_ADDRSTRLEN];

	if (len != 4 && len != 16)
		return false;
	if (!inet_ntop(len == 4 ? AF_INET : AF_INET6, data, text, sizeof(text)))
		return false;
	attr->text = arena_strdup(arena, text);
	return true;
}

static bool decode_number(struct attr *attr, const uint8_t *data, size_t len, struct arena *arena)
{
	uint64_t num;

	if (attr->type == ATTR_BE16) {
		if (len != 2)
			return false;
		num = (uint64_t)data[0] << 8 | data[1];
	} else if (!number_load(data, len, attr->type == ATTR_SINT, &num)) {
		return false;
	}
	number_set(attr, num, arena);
	return true;
}

/* Fills a leaf of the type that attr->type says; false if the payload is not of that type. */
static bool decode_leaf(struct attr *attr, const uint8_t *data, size_t len, struct arena *arena)
{
	switch (attr->type) {
	case ATTR_FLAG:
		number_set(attr, 1, arena);
		return true;
	case ATTR_STRING:
		attr->text = arena_strndup(arena, (const char *)data, len);
		return true;
	case ATTR_IP:
		return decode_ip(attr, data, len, arena);
	case ATTR_MAC:
		attr->text = mac_of(arena, data, len);
		return true;
	case ATTR_BYTES:
		attr->text = hex_of(arena, data, len);
		return true;
	default:
		return decode_number(attr, data, len, arena);
	}
}

static int decode_members(const struct attr_table *table, bool is_list, const uint8_t *data, size_t len, int depth,
			  struct arena *arena, struct chain *chain);

static bool decode_nest(struct attr *attr, const struct attr_table *table, const uint8_t *data, size_t len, int depth,
			struct arena *arena)
{
	struct chain members = { 0 };

	if (depth >= ATTR_DEPTH_MAX)
		return false;
	if (decode_members(table, attr->type == ATTR_LIST, data, len, depth + 1, arena, &members) < 0)
		return false;
	attr->child = members.first;
	return true;
}

static void decode_one(const struct attr_def *def, const char *name, unsigned number, const uint8_t *data, size_t len,
		       int depth, struct arena *arena, struct chain *chain)
{
	const struct attr *siblings = chain->first;
	struct attr *attr;
	bool fits = false;

	attr = chain_add(chain, arena, name, def ? def->type : ATTR_BYTES);
	if (def && type_is_nest(def->type))
		fits = decode_nest(attr, nest_table(def, siblings), data, len, depth, arena);
	else if (def)
		fits = decode_leaf(attr, data, len, arena);
	if (fits)
		return;
	/* Not known, or not what the table promised: one odd attribute must not cost the whole message. */
	attr->name = arena_printf(arena, "#%u", number);
	attr->type = ATTR_BYTES;
	decode_leaf(attr, data, len, arena);
}

static int decode_members(const struct attr_table *table, bool is_list, const uint8_t *data, size_t len, int depth,
			  struct arena *arena, struct chain *chain)
{
	const uint8_t *end = data + len;
	unsigned position = 0;

	while ((size_t)(end - data) >= NLA_HDRLEN) {
		struct nlattr nla;
		const struct attr_def *def;
		const char *name;
		size_t step;
		unsigned number;

		memcpy(&nla, data, sizeof(nla));
		if (nla.nla_len < NLA_HDRLEN || nla.nla_len > (size_t)(end - data))
			return -EBADMSG;
		number = nla.nla_type & NLA_TYPE_MASK;
		def = is_list ? table->defs : def_by_number(table, number);
		name = is_list ? arena_printf(arena, "%u", position++) : def ? def->name : NULL;
		if (!def || !def->left_out)
			decode_one(def, name, number, data + NLA_HDRLEN, nla.nla_len - NLA_HDRLEN, depth, arena, chain);
		step = NLA_ALIGN(nla.nla_len);
		data += step < (size_t)(end - data) ? step : (size_t)(end - data);
	}
	return 0;
}

int attr_decode(const struct attr_table *table, const void *data, size_t len, struct arena *arena,
		const struct attr **ret_attrs)
{
	struct chain chain = { 0 };
	const uint8_t *bytes = data;
	int rc;

	if (len < table->header_len)
		return -EBADMSG;
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct attr_field *field = &table->fields[i];
		uint64_t num;

		if (!number_load(bytes + field->offset, field->size, field->type == ATTR_SINT, &num))
			return -EINVAL;
		if (num || !field->zero_is_absent)
			number_set(chain_add(&chain, arena, field->name, field->type), num, arena);
	}
	rc = decode_members(table, false, bytes + table->header_len, len - table->header_len, 0, arena, &chain);
	if (rc < 0)
		return rc;
	*ret_attrs = chain.first;
	return 0;
}

/* Text that may stand bare behind the name: printable ASCII that could not be taken for anything else. */
static bool text_is_bare(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || text[0] == ' ' || text[len - 1] == ' ' || text[0] == '"' || strcmp(text, "-") == 0)
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] > 0x7e)
			return false;
	return true;
}

static void write_text(const char *text, struct buf *out)
{
	if (text_is_bare(text)) {
		buf_adds(out, text);
		return;
	}
	buf_addc(out, '"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			buf_addf(out, "\\%c", *c);
		else if (*c < 0x20 || *c > 0x7e)
			buf_addf(out, "\\x%02x", *c);
		else
			buf_addc(out, (char)*c);
	}
	buf_addc(out, '"');
}

void attr_write(const struct attr *attrs, int indent, struct buf *out)
{
	for (; attrs; attrs = attrs->next) {
		buf_addf(out, "%*s%s", 2 * indent, "", attrs->name);
		if (!type_is_nest(attrs->type) && attrs->type != ATTR_FLAG) {
			buf_addc(out, ' ');
			write_text(attrs->text ? attrs->text : "", out);
		}
		buf_addc(out, '\n');
		if (attrs->child)
			attr_write(attrs->child, indent + 1, out);
	}
}

struct line {
	unsigned indent; /* blanks in front */
	const char *name;
	const char *value; /* NULL: none */
};

struct reader {
	const char *pos, *end;
	size_t line_no;
	struct arena *arena;
	struct fault *reterr;
	bool allow_remove;
	bool held; /* `line` was looked at and not used yet */
	struct line line;
};

/* Empty lines and comments. "#18 00ff" is no comment but an attribute without a name. */
static bool line_is_skipped(const char *line, size_t len)
{
	return len == 0 || (line[0] == '#' && (len == 1 || !isdigit((unsigned char)line[1])));
}

/* Looks at the next line; false at the end. */
static bool reader_peek(struct reader *r)
{
	while (!r->held && r->pos < r->end) {
		const char *start = r->pos;
		const char *stop = memchr(start, '\n', (size_t)(r->end - start));
		size_t len, blanks, name_len;

		len = (size_t)((stop ? stop : r->end) - start);
		r->pos = stop ? stop + 1 : r->end;
		r->line_no++;
		if (line_is_skipped(start, len))
			continue;
		for (blanks = 0; blanks < len && start[blanks] == ' '; blanks++)
			;
		start += blanks;
		len -= blanks;
		for (name_len = 0; name_len < len && start[name_len] != ' '; name_len++)
			;
		r->line.indent = (unsigned)blanks;
		r->line.name = arena_strndup(r->arena, start, name_len);
		r->line.value = name_len < len ? arena_strndup(r->arena, start + name_len + 1, len - name_len - 1) : NULL;
		r->held = true;
	}
	return r->held;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The inside of a quoted text; NULL if it is not well formed. */
static char *unquote(const char *value, struct arena *arena)
{
	char *text = arena_alloc(arena, strlen(value) + 1);
	size_t len = 0;

	for (value++; *value && *value != '"'; value++) {
		if (*value != '\\') {
			text[len++] = *value;
		} else if (value[1] == '"' || value[1] == '\\') {
			text[len++] = *++value;
		} else if (value[1] == 'x' && hex_digit(value[2]) >= 0 && hex_digit(value[3]) >= 0) {
			text[len++] = (char)(hex_digit(value[2]) << 4 | hex_digit(value[3]));
			if (text[len - 1] == '\0')
				return NULL;
			value += 3;
		} else {
			return NULL;
		}
	}
	return value[0] == '"' && value[1] == '\0' ? text : NULL;
}

static bool is_hex_text(const char *text, bool with_colons)
{
	size_t i = 0;

	while (text[i]) {
		if (with_colons && i > 0 && text[i++] != ':')
			return false;
		if (hex_digit(text[i]) < 0 || hex_digit(text[i + 1]) < 0)
			return false;
		i += 2;
	}
	return true;
}

static bool parse_number(struct attr *attr, const char *value, struct arena *arena)
{
	uint64_t num;
	int64_t snum;

	if (attr->type == ATTR_SINT) {
		if (!text_parse_i64(value, &snum))
			return false;
		num = (uint64_t)snum;
	} else if (!text_parse_u64(value, &num) || (attr->type == ATTR_BE16 && num > UINT16_MAX)) {
		return false;
	}
	number_set(attr, num, arena);
	return true;
}

static bool parse_ip(struct attr *attr, const char *value, struct arena *arena)
{
	uint8_t raw[16];
	bool is_v6 = strchr(value, ':') != NULL;

	return inet_pton(is_v6 ? AF_INET6 : AF_INET, value, raw) == 1 && decode_ip(attr, raw, is_v6 ? 16 : 4, arena);
}

static bool parse_leaf(struct attr *attr, const char *value, struct arena *arena)
{
	if (attr->type == ATTR_FLAG) {
		number_set(attr, 1, arena);
		return value == NULL;
	}
	if (!value || strcmp(value, "-") == 0)
		return false;
	if (value[0] == '"') {
		value = unquote(value, arena);
		if (!value)
			return false;
	}
	switch (attr->type) {
	case ATTR_STRING:
		attr->text = value;
		return true;
	case ATTR_IP:
		return parse_ip(attr, value, arena);
	case ATTR_MAC:
	case ATTR_BYTES:
		attr->text = value;
		return is_hex_text(value, attr->type == ATTR_MAC);
	default:
		return parse_number(attr, value, arena);
	}
}

static bool is_unknown_name(const char *name)
{
	uint64_t number;

	return name[0] == '#' && isdigit((unsigned char)name[1]) && text_parse_u64(name + 1, &number) &&
	       number <= (uint16_t)NLA_TYPE_MASK;
}

static bool is_list_name(const char *name)
{
	return name[0] && strlen(name) < 8 && strspn(name, "0123456789") == strlen(name);
}

/* What a line's name stands for: its type, and its row where that is a nest. */
static bool line_type(const struct attr_table *table, bool is_list, const char *name, enum attr_type *ret_type,
		      const struct attr_def **ret_def)
{
	const struct attr_def *def = is_list && is_list_name(name) ? table->defs : NULL;
	const struct attr_field *field = NULL;

	if (!is_list) {
		def = def_by_name(table, name);
		field = field_by_name(table, name);
	}
	*ret_def = def;
	if (def)
		*ret_type = def->type;
	else if (field)
		*ret_type = field->type;
	else
		*ret_type = ATTR_BYTES;
	return def || field || is_unknown_name(name);
}

static int parse_members(struct reader *r, const struct attr_table *table, bool is_list, unsigned indent, int depth,
			 struct chain *chain);

static int parse_nest(struct reader *r, const struct attr_def *def, struct attr *attr, const struct attr *siblings,
		      unsigned indent, int depth)
{
	struct chain members = { 0 };
	int rc;

	if (r->line.value)
		return fault_set(r->reterr, EBADMSG, "%s has members on lines of their own, and no value", attr->name);
	if (depth >= ATTR_DEPTH_MAX)
		return fault_set(r->reterr, EBADMSG, "attributes are nested deeper than %d", ATTR_DEPTH_MAX);
	rc = parse_members(r, nest_table(def, siblings), attr->type == ATTR_LIST, indent + 2, depth + 1, &members);
	attr->child = members.first;
	return rc;
}

static int parse_one(struct reader *r, const struct attr_table *table, bool is_list, unsigned indent, int depth,
		     unsigned position, struct chain *chain)
{
	const struct attr *siblings = chain->first;
	const struct attr_def *def;
	enum attr_type type;
	struct attr *attr;
	struct line line = r->line;

	if (!line_type(table, is_list, line.name, &type, &def))
		return fault_set(r->reterr, EBADMSG, "unknown attribute '%.64s'", line.name);
	attr = chain_add(chain, r->arena, line.name, type);
	if (is_list && def)
		attr->name = arena_printf(r->arena, "%u", position);
	r->held = false;
	if (r->allow_remove && depth == 0 && line.value && strcmp(line.value, "-") == 0) {
		attr->type = ATTR_BYTES; /* and no text: attr_is_removal() */
		return 0;
	}
	if (type_is_nest(type))
		return parse_nest(r, def, attr, siblings, indent, depth);
	if (!parse_leaf(attr, line.value, r->arena))
		return fault_set(r->reterr, EBADMSG, "'%.64s' is no value for attribute %s",
				 line.value ? line.value : "", attr->name);
	return 0;
}

static int parse_members(struct reader *r, const struct attr_table *table, bool is_list, unsigned indent, int depth,
			 struct chain *chain)
{
	unsigned position = 0;

	while (reader_peek(r) && r->line.indent >= indent) {
		int rc;

		if (r->line.indent > indent)
			return fault_set(r->reterr, EBADMSG, "'%.64s' is indented by %u blanks, not by %u", r->line.name,
					 r->line.indent, indent);
		rc = parse_one(r, table, is_list, indent, depth, position++, chain);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int attr_parse_lines(const struct attr_table *table, const char *text, size_t len, bool allow_remove,
		     struct arena *arena, const struct attr **ret_attrs, size_t *ret_line, struct fault *reterr)
{
	struct reader r = {
		.pos = text, .end = text + len, .arena = arena, .reterr = reterr, .allow_remove = allow_remove,
	};
	struct chain chain = { 0 };
	int rc = 0;

	if (reader_peek(&r)) {
		unsigned indent = r.line.indent;

		rc = parse_members(&r, table, false, indent, 0, &chain);
		if (rc == 0 && reader_peek(&r))
			rc = fault_set(reterr, EBADMSG, "'%.64s' is indented by %u blanks, not by %u", r.line.name,
				       r.line.indent, indent);
	}
	*ret_line = r.line_no;
	if (rc < 0)
		return rc;
	*ret_attrs = chain.first;
	return 0;
}

int attr_parse(const struct attr_table *table, const char *text, size_t len, struct arena *arena,
	       const struct attr **ret_attrs, struct fault *reterr)
{
	struct fault fault = { 0 };
	size_t line;
	int rc;

	rc = attr_parse_lines(table, text, len, false, arena, ret_attrs, &line, &fault);
	if (rc < 0) {
		fault_prefix(&fault, "line %zu", line);
		if (reterr)
			*reterr = fault;
	}
	return rc;
}

bool attr_is_removal(const struct attr *attr)
{
	return attr->type == ATTR_BYTES && !attr->text;
}

static void chain_add_copy(struct chain *chain, const struct attr *attr, struct arena *arena)
{
	struct attr *copy = chain_add(chain, arena, attr->name, attr->type);

	copy->num = attr->num;
	copy->text = attr->text;
	copy->child = attr->child;
}

static void merge_named(struct chain *chain, const struct attr *change, const char *name, struct arena *arena)
{
	for (; change; change = change->next)
		if (!attr_is_removal(change) && strcmp(change->name, name) == 0)
			chain_add_copy(chain, change, arena);
}

const struct attr *attr_merge(const struct attr *base, const struct attr *change, struct arena *arena)
{
	struct chain chain = { 0 };

	for (const struct attr *attr = base; attr; attr = attr->next) {
		if (!attr_find(change, attr->name))
			chain_add_copy(&chain, attr, arena);
		else if (!attr_find(chain.first, attr->name))
			merge_named(&chain, change, attr->name, arena);
	}
	for (const struct attr *attr = change; attr; attr = attr->next)
		if (!attr_is_removal(attr) && !attr_find(base, attr->name))
			chain_add_copy(&chain, attr, arena);
	return chain.first;
}

const struct attr *attr_copy(const struct attr *attrs, struct arena *arena)
{
	struct chain chain = { 0 };

	for (; attrs; attrs = attrs->next) {
		struct attr *copy = chain_add(&chain, arena, arena_strdup(arena, attrs->name), attrs->type);

		copy->num = attrs->num;
		copy->text = attrs->text ? arena_strdup(arena, attrs->text) : NULL;
		copy->child = attr_copy(attrs->child, arena);
	}
	return chain.first;
}

const struct attr *attr_prepend_text(const struct attr *attrs, const char *name, const char *text, struct arena *arena)
{
	struct attr *attr = arena_alloc(arena, sizeof(*attr));

	attr->name = arena_strdup(arena, name);
	attr->type = ATTR_STRING;
	attr->text = arena_strdup(arena, text);
	attr->next = attrs;
	return attr;
}
