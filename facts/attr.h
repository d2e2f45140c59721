/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Netlink attributes as a tree of names and values. One table a family (attr_tables.c; numbers from the kernel's uapi
 * headers) decodes a live message into the tree and reads the text form back into the same tree, so that the typed readers
 * see one thing, whatever the endianness and whoever sent it.
 */
#ifndef SPARKFAB_FACTS_ATTR_H
#define SPARKFAB_FACTS_ATTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/fault.h"
#include "core/value.h"

enum attr_type {
	ATTR_NEST,   /* children by the table given */
	ATTR_LIST,   /* a nest whose members are numbered entries of one kind: child names are "0", "1", … */
	ATTR_FLAG,   /* present or not: value 1 */
	ATTR_UINT,   /* 1, 2, 4 or 8 bytes, host order; num */
	ATTR_SINT,
	ATTR_HEX,    /* as ATTR_UINT, written 0x… (flags, GUIDs) */
	ATTR_BE16,
	ATTR_STRING, /* text */
	ATTR_IP,     /* 4 or 16 bytes; text as inet_ntop writes it */
	ATTR_MAC,    /* text: colon-separated hex of any length */
	ATTR_BYTES,  /* text: hex; also for what a table does not know, then named "#NUMBER" */
};

struct attr {
	const char *name;
	enum attr_type type;
	uint64_t num;	  /* UINT, SINT (sign-extended), HEX, BE16, FLAG */
	const char *text; /* STRING, IP, MAC, BYTES; also set for numbers, as written */
	const struct attr *child; /* NEST, LIST */
	const struct attr *next;  /* sibling, in message order */
};

/* First sibling-list member of that name; NULL if none (also for attrs NULL). A path "a/b/c" walks into nests. */
const struct attr *attr_find(const struct attr *attrs, const char *path);

/* Value with its errno: ENODATA if the attribute is not there, VALUE_MALFORMED if of another type. `origin` is kept as given. */
struct num attr_num(const struct attr *attrs, const char *path, const char *origin);
struct text attr_text(const struct attr *attrs, const char *path, const char *origin);

struct attr_table; /* opaque: one message's or nest's attributes */

/* The table of a message, by the names of the text form ("rtnl","link"); NULL if there is none. */
const struct attr_table *attr_table_find(const char *family, const char *command);

/* Raw netlink payload (the family's fixed header, if it has one, then attributes) into a tree. Total: never reads outside
 * [data, data+len), depth <= 8. -EBADMSG on a length that does not fit, on the first level; a single attribute whose payload
 * is not what the table says (or lies too deep) becomes "#NUMBER" with its bytes and does not cost the message. */
int attr_decode(const struct attr_table *table, const void *data, size_t len, struct arena *arena,
		const struct attr **ret_attrs);

/* The text form, one attribute a line, `indent` levels of two blanks. */
void attr_write(const struct attr *attrs, int indent, struct buf *out);

/* Lines of the text form (without the leading "nl …" line) into a tree. */
int attr_parse(const struct attr_table *table, const char *text, size_t len, struct arena *arena,
	       const struct attr **ret_attrs, struct fault *reterr);

#endif
