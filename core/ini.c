// SPDX-License-Identifier: Apache-2.0
/*
 * INI files through libinih as distributions build it: its handler is told no line number, it goes on after an error,
 * and it cuts lines and names without a word. So the reader that feeds it counts the lines and refuses what would be
 * cut, and the text is read twice: once for its syntax alone, so that a broken file has no effect at all, then for
 * its entries.
 */
#include "core/ini.h"

#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/buf.h"

#define LARGEST_FILE (1u << 20)
#define NAME_SIZE 50 /* libinih keeps one byte less of a section or key */

struct entry {
	bool pending; /* held back: the next line may go on with its value */
	char section[NAME_SIZE], key[NAME_SIZE];
	int line;
	struct buf value;
};

struct reader {
	const char *rest;  /* text that is still to be read */
	const char *start; /* of the current line */
	int line;
	ini_entry_fn *fn; /* NULL while only the syntax is looked at */
	void *ctx;
	struct entry entry;
	struct fault fault; /* the first complaint; ends the reading */
	int fault_line;
};

static void complain(struct reader *reader, int line, const struct fault *why)
{
	if (reader->fault.err)
		return;
	reader->fault = *why;
	reader->fault_line = line;
}

/* Hands the entry over that was held back. */
static void entry_flush(struct reader *reader)
{
	struct entry *entry = &reader->entry;
	struct fault why = { 0 };
	int r;

	if (!entry->pending)
		return;
	entry->pending = false;
	if (reader->fault.err || !reader->fn)
		return;
	r = reader->fn(reader->ctx, entry->section, entry->key, buf_str(&entry->value), entry->line, &why);
	if (r >= 0)
		return;
	if (!why.err)
		fault_set(&why, -r, "\"%s\" cannot be used here", entry->key);
	complain(reader, entry->line, &why);
}

static bool is_comment(const char *line)
{
	line += strspn(line, " \t");
	return *line == ';' || *line == '#';
}

/* An ini_reader: fgets() over the text. NULL ends the reading. */
static char *next_line(char *out, int size, void *stream)
{
	struct reader *reader = stream;
	size_t len, room = (size_t)size - 1;
	struct fault why;

	if (reader->fault.err || !*reader->rest)
		return NULL;
	reader->start = reader->rest;
	reader->line++;
	len = strcspn(reader->rest, "\n");
	reader->rest += len;
	if (*reader->rest)
		reader->rest++;
	if (len >= room && !is_comment(reader->start)) {
		fault_set(&why, EINVAL, "the line is longer than %zu bytes: go on in the next one, indented", room - 1);
		complain(reader, reader->line, &why);
		return NULL;
	}
	len = len < room ? len : room - 1;
	memcpy(out, reader->start, len);
	out[len] = '\n';
	out[len + 1] = '\0';
	return out;
}

static int check_names(struct reader *reader, const char *section, const char *key)
{
	struct fault why;

	if (!*key)
		fault_set(&why, EINVAL, "a key is missing before the value");
	else if (strlen(section) >= NAME_SIZE - 1)
		fault_set(&why, EINVAL, "the section's name is longer than %d bytes", NAME_SIZE - 2);
	else if (strlen(key) >= NAME_SIZE)
		fault_set(&why, EINVAL, "the key is longer than %d bytes", NAME_SIZE - 1);
	else
		return 0;
	complain(reader, reader->line, &why);
	return -EINVAL;
}

/* A comment after the value of an indented line, which libinih takes off only in later versions. */
static size_t without_comment(const char *value)
{
	size_t len = strlen(value);

	for (size_t i = 1; i < len; i++)
		if (value[i] == ';' && (value[i - 1] == ' ' || value[i - 1] == '\t'))
			len = i;
	while (len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
		len--;
	return len;
}

/* An ini_handler: 1 is success there. An indented line goes on with the value above it, and libinih repeats its key. */
static int take_entry(void *user, const char *section, const char *key, const char *value)
{
	struct reader *reader = user;
	struct entry *entry = &reader->entry;

	if (reader->fault.err)
		return 0;
	if (entry->pending && (*reader->start == ' ' || *reader->start == '\t') && !strcmp(section, entry->section)) {
		if (entry->value.len)
			buf_addc(&entry->value, ' ');
		buf_add(&entry->value, value, without_comment(value));
		return 1;
	}
	entry_flush(reader);
	if (reader->fault.err || check_names(reader, section, key) < 0)
		return 0;
	entry->pending = true;
	entry->line = reader->line;
	memcpy(entry->section, section, strlen(section) + 1);
	memcpy(entry->key, key, strlen(key) + 1);
	buf_clear(&entry->value);
	buf_adds(&entry->value, value);
	return 1;
}

/* One pass. 0 or -EINVAL with *reterr filled. */
static int read_pass(const char *name, const char *text, ini_entry_fn *fn, void *ctx, struct fault *reterr)
{
	struct reader reader = { .rest = text, .start = text, .fn = fn, .ctx = ctx, .entry.value.max = LARGEST_FILE };
	int bad_line = ini_parse_stream(next_line, &reader, take_entry, &reader);

	entry_flush(&reader);
	buf_release(&reader.entry.value);
	if (bad_line > 0 && (!reader.fault.err || bad_line < reader.fault_line))
		return fault_set(reterr, EINVAL, "%s:%d: neither a [section] nor key = value", name, bad_line);
	if (reader.fault.err)
		return fault_set(reterr, EINVAL, "%s:%d: %s", name, reader.fault_line, reader.fault.msg);
	if (bad_line)
		return fault_set(reterr, EINVAL, "%s: cannot be read", name);
	return 0;
}

int ini_read_text(const char *name, const char *text, ini_entry_fn *entry, void *ctx, struct fault *reterr)
{
	int r = read_pass(name, text, NULL, NULL, reterr);

	return r < 0 ? r : read_pass(name, text, entry, ctx, reterr);
}

static int line_of(const char *text, size_t at)
{
	int line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

int ini_read_file(const char *path, ini_entry_fn *entry, void *ctx, struct fault *reterr)
{
	cleanup_buf struct buf text = BUF_INIT_MAX(LARGEST_FILE);
	cleanup_file FILE *file = fopen(path, "re");
	char chunk[4096];
	size_t n;

	if (!file)
		return fault_set(reterr, errno, "%s: %s", path, strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), file)) && !text.truncated)
		buf_add(&text, chunk, n);
	if (ferror(file))
		return fault_set(reterr, errno ? errno : EIO, "%s: %s", path, strerror(errno ? errno : EIO));
	if (text.truncated)
		return fault_set(reterr, EFBIG, "%s: larger than %u bytes", path, LARGEST_FILE);
	n = strlen(buf_str(&text));
	if (n < text.len)
		return fault_set(reterr, EINVAL, "%s:%d: a NUL byte, this is no text", path, line_of(text.data, n));
	return ini_read_text(path, buf_str(&text), entry, ctx, reterr);
}
