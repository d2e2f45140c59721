/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First contact: our agent's files here, and the one constant line that starts a matching agent on the other host or
 * asks for ours. The line tries the user's cache (named by content), then `sparkfab-agent` of the PATH if its version
 * is ours, and else says PROTOCOL_NEED and reads the file from its stdin.
 */
#ifndef SPARKFAB_PEER_BOOTSTRAP_H
#define SPARKFAB_PEER_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/fault.h"

#define AGENT_ID_SIZE  33 /* 32 hex digits of the file's SHA-256, and the NUL */
#define AGENT_FILE_MAX (64u << 20)

struct agent_file {
	const char *path;
	const char *arch; /* as uname -m says it */
	char id[AGENT_ID_SIZE];
};

struct agent_files {
	struct agent_file *items;
	size_t n;
	const char *looked_in; /* for messages */
};

/* Finds our agents, one an architecture, in `arena`: the file given, or sparkfab-agent and sparkfab-agent-ARCH beside
 * this program, in ../lib/sparkfab and in ../libexec/sparkfab. None is no error, unless `path` was given and cannot be
 * read. */
int agent_files_find(struct arena *arena, const char *path, struct agent_files *ret, struct fault *reterr);

const struct agent_file *agent_files_for(const struct agent_files *files, const char *arch);

/* The file as it goes over the wire: a line with its size in bytes, then the bytes. */
int agent_file_read(const struct agent_file *file, struct buf *out, struct fault *reterr);

/* The line for `sh -c`, constant for these files. Printable ASCII without ' ! and \ . */
const char *bootstrap_line(struct arena *arena, const struct agent_files *files, bool no_deploy);

/* What a reason of PROTOCOL_FAIL means, for people. Never NULL. */
const char *bootstrap_reason(const char *reason);

#endif
