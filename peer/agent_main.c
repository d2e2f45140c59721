// SPDX-License-Identifier: Apache-2.0
/*
 * sparkfab-agent: what runs on the other host, started over ssh or --via, speaking docs/PROTOCOL.md on stdin and
 * stdout. It may be a forced command of a key (restrict,command="sparkfab-agent"). Before anything else it makes its
 * process plain: whatever the login left in it (environment, descriptors, signals, umask) has no part in what is
 * measured.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "peer/agent.h"

#define EXIT_USAGE 64

/* What readers below may need: programs and libraries are looked up, files of the user are found. */
static const char *const env_kept[] = { "PATH",  "HOME", "USER", "LOGNAME", "LD_LIBRARY_PATH", "XDG_RUNTIME_DIR",
					"TMPDIR" };
#define N_KEPT (sizeof(env_kept) / sizeof(env_kept[0]))

static void clean_environment(void)
{
	const char *values[N_KEPT];

	for (size_t i = 0; i < N_KEPT; i++)
		values[i] = getenv(env_kept[i]);
	clearenv();
	for (size_t i = 0; i < N_KEPT; i++)
		if (values[i])
			setenv(env_kept[i], values[i], 1);
	setenv("LC_ALL", "C", 1);
}

static void clean_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void clean_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) < 0)
			_exit(EXIT_USAGE);
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 3u, ~0u, 0u) == 0)
		return;
#endif
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

static void make_plain(void)
{
	const struct rlimit none = { 0 };

	clean_environment();
	clean_descriptors();
	clean_signals();
	umask(077);
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	if (chdir("/") < 0)
		return; /* nothing is opened by a relative name */
}

int main(int argc, char *argv[])
{
	make_plain();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		puts("sparkfab-agent " SPARKFAB_VERSION);
		return fflush(stdout) == 0 ? 0 : 74;
	}
	if (argc == 1 && isatty(STDIN_FILENO)) {
		fputs("sparkfab-agent: stdin is a terminal, which changes bytes: leave out -t\n", stderr);
		return EXIT_USAGE;
	}
	if (argc != 1) {
		fputs("sparkfab-agent: takes no arguments but --version; `sparkfab check --peer HOST` starts it\n", stderr);
		return EXIT_USAGE;
	}
	return agent_serve(STDIN_FILENO, STDOUT_FILENO);
}
