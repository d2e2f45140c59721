// SPDX-License-Identifier: Apache-2.0
/* Records into their text form (docs/SNAPSHOT.md): sorted, folded, the same bytes for the same records. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/value.h"
#include "facts/record_private.h"
#include "facts/record_text.h"

static void write_hex(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (i % 32 == 0)
			buf_adds(out, i ? "\nx " : "x ");
		buf_addf(out, "%02x", (unsigned char)text[i]);
	}
	buf_addc(out, '\n');
}

/* Content of a file: its lines behind "| ", or hex where it is no text. */
static void write_content(struct buf *out, const char *text, size_t len)
{
	if (len == 0)
		return;
	if (!record_is_text(text, len)) {
		write_hex(out, text, len);
		return;
	}
	for (size_t i = 0; i < len;) {
		const char *stop = memchr(text + i, '\n', len - i);
		size_t line_len = stop ? (size_t)(stop - text) - i : len - i;

		buf_adds(out, line_len ? "| " : "|");
		buf_add(out, text + i, line_len);
		buf_addc(out, '\n');
		i += line_len + 1;
	}
	if (text[len - 1] != '\n')
		buf_adds(out, "\\\n");
}

void record_write_key(struct buf *out, const char *key, size_t len, bool with_blanks)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)key[i];
		bool is_plain = c > 0x20 && c < 0x7f && c != '\\' && c != '{' && c != '}';

		if (is_plain || (c == ' ' && with_blanks && i > 0 && i + 1 < len))
			buf_addc(out, (char)c);
		else
			buf_addf(out, "\\x%02x", c);
	}
}

static void write_keyword(struct buf *out, const char *keyword, const struct record *record)
{
	buf_addf(out, record->sample == 2 ? "%s@2 " : "%s ", keyword);
}

static void write_errno(struct buf *out, int err)
{
	const char *name = value_err_name(err);

	if (value_err_number(name) == err)
		buf_addf(out, " %s\n", name);
	else
		buf_addf(out, " %d\n", err);
}

/* Length of the path up to and with the last "/", and the number behind it; false if that is no plain number. */
static bool split_number(const char *key, size_t *ret_dir_len, uint64_t *ret_number)
{
	const char *slash = strrchr(key, '/');
	const char *digits = slash ? slash + 1 : "";
	size_t len = strlen(digits);

	if (len == 0 || len > 9 || strspn(digits, "0123456789") != len || (digits[0] == '0' && len > 1))
		return false;
	*ret_dir_len = (size_t)(digits - key);
	*ret_number = strtoull(digits, NULL, 10);
	return true;
}

static bool same_answer(const struct record *a, const struct record *b)
{
	return a->kind == b->kind && a->sample == b->sample && a->err == b->err && a->text_len == b->text_len &&
	       (a->text_len == 0 || memcmp(a->text, b->text, a->text_len) == 0);
}

/* How many records from list[0] on are siblings numbered in sequence with the same answer; at least 1. */
static size_t run_length(const struct record *const *list, size_t n)
{
	size_t dir_len, next_dir_len, run = 1;
	uint64_t first, number;

	if (list[0]->kind == RECORD_LINK || !split_number(list[0]->key, &dir_len, &first))
		return 1;
	while (run < n && run < RECORD_RANGE_MAX && same_answer(list[0], list[run]) &&
	       split_number(list[run]->key, &next_dir_len, &number) && number == first + run &&
	       next_dir_len == dir_len && memcmp(list[0]->key, list[run]->key, dir_len) == 0)
		run++;
	return run;
}

static void write_path(struct buf *out, const struct record *const *list, size_t run)
{
	size_t dir_len = 0;
	uint64_t first = 0;

	if (run == 1) {
		record_write_key(out, list[0]->key, strlen(list[0]->key), false);
		return;
	}
	split_number(list[0]->key, &dir_len, &first);
	record_write_key(out, list[0]->key, dir_len, false);
	buf_addf(out, "{%" PRIu64 "..%" PRIu64 "}", first, first + run - 1);
}

static void write_error(struct buf *out, const struct record *const *list, size_t run)
{
	static const char *const what[] = {
		[RECORD_FILE] = "", [RECORD_LINK] = "link ", [RECORD_DIR] = "dir ", [RECORD_NL] = "nl ",
		[RECORD_FACT] = "fact ",
	};
	const struct record *record = list[0];

	write_keyword(out, "error", record);
	buf_adds(out, what[record->kind]);
	if (record->kind == RECORD_NL || record->kind == RECORD_FACT)
		record_write_key(out, record->key, strlen(record->key), record->kind == RECORD_NL);
	else
		write_path(out, list, run);
	write_errno(out, record->err);
}

static void write_fact(struct buf *out, const struct record *record)
{
	char *json cleanup_free = json_dumps(record->json, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);

	write_keyword(out, "fact", record);
	record_write_key(out, record->key, strlen(record->key), false);
	buf_addf(out, " %s\n", json ? json : "{}");
}

static void write_records(struct buf *out, const struct record *const *list, size_t run)
{
	const struct record *record = list[0];

	if (record->err) {
		write_error(out, list, run);
		return;
	}
	switch (record->kind) {
	case RECORD_FILE:
		write_keyword(out, "file", record);
		write_path(out, list, run);
		buf_addc(out, '\n');
		write_content(out, record->text, record->text_len);
		break;
	case RECORD_DIR:
		write_keyword(out, "dir", record);
		write_path(out, list, run);
		buf_addc(out, '\n');
		break;
	case RECORD_LINK:
		write_keyword(out, "link", record);
		write_path(out, list, 1);
		buf_adds(out, " -> ");
		record_write_key(out, record->text, record->text_len, false);
		buf_addc(out, '\n');
		break;
	case RECORD_NL:
		write_keyword(out, "nl", record);
		record_write_key(out, record->key, strlen(record->key), true);
		buf_addc(out, '\n');
		attr_write(record->attrs, 1, out);
		break;
	case RECORD_FACT:
		write_fact(out, record);
		break;
	}
}

/* A "dir" line only says that something exists; where another line says so too it would be noise. */
static bool is_implied(struct record *const *sorted, size_t n, size_t i)
{
	const struct record *dir = sorted[i];
	size_t len = strlen(dir->key);

	if (dir->kind != RECORD_DIR || dir->err)
		return false;
	for (size_t j = i; j-- > 0 && strcmp(sorted[j]->key, dir->key) == 0;)
		if (sorted[j]->err != ENOENT)
			return true;
	for (size_t j = i + 1; j < n && sorted[j]->kind <= RECORD_DIR; j++) {
		const char *key = sorted[j]->key;

		if (strncmp(key, dir->key, len) != 0 || (key[len] != '/' && key[len] != '\0'))
			break;
		if (sorted[j]->err != ENOENT && key[len] == '/')
			return true;
	}
	return false;
}

static void write_headers(const struct records *records, struct buf *out)
{
	buf_addf(out, "sparkfab-snapshot %d\n", SNAPSHOT_VERSION);
	for (size_t i = 0; i < records->n_headers; i++) {
		const char *value = records->headers[i].value;

		buf_addf(out, "%s ", records->headers[i].name);
		record_write_key(out, value, strlen(value), true);
		buf_addc(out, '\n');
	}
	if (records->dropped)
		buf_addf(out, "# %zu records did not fit\n", records->dropped);
}

void records_write(struct records *records, bool only_fresh, struct buf *out)
{
	size_t n, n_list = 0;
	struct record *const *sorted = records_sorted(records, &n);
	const struct record **list cleanup_free = xcalloc(n + 1, sizeof(*list));

	for (size_t i = 0; i < n; i++) {
		if ((!only_fresh || sorted[i]->fresh) && !is_implied(sorted, n, i))
			list[n_list++] = sorted[i];
		if (only_fresh)
			sorted[i]->fresh = false;
	}
	write_headers(records, out);
	for (size_t i = 0; i < n_list;) {
		size_t run = run_length(list + i, n_list - i);

		write_records(out, list + i, run);
		i += run;
	}
	buf_adds(out, "end\n");
}
