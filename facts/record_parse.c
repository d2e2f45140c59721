// SPDX-License-Identifier: Apache-2.0
/*
 * The text form (docs/SNAPSHOT.md) into records. The text may come from a stranger: every limit is checked before memory is
 * taken, and every complaint names the text and the line.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/text.h"
#include "core/value.h"
#include "facts/attr_table.h"
#include "facts/record_private.h"
#include "facts/record_text.h"

#define BASE_DEPTH_MAX 8

struct parser {
	struct records *records;
	const char *name; /* of the text, for messages */
	const struct parser *outer; /* the text whose base this is */
	int depth;
	record_base_fn *load_base;
	void *ctx;
	struct fault *reterr;
	const char *pos, *end;
	size_t line_no;
	const char *line; /* the current one, NUL-terminated in `scratch` */
	struct buf scratch;
	bool has_base, has_records;
	int sample; /* of the record being read */
	struct record_header headers[RECORD_HEADERS_MAX]; /* this text's own, which go before those of its base */
	size_t n_headers;
};

__attribute__((format(printf, 3, 4))) static int fail(struct parser *p, int err, const char *format, ...)
{
	struct fault fault = { 0 };
	char msg[400];
	va_list args;

	va_start(args, format);
	vsnprintf(msg, sizeof(msg), format, args);
	va_end(args);
	fault_set(&fault, err, "%s:%zu: %s", p->name, p->line_no, msg);
	if (p->reterr)
		*p->reterr = fault;
	return -err;
}

/* Length of the valid UTF-8 sequence at `s`, which is no C1 control and no surrogate; 0 if there is none. */
static size_t utf8_length(const unsigned char *s, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	size_t n = s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	uint32_t c;

	if (n == 0 || n > len || s[0] >= 0xf5)
		return 0;
	c = s[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

bool record_is_line(const char *line, size_t len)
{
	const unsigned char *s = (const unsigned char *)line;

	for (size_t i = 0; i < len;) {
		size_t step = 1;

		if (s[i] >= 0x80)
			step = utf8_length(s + i, len - i);
		else if ((s[i] < 0x20 && s[i] != '\t') || s[i] == 0x7f)
			step = 0;
		if (step == 0)
			return false;
		i += step;
	}
	return true;
}

bool record_is_text(const char *text, size_t len)
{
	while (len > 0) {
		const char *stop = memchr(text, '\n', len);
		size_t line_len = stop ? (size_t)(stop - text) : len;

		if (line_len > RECORD_CONTENT_LINE_MAX || !record_is_line(text, line_len))
			return false;
		line_len += stop != NULL;
		text += line_len;
		len -= line_len;
	}
	return true;
}

/* The line that comes next, without consuming it; NULL at the end of the text. */
static const char *peek_line(const struct parser *p, size_t *ret_len)
{
	const char *stop;

	if (p->pos == p->end)
		return NULL;
	stop = memchr(p->pos, '\n', (size_t)(p->end - p->pos));
	*ret_len = (size_t)((stop ? stop : p->end) - p->pos);
	return p->pos;
}

/* Makes the next line the current one: 1, or 0 at the end of the text. */
static int next_line(struct parser *p)
{
	size_t len;
	const char *line = peek_line(p, &len);

	if (!line)
		return 0;
	p->line_no++;
	if (len > RECORD_LINE_MAX)
		return fail(p, E2BIG, "line is longer than %u bytes", RECORD_LINE_MAX);
	if (!record_is_line(line, len))
		return fail(p, EBADMSG, "control character or invalid UTF-8; is this a snapshot?");
	p->pos = line + len < p->end ? line + len + 1 : p->end;
	buf_clear(&p->scratch);
	buf_add(&p->scratch, line, len);
	p->line = buf_str(&p->scratch);
	return 1;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static int hex_byte(const char *digits)
{
	int high = hex_value(digits[0]), low = high < 0 ? -1 : hex_value(digits[1]);

	return low < 0 ? -1 : high << 4 | low;
}

/* Undoes record_write_key into memory of the records; NULL after a complaint. */
static char *unescape(struct parser *p, const char *text, size_t len)
{
	char *out = arena_alloc(p->records->arena, len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int byte;

		if (text[i] != '\\') {
			out[n++] = text[i];
			continue;
		}
		byte = len - i >= 4 && text[i + 1] == 'x' ? hex_byte(text + i + 2) : -1;
		if (byte <= 0) {
			fail(p, EBADMSG, "'\\' must be followed by x and two hex digits, not 00");
			return NULL;
		}
		out[n++] = (char)byte;
		i += 3;
	}
	return out;
}

static int check_key_length(struct parser *p, size_t len)
{
	return len > RECORD_KEY_MAX ? fail(p, E2BIG, "a path or key is longer than %u bytes", RECORD_KEY_MAX) : 0;
}

static int check_path(struct parser *p, const char *path)
{
	unsigned depth = 0;

	if (path[0] != '/')
		return fail(p, EBADMSG, "'%.64s' is no absolute path", path);
	if (path[1] == '\0')
		return 0;
	for (const char *part = path; *part; depth++) {
		size_t len = strcspn(++part, "/");

		if (len == 0 || len > 255 || (len == 1 && part[0] == '.') || (len == 2 && strncmp(part, "..", 2) == 0))
			return fail(p, EBADMSG, "path has an empty, too long, '.' or '..' component");
		part += len;
	}
	if (depth > RECORD_PATH_DEPTH_MAX)
		return fail(p, E2BIG, "path has more than %u components", RECORD_PATH_DEPTH_MAX);
	return 0;
}

/* One path, or the siblings DIR/{first..last}. */
struct path_range {
	char *path; /* with a range: up to and with the last "/" */
	bool is_range;
	uint64_t first, last;
};

static int parse_range(struct parser *p, const char *text, size_t len, struct path_range *ret)
{
	char numbers[32], *dots;

	if (len < 6 || len >= sizeof(numbers) || text[len - 1] != '}')
		return fail(p, EBADMSG, "a range is the whole last part of a path, as in /dir/{0..7}");
	memcpy(numbers, text + 1, len - 2);
	numbers[len - 2] = '\0';
	dots = strstr(numbers, "..");
	if (!dots || !isdigit((unsigned char)dots[2]))
		return fail(p, EBADMSG, "a range has the form {FIRST..LAST}");
	*dots = '\0';
	if (strspn(numbers, "0123456789") != strlen(numbers) || strspn(dots + 2, "0123456789") != strlen(dots + 2) ||
	    !text_parse_u64(numbers, &ret->first) || !text_parse_u64(dots + 2, &ret->last) || ret->last < ret->first)
		return fail(p, EBADMSG, "a range has the form {FIRST..LAST}, with LAST not below FIRST");
	if (ret->last > 999999999)
		return fail(p, E2BIG, "a range ends at 999999999 at most");
	if (ret->last - ret->first >= RECORD_RANGE_MAX)
		return fail(p, E2BIG, "a range has at most %u members", RECORD_RANGE_MAX);
	ret->is_range = true;
	return 0;
}

static int parse_path(struct parser *p, const char *text, size_t len, struct path_range *ret)
{
	const char *brace = memchr(text, '{', len);
	size_t path_len = brace ? (size_t)(brace - text) : len;
	int rc = check_key_length(p, len);

	if (rc < 0)
		return rc;
	if (len == 0 || memchr(text, ' ', len) || memchr(text, '\t', len))
		return fail(p, EBADMSG, "expected one path (a blank in it is written \\x20)");
	if (brace) {
		if (path_len == 0 || text[path_len - 1] != '/')
			return fail(p, EBADMSG, "a range is the whole last part of a path, as in /dir/{0..7}");
		rc = parse_range(p, brace, len - path_len, ret);
		if (rc < 0)
			return rc;
	}
	ret->path = unescape(p, text, path_len);
	if (!ret->path)
		return -EBADMSG;
	/* "/dir/" of a range is checked as the "/dir/0" that it stands for. */
	return check_path(p, brace ? arena_printf(p->records->arena, "%s0", ret->path) : ret->path);
}

static int no_room(struct parser *p)
{
	return fail(p, E2BIG, "too many records (at most %u, and %u MiB)", SNAPSHOT_RECORDS_MAX,
		    RECORDS_MEMORY_MAX >> 20);
}

static int adopt(struct parser *p, struct record *record)
{
	record->sample = p->sample;
	return records_adopt(p->records, record) ? 0 : no_room(p);
}

/* Puts `record` at every path of the range; they share the content. */
static int adopt_paths(struct parser *p, const struct path_range *range, struct record *record)
{
	if (!range->is_range) {
		record->key = range->path;
		return adopt(p, record);
	}
	if (!records_have_room(p->records, (size_t)(range->last - range->first + 1), strlen(range->path) + 10))
		return no_room(p);
	for (uint64_t i = range->first; i <= range->last; i++) {
		int rc;

		record->key = arena_printf(p->records->arena, "%s%u", range->path, (unsigned)i);
		rc = adopt(p, record);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_hex(struct parser *p, struct buf *content, const char *digits)
{
	size_t len = strlen(digits);

	if (len == 0 || len % 2)
		return fail(p, EBADMSG, "x is followed by an even number of hex digits");
	for (size_t i = 0; i < len; i += 2) {
		int byte = hex_byte(digits + i);

		if (byte < 0)
			return fail(p, EBADMSG, "x is followed by hex digits in lower case");
		buf_addc(content, (char)byte);
	}
	return 0;
}

/* One line of content, by its first character: '|' text, 'x' hex, '\' no newline at the end. */
static int add_content(struct parser *p, struct buf *content, char first)
{
	char kind = p->line[0];

	if (first && first != kind && !(first == '|' && kind == '\\'))
		return fail(p, EBADMSG, "a file's content is either text or hex");
	if (kind == 'x')
		return add_hex(p, content, p->line + 2);
	if (kind == '\\') {
		if (p->line[1] || content->len < 2 || content->data[content->len - 2] == '\n')
			return fail(p, EBADMSG, "'\\' stands alone, after a line of text that is not empty");
		content->data[--content->len] = '\0';
		return 0;
	}
	if (p->line[1] != ' ' && p->line[1] != '\0')
		return fail(p, EBADMSG, "'|' must be followed by a blank");
	if (p->line[1])
		buf_adds(content, p->line + 2);
	buf_addc(content, '\n');
	return 0;
}

static bool is_content(const char *line, size_t len)
{
	return len > 0 && (line[0] == '|' || line[0] == '\\' || (line[0] == 'x' && len > 1 && line[1] == ' '));
}

static int parse_content(struct parser *p, struct record *record)
{
	struct buf content cleanup_buf = BUF_INIT_MAX(RECORD_TEXT_MAX);
	const char *line;
	char first = '\0', last = '\0', *text;
	size_t len;

	while ((line = peek_line(p, &len)) && (is_content(line, len) || (len > 0 && line[0] == '#'))) {
		int rc = next_line(p);

		if (rc < 0)
			return rc;
		if (p->line[0] == '#')
			continue;
		if (last == '\\')
			return fail(p, EBADMSG, "nothing can follow '\\'");
		last = p->line[0];
		rc = add_content(p, &content, first);
		if (rc < 0)
			return rc;
		if (!first)
			first = last;
	}
	if (content.truncated)
		return fail(p, E2BIG, "content is longer than %u bytes", RECORD_TEXT_MAX);
	text = arena_alloc(p->records->arena, content.len + 1);
	if (content.len)
		memcpy(text, content.data, content.len);
	record->text = text;
	record->text_len = content.len;
	return 0;
}

static int parse_file(struct parser *p, const char *rest)
{
	struct record record = { .kind = RECORD_FILE };
	struct path_range range = { 0 };
	int rc = parse_path(p, rest, strlen(rest), &range);

	if (rc == 0)
		rc = parse_content(p, &record);
	return rc < 0 ? rc : adopt_paths(p, &range, &record);
}

static int parse_dir(struct parser *p, const char *rest)
{
	struct record record = { .kind = RECORD_DIR };
	struct path_range range = { 0 };
	int rc = parse_path(p, rest, strlen(rest), &range);

	return rc < 0 ? rc : adopt_paths(p, &range, &record);
}

static int parse_link(struct parser *p, const char *rest)
{
	struct record record = { .kind = RECORD_LINK };
	struct path_range range = { 0 };
	const char *arrow = strstr(rest, " -> ");
	int rc;

	if (!arrow)
		return fail(p, EBADMSG, "a link has the form PATH -> TARGET");
	rc = parse_path(p, rest, (size_t)(arrow - rest), &range);
	if (rc < 0)
		return rc;
	if (range.is_range)
		return fail(p, EBADMSG, "links have no ranges");
	rc = check_key_length(p, strlen(arrow + 4));
	if (rc < 0)
		return rc;
	if (arrow[4] == '\0' || strchr(arrow + 4, ' '))
		return fail(p, EBADMSG, "expected one target (a blank in it is written \\x20)");
	record.text = unescape(p, arrow + 4, strlen(arrow + 4));
	if (!record.text)
		return -EBADMSG;
	record.text_len = strlen(record.text);
	return adopt_paths(p, &range, &record);
}

/* The key of an nl record: at least FAMILY and COMMAND, which must be known; *ret_table is theirs. */
static int parse_nl_key(struct parser *p, const char *text, size_t len, const char **ret_key,
			const struct attr_table **ret_table)
{
	char family[16] = "", command[32] = "";
	size_t family_len = strcspn(text, " "), command_len;
	int rc = check_key_length(p, len);

	if (rc < 0)
		return rc;
	if (family_len >= len || memchr(text, '\t', len) || text[len - 1] == ' ')
		return fail(p, EBADMSG, "expected FAMILY COMMAND [KEY]");
	command_len = strcspn(text + family_len + 1, " ");
	if (family_len + 1 + command_len > len)
		command_len = len - family_len - 1;
	if (family_len < sizeof(family) && command_len < sizeof(command)) {
		memcpy(family, text, family_len);
		memcpy(command, text + family_len + 1, command_len);
	}
	*ret_table = attr_table_find(family, command);
	if (!*ret_table)
		return fail(p, EBADMSG, "unknown netlink family and command '%.64s'", text);
	*ret_key = unescape(p, text, len);
	return *ret_key ? 0 : -EBADMSG;
}

/* Steps over the lines that belong to an nl record and returns where they end. */
static int skip_attr_lines(struct parser *p, const char **ret_end)
{
	const char *start = p->pos, *line;
	size_t len;

	while ((line = peek_line(p, &len)) && (len == 0 || line[0] == ' ' || line[0] == '#')) {
		int rc = next_line(p);

		if (rc < 0)
			return rc;
		if ((size_t)(p->pos - start) > RECORD_TEXT_MAX)
			return fail(p, E2BIG, "attributes are longer than %u bytes", RECORD_TEXT_MAX);
	}
	*ret_end = p->pos;
	return 0;
}

static int parse_nl(struct parser *p, const char *rest)
{
	struct record record = { .kind = RECORD_NL };
	const struct attr_table *table = NULL;
	const struct record *base;
	struct fault fault = { 0 };
	const char *start = p->pos, *end = start;
	size_t first_line, line;
	int rc = parse_nl_key(p, rest, strlen(rest), &record.key, &table);

	if (rc < 0)
		return rc;
	first_line = p->line_no;
	rc = skip_attr_lines(p, &end);
	if (rc < 0)
		return rc;
	rc = attr_parse_lines(table, start, (size_t)(end - start), p->has_base, p->records->arena, &record.attrs, &line,
			      &fault);
	if (rc < 0) {
		p->line_no = first_line + line;
		return fail(p, -rc, "%s", fault.msg);
	}
	base = p->has_base ? records_find(p->records, RECORD_NL, record.key, p->sample) : NULL;
	if (p->has_base)
		record.attrs = attr_merge(base ? base->attrs : NULL, record.attrs, p->records->arena);
	return adopt(p, &record);
}

/* jansson's own bound on nesting is far above what a fact needs. */
static bool json_is_deep(const char *text)
{
	unsigned depth = 0;
	bool in_string = false;

	for (; *text; text++) {
		if (in_string && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			in_string = !in_string;
		else if (!in_string && (*text == '{' || *text == '[') && ++depth > RECORD_JSON_DEPTH_MAX)
			return true;
		else if (!in_string && (*text == '}' || *text == ']') && depth > 0)
			depth--;
	}
	return false;
}

static int parse_fact_key(struct parser *p, const char *text, size_t len, const char **ret_key)
{
	int rc = check_key_length(p, len);

	if (rc < 0)
		return rc;
	if (len == 0 || memchr(text, '\t', len))
		return fail(p, EBADMSG, "expected the key of a fact");
	*ret_key = unescape(p, text, len);
	return *ret_key ? 0 : -EBADMSG;
}

static int parse_fact(struct parser *p, const char *rest)
{
	struct record record = { .kind = RECORD_FACT };
	size_t key_len = strcspn(rest, " ");
	const char *text = rest + key_len;
	json_error_t error;
	size_t len;
	int rc = parse_fact_key(p, rest, key_len, &record.key);

	if (rc < 0)
		return rc;
	text += strspn(text, " ");
	len = strlen(text);
	if (len > RECORD_JSON_MAX || len > RECORDS_JSON_MAX - p->records->json_bytes)
		return fail(p, E2BIG, "facts are too long (at most %u bytes each, %u in all)", RECORD_JSON_MAX,
			    RECORDS_JSON_MAX);
	if (json_is_deep(text))
		return fail(p, E2BIG, "JSON is nested deeper than %u", RECORD_JSON_DEPTH_MAX);
	record.json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!record.json)
		return fail(p, EBADMSG, "JSON, column %d: %s", error.column, error.text);
	p->records->json_bytes += len;
	rc = adopt(p, &record);
	json_decref(record.json);
	return rc;
}

static int parse_errno(struct parser *p, const char *word, int *ret_err)
{
	int err = value_err_number(word);
	int64_t number;

	if (err == 0 && isdigit((unsigned char)word[0]) && text_parse_i64(word, &number) && number < VALUE_NOT_ASKED)
		err = (int)number;
	if (err <= 0 || err >= VALUE_NOT_ASKED)
		return fail(p, EBADMSG, "unknown error '%.64s'; expected a name such as EINVAL", word);
	*ret_err = err;
	return 0;
}

static bool take_word(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len) != 0 || (*text)[len] != ' ')
		return false;
	*text += len + 1;
	return true;
}

static int parse_error(struct parser *p, const char *rest)
{
	struct record record = { .kind = RECORD_FILE };
	struct path_range range = { 0 };
	const struct attr_table *table;
	const char *last = strrchr(rest, ' ');
	int rc;

	if (!last)
		return fail(p, EBADMSG, "expected a path or key, and an error name");
	rc = parse_errno(p, last + 1, &record.err);
	if (rc < 0)
		return rc;
	if (take_word(&rest, "nl")) {
		record.kind = RECORD_NL;
		rc = last > rest ? parse_nl_key(p, rest, (size_t)(last - rest), &record.key, &table) :
				   fail(p, EBADMSG, "expected FAMILY COMMAND [KEY]");
		return rc < 0 ? rc : adopt(p, &record);
	}
	if (take_word(&rest, "fact")) {
		record.kind = RECORD_FACT;
		rc = parse_fact_key(p, rest, last > rest ? (size_t)(last - rest) : 0, &record.key);
		return rc < 0 ? rc : adopt(p, &record);
	}
	if (take_word(&rest, "link"))
		record.kind = RECORD_LINK;
	else if (take_word(&rest, "dir"))
		record.kind = RECORD_DIR;
	rc = parse_path(p, rest, last > rest ? (size_t)(last - rest) : 0, &range);
	return rc < 0 ? rc : adopt_paths(p, &range, &record);
}

static int parse_gone(struct parser *p, const char *rest)
{
	enum record_kind kind = RECORD_FILE;
	char separator = '/', *key;

	if (!p->has_base)
		return fail(p, EBADMSG, "'gone' needs a 'base' line before it");
	if (take_word(&rest, "nl")) {
		kind = RECORD_NL;
		separator = ' ';
	} else if (take_word(&rest, "fact")) {
		kind = RECORD_FACT;
	}
	key = *rest ? unescape(p, rest, strlen(rest)) : NULL;
	if (!key)
		return fail(p, EBADMSG, "expected what is gone: a path, nl FAMILY COMMAND KEY, or fact KEY");
	if (records_remove(p->records, kind, key, separator) == 0)
		return fail(p, EBADMSG, "nothing to remove: the base has no '%.128s'", key);
	return 0;
}

static int parse_text(struct parser *p, const char *text, size_t len);

/* The base's file as seen from here: a relative one lies beside the file that names it. */
static char *base_path(struct parser *p, const char *file)
{
	const char *slash = strrchr(p->name, '/');

	if (file[0] == '/' || !slash)
		return arena_strdup(p->records->arena, file);
	return arena_printf(p->records->arena, "%.*s/%s", (int)(slash - p->name), p->name, file);
}

static int parse_base_text(struct parser *p, const char *path, struct buf *text)
{
	struct parser base = {
		.records = p->records, .outer = p, .depth = p->depth + 1, .load_base = p->load_base, .ctx = p->ctx,
		.reterr = p->reterr,
	};
	char *name cleanup_free = NULL;
	struct fault fault = { 0 };
	int rc;

	for (const struct parser *up = p; up; up = up->outer)
		if (strcmp(up->name, path) == 0)
			return fail(p, ELOOP, "base '%.128s' leads back to itself", path);
	if (base.depth > BASE_DEPTH_MAX)
		return fail(p, ELOOP, "bases lie deeper than %d", BASE_DEPTH_MAX);
	rc = p->load_base(p->ctx, path, text, &name, &fault);
	if (rc < 0)
		return fail(p, -rc, "base '%.128s': %.200s", path, fault.msg[0] ? fault.msg : strerror(-rc));
	base.name = name ? name : path;
	rc = parse_text(&base, buf_str(text), text->len);
	buf_release(&base.scratch);
	return rc;
}

static int parse_base(struct parser *p, const char *rest)
{
	struct buf text cleanup_buf = BUF_INIT_MAX(SNAPSHOT_TEXT_MAX);
	int rc;

	if (!p->load_base)
		return fail(p, EBADMSG, "a base is allowed in files only, not in what a peer sends");
	if (p->has_base || p->has_records)
		return fail(p, EBADMSG, "there is one base, and it stands before all records");
	if (*rest == '\0')
		return fail(p, EBADMSG, "expected the name of a file");
	rc = parse_base_text(p, base_path(p, rest), &text);
	if (rc < 0)
		return rc;
	p->has_base = true;
	for (size_t i = 0; i < p->n_headers; i++)
		records_set_header(p->records, p->headers[i].name, p->headers[i].value);
	return 0;
}

static const struct {
	const char *word;
	int (*parse)(struct parser *p, const char *rest);
	bool has_samples;
} keywords[] = {
	{ "file", parse_file, true }, { "link", parse_link, false }, { "dir", parse_dir, false },
	{ "error", parse_error, true }, { "nl", parse_nl, true }, { "fact", parse_fact, true },
	{ "base", parse_base, false }, { "gone", parse_gone, false },
};

/* A header line before the first record: 1, or 0 if the word is none. */
static int parse_header(struct parser *p, const char *word, const char *rest)
{
	for (size_t i = 0; record_header_names[i]; i++) {
		char *value;

		if (strcmp(word, record_header_names[i]) != 0)
			continue;
		if (p->has_records)
			return fail(p, EBADMSG, "header '%s' must stand before all records", word);
		value = unescape(p, rest, strlen(rest));
		if (!value)
			return -EBADMSG;
		records_set_header(p->records, word, value);
		if (p->n_headers < RECORD_HEADERS_MAX)
			p->headers[p->n_headers++] = (struct record_header){ record_header_names[i], value };
		return 1;
	}
	return 0;
}

static int parse_line(struct parser *p)
{
	size_t word_len = strcspn(p->line, " ");
	char word[16] = "", *at;
	char *rest;
	int rc;

	if (word_len < sizeof(word))
		memcpy(word, p->line, word_len);
	rest = xstrdup(p->line[word_len] ? p->line + word_len + 1 : "");
	at = strchr(word, '@');
	p->sample = at && strcmp(at, "@2") == 0 ? 2 : 1;
	if (p->sample == 2)
		*at = '\0';
	rc = parse_header(p, word, rest);
	for (size_t i = 0; rc == 0 && i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		if (strcmp(keywords[i].word, word) != 0)
			continue;
		if (p->sample == 2 && !keywords[i].has_samples)
			rc = fail(p, EBADMSG, "%s has no second sample", word);
		else
			rc = keywords[i].parse(p, rest);
		if (rc == 0)
			rc = 1;
		p->has_records = p->has_records || keywords[i].parse != parse_base;
	}
	if (rc == 0)
		rc = fail(p, EBADMSG, "unknown keyword '%.32s'", p->line);
	free(rest);
	return rc < 0 ? rc : 0;
}

static int parse_version(struct parser *p)
{
	static const char magic[] = "sparkfab-snapshot ";
	uint64_t version;
	int rc = next_line(p);

	if (rc < 0)
		return rc;
	p->line_no = 1;
	if (rc == 0 || strncmp(p->line, magic, sizeof(magic) - 1) != 0 ||
	    !text_parse_u64(p->line + sizeof(magic) - 1, &version))
		return fail(p, EBADMSG, "not a snapshot: the first line must be 'sparkfab-snapshot %d'", SNAPSHOT_VERSION);
	if (version != SNAPSHOT_VERSION)
		return fail(p, EPROTONOSUPPORT, "snapshot of version %.20s; this program reads version %d",
			    p->line + sizeof(magic) - 1, SNAPSHOT_VERSION);
	return 0;
}

static int parse_text(struct parser *p, const char *text, size_t len)
{
	int rc;

	p->pos = text;
	p->end = text + len;
	if (len > SNAPSHOT_TEXT_MAX)
		return fail(p, E2BIG, "snapshot is larger than %u MiB", SNAPSHOT_TEXT_MAX >> 20);
	rc = parse_version(p);
	while (rc == 0 && (rc = next_line(p)) > 0) {
		if (strcmp(p->line, "end") == 0) {
			if (p->pos != p->end)
				return fail(p, EBADMSG, "there is more text behind 'end'");
			return 0;
		}
		rc = p->line[0] == '\0' || p->line[0] == '#' ? 0 : parse_line(p);
	}
	return rc < 0 ? rc : fail(p, EBADMSG, "truncated: the last line must be 'end'");
}

int records_parse(struct records *records, const char *name, const char *text, size_t len, record_base_fn *load_base,
		  void *ctx, struct fault *reterr)
{
	struct parser p = {
		.records = records, .name = name, .load_base = load_base, .ctx = ctx, .reterr = reterr,
	};
	int rc = parse_text(&p, text, len);

	buf_release(&p.scratch);
	return rc;
}

static int read_all(int fd, struct buf *ret_text)
{
	char block[65536];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf_add(ret_text, block, (size_t)n);
		if (ret_text->truncated)
			return -EFBIG;
	}
	return 0;
}

/* Files only: a base that names a pipe or a device would hang or never end. */
static int load_file(void *ctx, const char *file, struct buf *ret_text, char **ret_name, struct fault *reterr)
{
	int fd cleanup_fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	int rc;

	(void)ctx;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fault_set(reterr, errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fault_set(reterr, EINVAL, "not a regular file");
	rc = read_all(fd, ret_text);
	if (rc < 0)
		return fault_set(reterr, -rc, "%s", strerror(-rc));
	*ret_name = xstrdup(file);
	return 0;
}

int records_load(struct records *records, const char *path, struct fault *reterr)
{
	struct buf text cleanup_buf = BUF_INIT_MAX(SNAPSHOT_TEXT_MAX + 1);
	int fd cleanup_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int rc;

	if (fd < 0)
		return fault_set(reterr, errno, "%s: %s", path, strerror(errno));
	rc = read_all(fd, &text);
	if (rc < 0)
		return fault_set(reterr, -rc, "%s: %s", path, strerror(-rc));
	return records_parse(records, path, buf_str(&text), text.len, load_file, NULL, reterr);
}
