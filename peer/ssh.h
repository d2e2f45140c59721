/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport as an argv, never through a shell here: the system's ssh with everything refused that a user's
 * configuration could add to it, or the words of --via. And what ssh's own last words mean.
 */
#ifndef SPARKFAB_PEER_SSH_H
#define SPARKFAB_PEER_SSH_H

#include "core/arena.h"
#include "core/fault.h"
#include "core/spawn.h"
#include "peer/peer.h"

/*
 * NULL-terminated argv in `arena` that runs `line` with the peer's sh. `name` is [USER@]HOST. `line` is printable ASCII
 * without ' ! and \, so that one pair of single quotes carries it through any login shell.
 *
 * `via` is split into words as a POSIX shell would, with quotes and backslashes but without any expansion; {host}
 * inside its words becomes HOST if {user} is there too, else NAME; {user} becomes USER. -EINVAL with a message.
 */
int transport_argv(struct arena *arena, const char *name, const char *via, const char *line,
		   const char *const **ret_argv, struct fault *reterr);

/* The environment given, without the locale: ssh would send it, and its messages are read here. NULL-terminated, in
 * `arena`. */
char **transport_env(struct arena *arena, char *const env[]);

/* What a transport that ended before the magic line died of, from its last words and its exit: kind and message. */
enum peer_fault transport_explain(const char *name, const char *via, const char *err, const struct child_status *status,
				  struct fault *reterr);

/* The last line of foreign text that is not empty, made visible, at most 200 bytes; "" if there is none. */
const char *text_last_line(struct arena *arena, const char *text);

#endif
