/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peers: hosts reached over ssh (or --via), each with one connection, one agent and a deadline on every wait. All peers go
 * forward together in one poll loop; nothing here blocks on one of them.
 */
#ifndef SPARKFAB_PEER_PEER_H
#define SPARKFAB_PEER_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

#include "core/clock.h"
#include "core/fault.h"
#include "facts/record.h"

struct peer_options {
	const char *via;	/* "ip netns exec {host}"; NULL: ssh */
	bool no_deploy;		/* never copy our agent */
	int connect_ms;		/* until HELLO, incl. copying the agent; 0: default 20000 */
	int command_ms;		/* a command without an answer; 0: default 15000 */
	const char *agent_path;	/* our agent's file; NULL: found beside the program */
};

/* Where contact ended. */
enum peer_phase {
	PEER_STARTING,	/* the transport could not be started */
	PEER_CONNECTING, /* no magic line yet */
	PEER_DEPLOYING,
	PEER_HELLO,
	PEER_READY,
	PEER_COMMAND,	/* in the middle of a command */
};

enum peer_fault {
	PEER_OK,
	PEER_FAULT_TRANSPORT,	/* ssh or via failed: unknown host, refused, timeout, transport's own stderr in detail */
	PEER_FAULT_HOST_KEY,	/* ssh does not know the key, or it changed */
	PEER_FAULT_AUTH,	/* permission denied */
	PEER_FAULT_NO_AGENT,	/* none there and none may be copied, or no agent for that architecture, or not executable */
	PEER_FAULT_NOISE,	/* more than 64 KiB before the magic line, or bytes that are no frame after it */
	PEER_FAULT_VERSION,	/* HELLO of another protocol version */
	PEER_FAULT_TIMEOUT,	/* silent */
	PEER_FAULT_CLOSED,	/* ended in the middle */
	PEER_FAULT_PROTOCOL,	/* frame over the limit, wrong type, bad JSON, more data than a snapshot may have */
};

struct peer {
	const char *name;	/* the --peer argument */
	const char *transport;	/* "ssh", or the first word of --via */
	enum peer_phase phase;
	enum peer_fault fault_kind;
	struct fault fault;	/* what happened, for people */
	char *detail;		/* the transport's stderr, its last 4 KiB, raw foreign text; NULL */
	char *noise;		/* what came before the magic line, raw; NULL */
	size_t noise_len;
	const char *agent_version, *agent_arch; /* from HELLO; safe characters only; NULL */
	struct fault command_fault; /* the last command was refused by an agent that is else well; err 0: it was not */
	bool deployed;		/* our agent was copied in this run */
	double connect_s;	/* until HELLO */
	struct records *records; /* what it sent so far; owned by the peer */
	struct peer_private *private_; /* session state */
};

struct peers;

/* Observer of progress, for the line on stderr; may be NULL. */
typedef void peers_progress_fn(void *ctx, const struct peer *peer, const char *what);

/* Names are checked (text_is_host_name) by the caller. Nothing is started yet. */
struct peers *peers_new(const char *const names[], size_t n, const struct peer_options *options,
			peers_progress_fn *progress, void *ctx);
struct peer *peers_get(struct peers *peers, size_t i); /* in the order of names */
size_t peers_count(const struct peers *peers);

/* Starts every peer's transport, and waits for none: what the caller does before peers_connect() costs no time of its own. */
void peers_start(struct peers *peers, const volatile bool *stop);

/* Connects to all, says HELLO. Starts those that peers_start() has not. Peers that fail have fault_kind set; that is no failure of the call. 0, or -EINTR if
 * *stop became true (a signal). */
int peers_connect(struct peers *peers, const volatile bool *stop);

/* Runs one command on every peer that is still well, in parallel. `args_of` gives the request's JSON object (new
 * reference; "do" and "id" are added), or NULL to leave that peer out. FRAME_DATA is snapshot text, parsed into
 * peer->records. Meanwhile `work` (may be NULL) is called once, to do the head's own part. */
typedef json_t *peers_args_fn(void *ctx, size_t i);
int peers_command(struct peers *peers, const char *command, peers_args_fn *args_of, void (*work)(void *ctx), void *ctx,
		  const volatile bool *stop);

/* BYE, short grace, then ends whatever transport is left. Safe at any time, also after a signal. */
struct peers *peers_free(struct peers *peers);

#endif
