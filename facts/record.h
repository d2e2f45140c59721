/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: the raw facts of one host as they were read, and their text form (docs/SNAPSHOT.md). What a live host answered,
 * what a peer sent, a fixture and the content of a bundle are all a `struct records`.
 *
 * A record is identified by kind, key and sample (1, or 2 for the second reading of a counter).
 */
#ifndef SPARKFAB_FACTS_RECORD_H
#define SPARKFAB_FACTS_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <jansson.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/fault.h"
#include "facts/attr.h"

#define SNAPSHOT_VERSION 1
#define SNAPSHOT_TEXT_MAX (32u << 20) /* bytes of one snapshot's text */
#define SNAPSHOT_RECORDS_MAX 262144u  /* records of one snapshot, ranges expanded */

enum record_kind {
	RECORD_FILE,  /* key: absolute path; text */
	RECORD_LINK,  /* key: absolute path; text: the target as readlink gives it */
	RECORD_DIR,   /* key: absolute path of a directory that was listed and of which nothing else is recorded */
	RECORD_NL,    /* key: "FAMILY COMMAND KEY" as in the text form; attrs */
	RECORD_FACT,  /* key: slash-separated name; json */
};

struct record {
	enum record_kind kind;
	const char *key;
	int sample;	 /* 1 or 2 */
	int err;	 /* positive errno: reading it failed, there is no content */
	const char *text; size_t text_len;
	const struct attr *attrs;
	json_t *json;
	bool fresh;	 /* added since the last records_write() with only_fresh */
};

struct records;

struct records *records_new(void);
struct records *records_free(struct records *records); /* NULL is fine; returns NULL */
struct arena *records_arena(struct records *records);  /* for strings that live as long as the records */

/* Header fields of the text form: "host", "arch", "tool", … NULL if not there. The names are a fixed list (so that a
 * mistyped keyword is never taken for a header): host arch tool role agent level created source note; others are ignored. */
const char *records_header(const struct records *records, const char *name);
void records_set_header(struct records *records, const char *name, const char *value);

/* NULL if there is none. */
const struct record *records_find(const struct records *records, enum record_kind kind, const char *key, int sample);

/* Adds, or replaces the one of same kind, key and sample; copies everything (json: takes its own reference). What exceeds
 * the limits of the text form is left out, and a comment in the text says how many; a fact that does becomes E2BIG. */
void records_put(struct records *records, const struct record *record);

/* In order of (key, sample), numbers in keys by value; false ends. Nothing may be put meanwhile. */
typedef bool record_visit_fn(void *ctx, const struct record *record);
void records_each(const struct records *records, enum record_kind kind, record_visit_fn *visit, void *ctx);

/* Names of what lies directly under directory `path`, from all paths recorded, sorted, each once. False if no record says
 * that the directory exists. */
bool records_list(const struct records *records, const char *path, struct arena *arena, const char ***ret_names,
		  size_t *ret_n);

/* Reads the text form into `records` (records there already stay and are replaced one by one: so a peer's second message
 * extends its first). `name` is for messages. `load_base` opens the file of a `base` line, relative to the file that says
 * it; NULL: base lines are an error (nothing a peer sends opens files here). 0 or -errno: -EBADMSG malformed or truncated,
 * -EPROTONOSUPPORT another version, -ELOOP a base that loops or lies deeper than 8, -E2BIG over a limit. */
typedef int record_base_fn(void *ctx, const char *file, struct buf *ret_text, char **ret_name, struct fault *reterr);
int records_parse(struct records *records, const char *name, const char *text, size_t len, record_base_fn *load_base,
		  void *ctx, struct fault *reterr);

/* records_parse for a file, with its bases loaded from beside it. */
int records_load(struct records *records, const char *path, struct fault *reterr);

/* Appends the text form, sorted, equal siblings folded to ranges. only_fresh: just what was added since the last such call. */
void records_write(struct records *records, bool only_fresh, struct buf *out);

#endif
