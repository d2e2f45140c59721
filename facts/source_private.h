/* SPDX-License-Identifier: Apache-2.0 */
/* The implementations' side of the door. */
#ifndef SPARKFAB_FACTS_SOURCE_PRIVATE_H
#define SPARKFAB_FACTS_SOURCE_PRIVATE_H

#include "facts/source.h"

struct source_ops {
	int (*read)(struct source *source, const char *path, struct arena *arena, const char **ret_text, size_t *ret_len);
	int (*link)(struct source *source, const char *path, struct arena *arena, const char **ret_target);
	int (*list)(struct source *source, const char *path, struct arena *arena, const char ***ret_names, size_t *ret_n);
	int (*nl)(struct source *source, const char *family, const char *command, const char *dev, struct arena *arena,
		  const struct nl_object **ret_objects, size_t *ret_n);
	int (*fact)(struct source *source, const char *key, const json_t **ret);
	void (*put_fact)(struct source *source, const char *key, json_t *fact); /* NULL: not kept */
	bool (*is_live)(const struct source *source);
	void (*free)(struct source *source);
};

/* First member of every implementation. */
struct source {
	const struct source_ops *ops;
	int sample;
};

/* Answers of records; what the memory source does, and the recorder for a question it knows. */
int records_answer_read(const struct records *records, const char *path, int sample, const char **ret_text,
			size_t *ret_len);
int records_answer_link(const struct records *records, const char *path, const char **ret_target);
int records_answer_list(const struct records *records, const char *path, struct arena *arena, const char ***ret_names,
			size_t *ret_n);
int records_answer_nl(const struct records *records, const char *family, const char *command, const char *dev, int sample,
		      struct arena *arena, const struct nl_object **ret_objects, size_t *ret_n);
int records_answer_fact(const struct records *records, const char *key, int sample, const json_t **ret);

#endif
