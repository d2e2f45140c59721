/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How talking to a peer went. It is a fact like any other: kept as `fact contact` in that peer's records, also when nothing
 * else of the peer is known, so that a verdict given live can be given again from what was recorded.
 */
#ifndef SPARKFAB_FACTS_CONTACT_H
#define SPARKFAB_FACTS_CONTACT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/value.h"
#include "facts/record.h"

/* Where the attempt ended. */
enum contact_fault {
	CONTACT_OK,
	CONTACT_TRANSPORT, /* ssh or --via failed: unknown host, refused, timed out */
	CONTACT_HOST_KEY,  /* ssh does not know the host key, or it changed */
	CONTACT_AUTH,	   /* permission denied */
	CONTACT_NO_AGENT,  /* none there and none may or can be copied */
	CONTACT_NOISE,	   /* too much, or only, foreign output where the protocol should start */
	CONTACT_VERSION,   /* an agent of another protocol version */
	CONTACT_SILENT,	   /* no answer before the deadline */
	CONTACT_CLOSED,	   /* ended in the middle */
	CONTACT_PROTOCOL,  /* what it sent breaks the protocol */
};

struct contact {
	const char *name; /* the --peer argument */
	enum contact_fault fault;
	bool agent_spoke;     /* an agent was started and began to speak; what failed came later */
	const char *message;  /* what happened, for people; NULL if CONTACT_OK */
	const char *detail;   /* the transport's own last words, made visible; NULL */
	const char *noise;    /* the start of the login noise before the protocol, made visible; NULL */
	size_t noise_len;     /* bytes of all of it */
	const char *transport; /* "ssh", or the --via command's first word */
	const char *agent_version, *agent_arch; /* NULL if it never said HELLO */
	bool deployed;	       /* our agent was copied there in this run */
	struct num connect_ns; /* until HELLO */
};

/* Keeps the contact as a fact of `records`. */
void contact_record(struct records *records, const struct contact *contact);

/* The contact that `records` hold, strings in `arena`; false if they hold none (a host recorded by itself). */
bool contact_from_records(const struct records *records, struct arena *arena, struct contact *ret);

#endif
