/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One peer's session as a state machine: started once, then advanced whenever one of its descriptors has something to
 * say or its deadline passes. Never blocks. peers.c drives all of them from one poll loop.
 */
#ifndef SPARKFAB_PEER_SESSION_H
#define SPARKFAB_PEER_SESSION_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <jansson.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/spawn.h"
#include "peer/bootstrap.h"
#include "peer/peer.h"
#include "peer/protocol.h"

#define SESSION_FDS 4 /* what session_fds() gives at most */

enum session_step {
	SESSION_NEW,
	SESSION_HUNT,    /* the start line runs: waits for the magic line, may be asked for the agent */
	SESSION_HELLO,   /* an agent runs */
	SESSION_READY,   /* between commands */
	SESSION_COMMAND, /* waits for the reply */
	SESSION_ENDING,  /* its output ended: waits a moment for its last words and exit status */
	SESSION_DEAD,
};

/* What all sessions of a run share. */
struct session_shared {
	struct arena *arena;
	const char *via;
	struct agent_files files;
	const char *line;
	char **env;
	int connect_ms, command_ms;
	bool no_deploy;
	peers_progress_fn *progress;
	void *progress_ctx;
};

struct peer_private {
	struct peer *peer;
	const struct session_shared *shared;
	enum session_step step;
	enum session_step ended_in; /* the step before SESSION_ENDING */
	struct child child;
	struct buf in;  /* from its stdout, not yet taken apart */
	struct buf out; /* for its stdin, from out_at on */
	size_t out_at;
	struct buf err; /* the last of its stderr */
	struct buf noise;
	struct buf data;            /* of the command in progress */
	bool in_closed, err_closed; /* its stdout, its stderr */
	struct deadline deadline;
	int64_t allowed_ms; /* what the deadline was made from, for the message */
	int64_t started_ns;
	const char *command;
	int id;
};

/* Starts the transport. */
void session_start(struct peer_private *session);

/* Writes a request and waits for its reply from then on; takes the reference of `args`. */
void session_request(struct peer_private *session, const char *command, json_t *args);

/* Starts the time for the request anew: this side was busy with something else. */
void session_renew(struct peer_private *session);

/* Does all that can be done without waiting. */
void session_advance(struct peer_private *session);

/* True while it waits for something. */
bool session_is_busy(const struct peer_private *session);

/* What to poll for; returns how many. */
size_t session_fds(const struct peer_private *session, struct pollfd fds[SESSION_FDS]);

/* BYE if there is an agent that can hear it, and closes its stdin; then session_release ends what is left. */
void session_bye(struct peer_private *session);
void session_release(struct peer_private *session, struct deadline grace);

#endif
