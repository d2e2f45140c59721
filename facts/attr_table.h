/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one row of attr_tables.c says, and the parts of the codec that only the records and the live source use.
 */
#ifndef SPARKFAB_FACTS_ATTR_TABLE_H
#define SPARKFAB_FACTS_ATTR_TABLE_H

#include "facts/attr.h"

#define ATTR_DEPTH_MAX 8 /* nests inside nests, on the wire and in the text */

/* The table of a nest whose meaning depends on a sibling: IFLA_INFO_DATA by IFLA_INFO_KIND. */
struct attr_kind {
	const char *kind; /* NULL ends the array */
	const struct attr_table *table;
};

struct attr_def {
	unsigned number;
	const char *name;
	enum attr_type type;
	bool left_out;			/* known, and of no use to anybody: not decoded */
	const struct attr_table *table; /* NEST: its members; LIST: a table of one row, which every member follows */
	const char *kind_of;		/* NEST: name of the sibling that chooses among kinds */
	const struct attr_kind *kinds;
};

/* A member of the fixed struct in front of the attributes. */
struct attr_field {
	const char *name;
	unsigned offset, size;
	enum attr_type type;
	bool zero_is_absent; /* not kept when 0: such lines would only be noise */
};

struct attr_table {
	unsigned header_len;
	const struct attr_field *fields;
	size_t n_fields;
	const struct attr_def *defs;
	size_t n_defs;
};

/* Number of a row that is never on the wire: the door itself adds it ("dev" of an address). */
#define ATTR_SYNTHETIC 0x10000u

/*
 * attr_parse, with the number of the line (from 1) that is wrong in *ret_line. With allow_remove, "name -" on the first
 * level gives an attribute for which attr_is_removal() is true.
 */
int attr_parse_lines(const struct attr_table *table, const char *text, size_t len, bool allow_remove,
		     struct arena *arena, const struct attr **ret_attrs, size_t *ret_line, struct fault *reterr);

bool attr_is_removal(const struct attr *attr);

/* `base` with the attributes that `change` names replaced, removed or added. Shares nodes' contents with both. */
const struct attr *attr_merge(const struct attr *base, const struct attr *change, struct arena *arena);

const struct attr *attr_copy(const struct attr *attrs, struct arena *arena);

/* `attrs` with a text attribute put in front. */
const struct attr *attr_prepend_text(const struct attr *attrs, const char *name, const char *text, struct arena *arena);

#endif
