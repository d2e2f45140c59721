// SPDX-License-Identifier: Apache-2.0
/*
 * Children by fork and exec, since PR_SET_PDEATHSIG and closing every other descriptor are beyond posix_spawn.
 * Between fork and exec only async-signal-safe calls are made: other threads of ours may hold the locks of malloc.
 */
#include "core/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Numbers that are the same on every architecture; libc's headers may be older than the kernel that runs. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define FIRST_FREE_FD 3
#define EXIT_NOT_STARTED 127
#define AFTER_KILL_MS 2000 /* a process in the kernel's D state may not end; then we do not wait for it */
#define NAP_MS 10	   /* between two looks at a child where the kernel has no pidfd */

/* All that a child is made of; every descriptor is above 2, so that dup2() onto 0 to 2 hits none of them. */
struct plumbing {
	int in[2], out[2], err[2]; /* pipes: reading end, writing end */
	int failed[2];		   /* carries the errno of a failed exec; closed by a good one */
	pid_t parent;
	const char *path;
	const char *const *argv;
	char *const *env;
};

static void close_fd(int *fd)
{
	/* 0 to 2 are never ours, and a struct child that was only zeroed has them. */
	if (*fd >= FIRST_FREE_FD)
		close(*fd);
	*fd = -1;
}

static void close_pair(int pair[2])
{
	close_fd(&pair[0]);
	close_fd(&pair[1]);
}

/* A pipe with both ends above 2 even if our own stdin, stdout or stderr is closed. */
static int open_pipe(int pair[2])
{
	int low[2];
	int r = 0;

	if (pipe2(low, O_CLOEXEC) < 0)
		return -errno;
	for (int i = 0; i < 2; i++) {
		pair[i] = low[i];
		if (low[i] >= FIRST_FREE_FD)
			continue;
		pair[i] = fcntl(low[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
		if (pair[i] < 0)
			r = -errno;
		close(low[i]);
	}
	return r;
}

static int plumbing_open(struct plumbing *p)
{
	int *const pairs[] = { p->in, p->out, p->err, p->failed };
	int r = 0;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		pairs[i][0] = pairs[i][1] = -1;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]) && !r; i++)
		r = open_pipe(pairs[i]);
	/* Only our ends: O_NONBLOCK belongs to the open file, and a child does not expect it on its own. */
	if (!r && (fcntl(p->in[1], F_SETFL, O_NONBLOCK) < 0 || fcntl(p->out[0], F_SETFL, O_NONBLOCK) < 0 ||
		   fcntl(p->err[0], F_SETFL, O_NONBLOCK) < 0))
		r = -errno;
	return r;
}

static void plumbing_close(struct plumbing *p)
{
	close_pair(p->in);
	close_pair(p->out);
	close_pair(p->err);
	close_pair(p->failed);
}

static int check_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/*
 * Not execvp(): it gives a file that the kernel does not know to /bin/sh, and an empty part of PATH means the current
 * folder there. Only absolute parts count here.
 */
static int find_program(const char *name, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	int result = -ENOENT;

	if (!*name || strlen(name) >= PATH_MAX)
		return -ENOENT;
	if (strchr(name, '/')) {
		memcpy(path, name, strlen(name) + 1);
		return check_program(path);
	}
	for (const char *dir = dirs ? dirs : "/usr/bin:/bin"; *dir;) {
		size_t len = strcspn(dir, ":");
		int r = -ENOENT;

		if (*dir == '/' && len < PATH_MAX &&
		    snprintf(path, PATH_MAX, "%.*s/%s", (int)len, dir, name) < PATH_MAX)
			r = check_program(path);
		if (!r)
			return 0;
		if (r == -EACCES)
			result = r;
		dir += len + (dir[len] == ':');
	}
	return result;
}

/* By /proc/self/fd without opendir(), which allocates. Closing while reading may skip entries, so it starts over. */
static void close_listed_from(unsigned int first)
{
	struct linux_dirent64 {
		uint64_t ino;
		int64_t off;
		unsigned short reclen;
		unsigned char type;
		char name[];
	};
	_Alignas(8) char chunk[1024];
	int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool closed = dir >= 0;

	while (closed) {
		long n;

		closed = false;
		lseek(dir, 0, SEEK_SET);
		while ((n = syscall(SYS_getdents64, dir, chunk, sizeof(chunk))) > 0) {
			for (long at = 0; at < n;) {
				const struct linux_dirent64 *entry = (const void *)(chunk + at);
				unsigned int fd = 0;

				for (const char *c = entry->name; *c >= '0' && *c <= '9'; c++)
					fd = fd * 10 + (unsigned int)(*c - '0');
				if (fd >= first && fd != (unsigned int)dir && !close((int)fd))
					closed = true;
				at += entry->reclen;
			}
		}
	}
	if (dir >= 0)
		close(dir);
}

static void close_from(unsigned int first)
{
	if (syscall(SYS_close_range, first, ~0u, 0u) < 0) /* Linux 5.9 */
		close_listed_from(first);
}

static _Noreturn void child_fail(int fd)
{
	int err = errno;
	ssize_t ignored = write(fd, &err, sizeof(err));

	(void)ignored;
	_exit(EXIT_NOT_STARTED);
}

/* A program starts with the signals that it expects: what we ignore or block, it would too. */
static void reset_signals(void)
{
	static const int ours[] = { SIGPIPE, SIGINT, SIGTERM, SIGCHLD };
	sigset_t none;

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		signal(ours[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void run_child(const struct plumbing *p)
{
	int failed = p->failed[1];

	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		child_fail(failed);
	/* It may have died before that call; then nobody reads our exit status. */
	if (getppid() != p->parent)
		_exit(EXIT_NOT_STARTED);
	reset_signals();
	if (dup2(p->in[0], 0) < 0 || dup2(p->out[1], 1) < 0 || dup2(p->err[1], 2) < 0)
		child_fail(failed);
	if (failed != FIRST_FREE_FD) {
		if (dup3(failed, FIRST_FREE_FD, O_CLOEXEC) < 0)
			child_fail(failed);
		failed = FIRST_FREE_FD;
	}
	close_from(FIRST_FREE_FD + 1);
	execve(p->path, (char *const *)p->argv, p->env); /* writes to no string: its prototype is older than const */
	child_fail(failed);
}

/* 0, or the -errno that stopped the child before its program ran. */
static int read_failure(int fd)
{
	int err = 0;
	ssize_t n;

	do {
		n = read(fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(err) ? -err : 0;
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static int start(struct plumbing *p, struct child *ret)
{
	pid_t pid;
	int r;

	p->parent = getpid();
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		run_child(p);
	/* Both sides do it, so that the group is there whichever runs first. */
	setpgid(pid, pid);
	close_fd(&p->failed[1]);
	r = read_failure(p->failed[0]);
	if (r < 0) {
		reap(pid);
		return r;
	}
	ret->pid = pid;
	ret->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* -1 before Linux 5.3: child_wait() looks again and again */
	ret->in = p->in[1];
	ret->out = p->out[0];
	ret->err = p->err[0];
	p->in[1] = p->out[0] = p->err[0] = -1;
	return 0;
}

int child_start(struct child *ret, const char *const argv[], char *const env[])
{
	char path[PATH_MAX];
	struct plumbing p = { .path = path, .argv = argv, .env = env ? env : environ };
	int r;

	*ret = (struct child)CHILD_INIT;
	r = find_program(argv[0], path);
	if (r < 0)
		return r;
	r = plumbing_open(&p);
	if (!r)
		r = start(&p, ret);
	plumbing_close(&p);
	return r;
}

/* Waits for the end without reaping, so that pid and group stay ours. 0, -ETIMEDOUT or -errno. */
static int wait_end(const struct child *child, struct deadline deadline, siginfo_t *info)
{
	for (;;) {
		struct pollfd pfd = { .fd = child->pidfd, .events = POLLIN };
		int left = deadline_poll_ms(deadline);

		*info = (siginfo_t){ 0 };
		if (waitid(P_PID, (id_t)child->pid, info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno != EINTR)
			return -errno;
		if (info->si_pid)
			return 0;
		if (!left)
			return -ETIMEDOUT;
		if (child->pidfd >= FIRST_FREE_FD)
			poll(&pfd, 1, left);
		else
			poll(NULL, 0, left < 0 || left > NAP_MS ? NAP_MS : left);
	}
}

/* The leader is dead but not reaped: no other process can have its number. What is left of its group ends here. */
static void finish(struct child *child)
{
	kill(-child->pid, SIGKILL);
	reap(child->pid);
	child->pid = 0;
	close_fd(&child->pidfd);
}

int child_wait(struct child *child, struct deadline deadline, struct child_status *ret_status)
{
	siginfo_t info;
	int r;

	if (child->pid <= 0)
		return -ECHILD;
	r = wait_end(child, deadline, &info);
	if (r == -ECHILD) { /* somebody reaped it: the number may be another process' by now */
		child->pid = 0;
		close_fd(&child->pidfd);
	}
	if (r < 0)
		return r;
	finish(child);
	*ret_status = (struct child_status){ .exited = info.si_code == CLD_EXITED };
	if (ret_status->exited)
		ret_status->code = info.si_status;
	else
		ret_status->signal = info.si_status;
	return 0;
}

void child_stop(struct child *child, int grace_ms)
{
	siginfo_t info;
	int r;

	close_fd(&child->in);
	close_fd(&child->out);
	close_fd(&child->err);
	if (child->pid > 0) {
		kill(-child->pid, SIGTERM);
		kill(-child->pid, SIGCONT); /* a stopped process takes no SIGTERM */
		r = wait_end(child, deadline_in_ms(grace_ms), &info);
		if (r == -ETIMEDOUT) {
			kill(-child->pid, SIGKILL);
			r = wait_end(child, deadline_in_ms(AFTER_KILL_MS), &info);
		}
		if (!r)
			finish(child);
	}
	close_fd(&child->pidfd);
	child->pid = 0;
}
