/* SPDX-License-Identifier: Apache-2.0 */
/* Netlink datagrams into objects with keys. Pure: bytes come from wherever the caller has them. */
#ifndef SPARKFAB_FACTS_NL_REPLY_H
#define SPARKFAB_FACTS_NL_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/source.h"

struct nl_command;

/* NULL if there is none. */
const struct nl_command *nl_command_find(const char *family, const char *command);

/* Names of netdevs by index, for keys. */
struct nl_name {
	unsigned index;
	char name[16];
};

/* Order of the names, for qsort and bsearch: by index. */
int nl_name_compare(const void *a, const void *b);
struct nl_names {
	struct nl_name *items; /* sorted by index */
	size_t n;
};

struct nl_reply {
	const struct nl_command *command;
	const char *dev;   /* of the request; NULL for a dump */
	uint32_t seq;	   /* of the request: other messages are not ours */
	uint16_t type;	   /* of the answer's messages */
	const struct nl_names *names; /* may be NULL: then keys have "if7" */
	struct arena *arena;
	struct nl_object *objects;
	size_t n;
	bool interrupted;  /* the kernel says that what it dumped changed meanwhile */
	bool too_many;	   /* more objects than are kept; those beyond are not looked at */
};

/* Takes one datagram. 1: the answer is complete, 0: more is to come, -errno: the kernel's answer, or -EBADMSG. */
int nl_reply_read(struct nl_reply *reply, const void *data, size_t len);

/* Makes keys unique, whatever the order of arrival: equal ones get " #2", " #3" in the order of their content. */
void nl_reply_finish(struct nl_reply *reply);

#endif
