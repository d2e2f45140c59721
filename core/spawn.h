/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes with a deadline. Only argv arrays, never a shell; every other descriptor is closed in the child; the
 * child leads a process group of its own so that nothing of it outlives us, and dies with us (PR_SET_PDEATHSIG).
 */
#ifndef SPARKFAB_CORE_SPAWN_H
#define SPARKFAB_CORE_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/clock.h"

struct child {
	pid_t pid;   /* 0: none */
	int pidfd;   /* -1: none */
	int in;	     /* our writing end of its stdin, O_NONBLOCK, or -1 */
	int out;     /* our reading end of its stdout, O_NONBLOCK, or -1 */
	int err;     /* our reading end of its stderr, O_NONBLOCK, or -1 */
};

struct child_status {
	bool exited; /* by exit(): code; else by signal */
	int code;
	int signal;
};

/* Starts argv[0] (searched in PATH). env NULL means ours. 0 or -errno (ENOENT: no such program). */
int child_start(struct child *ret, const char *const argv[], char *const env[]);

/* Waits until it ends or the deadline passes (-ETIMEDOUT); on success the child is reaped and ret_status filled. */
int child_wait(struct child *child, struct deadline deadline, struct child_status *ret_status);

/* Closes our ends, SIGTERM to its group, after grace_ms SIGKILL, reaps. Safe on a child that is gone or was never started. */
void child_stop(struct child *child, int grace_ms);

#endif
