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
#define CHILD_INIT { .pidfd = -1, .in = -1, .out = -1, .err = -1 }

struct child_status {
	bool exited; /* by exit(): code; else by signal */
	int code;
	int signal;
};

/* Starts argv[0] (searched in the absolute folders of PATH). env NULL means ours. 0 or -errno (ENOENT: no such
 * program); then *ret holds no child. It dies with the thread that started it: start it from one that lives as long. */
int child_start(struct child *ret, const char *const argv[], char *const env[]);

/* Waits until it ends or the deadline passes (-ETIMEDOUT); on success the child is reaped, what is left of its group is
 * killed and ret_status filled. The pipes stay open: read what is left in them, then child_stop(). -ECHILD: no child. */
int child_wait(struct child *child, struct deadline deadline, struct child_status *ret_status);

/* Closes our ends, SIGTERM to its group, after grace_ms SIGKILL, reaps. Safe on a child that is gone or never started,
 * also on one that is all zeroes. Returns within grace_ms and two seconds even if the child cannot die. */
void child_stop(struct child *child, int grace_ms);

#endif
