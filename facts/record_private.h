/* SPDX-License-Identifier: Apache-2.0 */
/* What the three files of the records share: the store, the reader of the text form, the writer. */
#ifndef SPARKFAB_FACTS_RECORD_PRIVATE_H
#define SPARKFAB_FACTS_RECORD_PRIVATE_H

#include "facts/record.h"

#define RECORD_KEY_MAX 1024u		 /* bytes of a path or key */
#define RECORD_PATH_DEPTH_MAX 32u	 /* components of a path */
#define RECORD_TEXT_MAX (1u << 20)	 /* bytes of one file's content, or of one nl record's lines */
#define RECORD_JSON_MAX (512u << 10)	 /* bytes of one fact */
#define RECORD_JSON_DEPTH_MAX 32u
#define RECORDS_JSON_MAX (16u << 20)	 /* bytes of all facts: jansson needs some ten times as much memory */
#define RECORDS_MEMORY_MAX (256u << 20)	 /* of the arena */
#define RECORD_HEADERS_MAX 16u

struct record_header {
	const char *name, *value;
};

/* Keeps the hash, so that growing the table and stepping over others' keys touch no key. */
struct record_slot {
	uint32_t hash;
	uint32_t item; /* index into items + 1; 0: free */
};

struct records {
	struct arena *arena;
	struct record **items; /* in order of arrival */
	size_t n;
	struct record_slot *slots; /* hash table */
	size_t n_slots;
	struct record_index *index; /* items in order, made when somebody asks; an object of its own: const users fill it */
	struct record_header headers[RECORD_HEADERS_MAX];
	size_t n_headers;
	size_t json_bytes;
	size_t dropped; /* did not fit */
};

/* As records_put, for a record whose strings and attributes lie in the records' arena already. False: no room. */
bool records_adopt(struct records *records, const struct record *record);

/* True if `n` more records with keys of `key_len` bytes stay under every limit. */
bool records_have_room(const struct records *records, size_t n, size_t key_len);

/* Removes the records of a class (path kinds count as one) whose key is `key` or goes on behind it with `separator`.
 * Returns how many. */
size_t records_remove(struct records *records, enum record_kind kind, const char *key, char separator);

/* All records, paths first (files, links and directories mixed, so that a folder stays together), then nl, then facts. */
struct record *const *records_sorted(const struct records *records, size_t *ret_n);

/* A total order in which "/" comes before all else and digits count as numbers: gids/2 before gids/10. */
int record_key_compare(const char *a, const char *b);

/* Names of headers that the text form knows, NULL at the end. */
extern const char *const record_header_names[];

#endif
