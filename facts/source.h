/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door. Every fact about a host comes through a `struct source`: the live machine, or records in memory (a fixture, a
 * peer's answer, a bundle). The recorder wraps another source and keeps what it answered, so that the same questions asked
 * of the recording get the same answers.
 *
 * Everything returned lives in the arena given (or as long as the source). All calls return 0 or -errno; a record that does
 * not exist answers -ENOENT (files, directories), -ENODATA (netlink, facts).
 */
#ifndef SPARKFAB_FACTS_SOURCE_H
#define SPARKFAB_FACTS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

#include "core/arena.h"
#include "core/value.h"
#include "facts/attr.h"
#include "facts/record.h"

struct source;

struct nl_object {
	const char *key; /* "eth1", "eth1 10.0.0.1/24": unique within its family and command */
	const struct attr *attrs;
};

/* Live: openat and readlinkat below a root descriptor, libnl sockets, ioctl and library calls for facts. `root` "/" for the
 * machine itself; below another root only files are answered, since netlink and libraries speak of this machine. Never
 * writes anything. */
struct source *source_live_new(const char *root);

/* Answers from `records`, which must outlive it and is not changed. */
struct source *source_memory_new(const struct records *records);

/* Asks `inner` (owned from now on) and puts each question's answer into `records` (not owned). A question asked twice is
 * answered from the records. */
struct source *source_recorder_new(struct source *inner, struct records *records);

struct source *source_free(struct source *source);

/* Which reading of counters is being taken: 1 (default) or 2. Links and listings have no second reading. */
void source_set_sample(struct source *source, int sample);

/* True for the machine itself (through a recorder too): only then may anything be measured. */
bool source_is_live(const struct source *source);

/* Content of a small text file, at most 1 MiB, NUL-terminated. */
int source_read(struct source *source, const char *path, struct arena *arena, const char **ret_text, size_t *ret_len);
int source_link(struct source *source, const char *path, struct arena *arena, const char **ret_target);
int source_list(struct source *source, const char *path, struct arena *arena, const char ***ret_names, size_t *ret_n);

/* All objects that a command's dump (dev NULL) or one request about a device gives: ("rtnl", "link", NULL),
 * ("ethtool", "linkmodes", "eth1"). In kernel order live; sorted by key from records. Of routes and neighbours at most 4096
 * each are kept: -E2BIG says that there are more, and then *ret_objects and *ret_n are set all the same, to those kept.
 * Objects that the kernel tells by index (address, route, neigh) have the netdev's name as attribute "dev" as well. */
int source_nl(struct source *source, const char *family, const char *command, const char *dev, struct arena *arena,
	      const struct nl_object **ret_objects, size_t *ret_n);

/* A fact without kernel text, by its key: see source_live_facts.c for the list and docs/SNAPSHOT.md for each one's JSON.
 * A borrowed reference that lives as long as the source. */
int source_fact(struct source *source, const char *key, const json_t **ret);

/* Puts a fact that this side made itself (a probe's outcome) where the same key asked later finds it. Recorder only. */
void source_put_fact(struct source *source, const char *key, json_t *fact);

/* source_read as values. Text is without the final newline, numbers base 10 or 0x…; anything else VALUE_MALFORMED. */
struct text source_text(struct source *source, struct arena *arena, const char *path);
struct num source_num(struct source *source, struct arena *arena, const char *path);

#endif
