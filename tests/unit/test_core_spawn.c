// SPDX-License-Identifier: Apache-2.0
/* Children: pipes, deadlines, and that nothing of them is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/spawn.h"

#define ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define SH(script) ARGV("sh", "-c", script)

/* Reads until the other side closes, 10 s at most. */
static void read_all(int fd, struct buf *out)
{
	struct deadline deadline = deadline_in_ms(10000);
	char chunk[512];

	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		ssize_t n;

		assert_int_equal(poll(&pfd, 1, deadline_poll_ms(deadline)), 1);
		n = read(fd, chunk, sizeof(chunk));
		if (n <= 0)
			return;
		buf_add(out, chunk, (size_t)n);
	}
}

static pid_t read_pid(int fd)
{
	cleanup_buf struct buf text = BUF_INIT;
	char c = 0;

	while (c != '\n') {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };

		assert_int_equal(poll(&pfd, 1, 10000), 1);
		assert_int_equal(read(fd, &c, 1), 1);
		buf_addc(&text, c);
	}
	return (pid_t)atoi(buf_str(&text));
}

/* Whether the process ends within 5 s; a zombie that its new parent has not reaped yet has ended. */
static bool ends(pid_t pid)
{
	for (int i = 0; i < 500; i++) {
		cleanup_buf struct buf path = BUF_INIT;
		char stat[200] = { 0 };
		const char *state;
		int fd;

		buf_addf(&path, "/proc/%d/stat", (int)pid);
		fd = open(buf_str(&path), O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return true;
		if (read(fd, stat, sizeof(stat) - 1) <= 0) {
			close(fd);
			return true;
		}
		close(fd);
		state = strrchr(stat, ')');
		if (state && state[2] == 'Z')
			return true;
		usleep(10000);
	}
	return false;
}

static void run(const char *const argv[], char *const env[], const char *want_out, const char *want_err, int want_code)
{
	cleanup_buf struct buf out = BUF_INIT, err = BUF_INIT;
	struct child child;
	struct child_status status = { 0 };

	assert_int_equal(child_start(&child, argv, env), 0);
	close(child.in);
	child.in = -1;
	read_all(child.out, &out);
	read_all(child.err, &err);
	assert_int_equal(child_wait(&child, deadline_in_ms(10000), &status), 0);
	assert_true(status.exited);
	assert_int_equal(status.code, want_code);
	assert_string_equal(buf_str(&out), want_out);
	assert_string_equal(buf_str(&err), want_err);
	assert_int_equal(child.pid, 0);
	assert_int_equal(child.pidfd, -1);
	child_stop(&child, 0);
	assert_int_equal(child.out, -1);
}

static void test_output_and_code(void **state)
{
	char setting[] = "COLOUR=blue";
	char *env[] = { setting, NULL };

	(void)state;
	run(SH("echo out; echo err >&2; exit 7"), NULL, "out\n", "err\n", 7);
	run(SH("echo $COLOUR"), env, "blue\n", "", 0);
	run(ARGV("/bin/echo", "a b", "$(x)", ""), NULL, "a b $(x) \n", "", 0);
}

static void test_input_reaches_it(void **state)
{
	cleanup_buf struct buf out = BUF_INIT;
	struct child child;
	struct child_status status;

	(void)state;
	assert_int_equal(child_start(&child, ARGV("cat"), NULL), 0);
	assert_true(fcntl(child.in, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(child.out, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(child.err, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(child.in, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(write(child.in, "hello", 5), 5);
	close(child.in);
	child.in = -1;
	read_all(child.out, &out);
	assert_string_equal(buf_str(&out), "hello");
	assert_int_equal(child_wait(&child, deadline_in_ms(10000), &status), 0);
	child_stop(&child, 0);
}

static void test_what_cannot_be_started(void **state)
{
	char path[] = "/tmp/sparkfab-spawn-XXXXXX";
	struct child child;
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(write(fd, "echo by a shell\n", 16), 16);
	close(fd);
	assert_int_equal(child_start(&child, ARGV("no-such-program-here"), NULL), -ENOENT);
	assert_int_equal(child.pid, 0);
	assert_int_equal(child.in, -1);
	assert_int_equal(child_start(&child, ARGV("/nonexistent/x"), NULL), -ENOENT);
	assert_int_equal(child_start(&child, ARGV(""), NULL), -ENOENT);
	assert_int_equal(child_start(&child, ARGV("/"), NULL), -EACCES);
	assert_int_equal(child_start(&child, ARGV(path), NULL), -EACCES);
	/* execvp() would give this one to /bin/sh. */
	chmod(path, 0700);
	assert_int_equal(child_start(&child, ARGV(path), NULL), -ENOEXEC);
	unlink(path);
	child_stop(&child, 1000);
}

static void test_only_absolute_parts_of_the_path_count(void **state)
{
	char *saved = strdup(getenv("PATH"));
	struct child child;

	(void)state;
	assert_int_equal(chdir("/bin"), 0);
	setenv("PATH", ":.:/nonexistent:", 1);
	assert_int_equal(child_start(&child, ARGV("true"), NULL), -ENOENT);
	setenv("PATH", ".:/nonexistent:/usr/bin:/bin", 1);
	run(ARGV("true"), NULL, "", "", 0);
	unsetenv("PATH");
	run(ARGV("true"), NULL, "", "", 0);
	setenv("PATH", saved, 1);
	free(saved);
}

/* ls has its folder open as a descriptor of its own, 3. */
static void test_other_descriptors_are_closed(void **state)
{
	int open_fds[3];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		open_fds[i] = open("/dev/null", O_RDONLY); /* inheritable */
	assert_int_equal(dup2(open_fds[0], 200), 200);
	run(ARGV("ls", "/proc/self/fd"), NULL, "0\n1\n2\n3\n", "", 0);
	close(200);
	for (size_t i = 0; i < 3; i++)
		close(open_fds[i]);
}

/* A program of ours may be started with its standard descriptors closed; the child must have its own nevertheless. */
static void test_with_our_own_stdio_closed(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		char text[8] = { 0 };
		struct child child;
		struct child_status ended;

		close(0);
		close(1);
		close(2);
		if (child_start(&child, SH("read x; echo $x"), NULL))
			_exit(1);
		if (write(child.in, "abc\n", 4) != 4 || child_wait(&child, deadline_in_ms(10000), &ended))
			_exit(2);
		if (read(child.out, text, 7) != 4 || strcmp(text, "abc\n"))
			_exit(3);
		child_stop(&child, 0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_signals_are_the_default_ones(void **state)
{
	sigset_t set, old;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	/* Signals 32 and 33 are the C library's own: some launchers leave them ignored, and nobody can set them back. */
	run(ARGV("sed", "-nE", "s/^(Sig(Blk|Ign):).(0{16}|0000000180000000)$/\\1 none/p", "/proc/self/status"), NULL,
	    "SigBlk: none\nSigIgn: none\n", "", 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGPIPE, SIG_DFL);
}

static void test_deadline(void **state)
{
	int64_t begin = clock_boot_ns();
	struct child_status status = { 0 };
	struct child child;
	pid_t pid;

	(void)state;
	assert_int_equal(child_start(&child, ARGV("sleep", "100"), NULL), 0);
	pid = child.pid;
	assert_int_equal(getpgid(pid), pid);
	assert_int_equal(child_wait(&child, deadline_in_ms(50), &status), -ETIMEDOUT);
	assert_true(clock_boot_ns() - begin >= 50 * 1000000ll);
	assert_int_equal(child.pid, pid);
	child_stop(&child, 5000);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(child.pid, 0);
	assert_int_equal(child.pidfd, -1);
	assert_int_equal(child.in, -1);
	/* It took the SIGTERM, so the grace was not needed. */
	assert_true(clock_boot_ns() - begin < 4000 * 1000000ll);
	child_stop(&child, 5000);
	assert_int_equal(child_wait(&child, deadline_in_ms(50), &status), -ECHILD);
}

static void test_end_by_signal(void **state)
{
	struct child_status status = { 0 };
	struct child child;

	(void)state;
	assert_int_equal(child_start(&child, SH("kill -USR1 $$"), NULL), 0);
	assert_int_equal(child_wait(&child, deadline_in_ms(10000), &status), 0);
	assert_false(status.exited);
	assert_int_equal(status.signal, SIGUSR1);
	child_stop(&child, 0);
}

static void test_stop_ends_a_stubborn_family(void **state)
{
	struct child child;
	pid_t leader, grandchild;

	(void)state;
	assert_int_equal(child_start(&child, SH("trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & "
						"echo $!; while :; do sleep 1; done"), NULL), 0);
	leader = child.pid;
	grandchild = read_pid(child.out);
	assert_int_equal(kill(grandchild, 0), 0);
	child_stop(&child, 50);
	assert_int_equal(kill(leader, 0), -1);
	assert_true(ends(grandchild));
}

static void test_stop_ends_a_frozen_one(void **state)
{
	int64_t begin = clock_boot_ns();
	struct child child;
	pid_t pid;

	(void)state;
	assert_int_equal(child_start(&child, ARGV("sleep", "100"), NULL), 0);
	pid = child.pid;
	kill(pid, SIGSTOP);
	child_stop(&child, 5000);
	assert_int_equal(kill(pid, 0), -1);
	assert_true(clock_boot_ns() - begin < 4000 * 1000000ll);
}

static void test_a_grandchild_does_not_outlive_the_leader(void **state)
{
	struct child_status status;
	struct child child;
	pid_t grandchild;

	(void)state;
	assert_int_equal(child_start(&child, SH("sleep 100 & echo $!"), NULL), 0);
	grandchild = read_pid(child.out);
	assert_int_equal(child_wait(&child, deadline_in_ms(10000), &status), 0);
	assert_true(status.exited);
	assert_true(ends(grandchild));
	child_stop(&child, 0);
}

static void test_it_dies_with_us(void **state)
{
	pid_t us, child_pid = 0;
	int pair[2];

	(void)state;
	assert_int_equal(pipe(pair), 0);
	us = fork();
	if (!us) {
		struct child child;

		if (child_start(&child, ARGV("sleep", "100"), NULL) ||
		    write(pair[1], &child.pid, sizeof(child.pid)) != sizeof(child.pid))
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(pair[0], &child_pid, sizeof(child_pid)), sizeof(child_pid));
	kill(us, SIGKILL);
	waitpid(us, NULL, 0);
	assert_true(ends(child_pid));
	close(pair[0]);
	close(pair[1]);
}

/* Kernels before 5.3 have no pidfd. */
static void test_without_a_pidfd(void **state)
{
	struct child_status status = { 0 };
	struct child child;

	(void)state;
	assert_int_equal(child_start(&child, SH("sleep 0.1; exit 3"), NULL), 0);
	close(child.pidfd);
	child.pidfd = -1;
	assert_int_equal(child_wait(&child, deadline_in_ms(20), &status), -ETIMEDOUT);
	assert_int_equal(child_wait(&child, deadline_in_ms(10000), &status), 0);
	assert_int_equal(status.code, 3);
	child_stop(&child, 0);
}

/* Answers ENOSYS to the calls that older kernels lack: pidfd_open (434) and close_range (436). */
static int become_old(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 434, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

static void test_on_an_old_kernel(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		struct child_status ended = { 0 };
		struct child child;
		char text[64] = { 0 };

		if (become_old() < 0)
			_exit(77);
		for (int fd = 100; fd < 300; fd++)
			dup2(0, fd);
		if (child_start(&child, ARGV("ls", "/proc/self/fd"), NULL) || child.pidfd != -1)
			_exit(1);
		if (child_wait(&child, deadline_in_ms(10000), &ended) || !ended.exited || ended.code)
			_exit(2);
		if (read(child.out, text, sizeof(text) - 1) <= 0 || strcmp(text, "0\n1\n2\n3\n"))
			_exit(3);
		child_stop(&child, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) /* seccomp is not allowed here */
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_stop_of_what_never_started(void **state)
{
	struct child zeroed = { 0 }, empty = CHILD_INIT;

	(void)state;
	child_stop(&zeroed, 1000);
	child_stop(&empty, 1000);
	assert_true(fcntl(0, F_GETFD) >= 0); /* stdin is still there */
}

static void test_no_descriptor_is_left(void **state)
{
	int before = dup(0), after;

	(void)state;
	close(before);
	for (int i = 0; i < 20; i++) {
		struct child child;

		run(ARGV("true"), NULL, "", "", 0);
		assert_int_equal(child_start(&child, ARGV("/bin"), NULL), -EACCES);
		assert_int_equal(child_start(&child, ARGV("cat"), NULL), 0);
		child_stop(&child, 1000);
	}
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_and_code),
		cmocka_unit_test(test_input_reaches_it),
		cmocka_unit_test(test_what_cannot_be_started),
		cmocka_unit_test(test_only_absolute_parts_of_the_path_count),
		cmocka_unit_test(test_other_descriptors_are_closed),
		cmocka_unit_test(test_with_our_own_stdio_closed),
		cmocka_unit_test(test_signals_are_the_default_ones),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_end_by_signal),
		cmocka_unit_test(test_stop_ends_a_stubborn_family),
		cmocka_unit_test(test_stop_ends_a_frozen_one),
		cmocka_unit_test(test_a_grandchild_does_not_outlive_the_leader),
		cmocka_unit_test(test_it_dies_with_us),
		cmocka_unit_test(test_without_a_pidfd),
		cmocka_unit_test(test_on_an_old_kernel),
		cmocka_unit_test(test_stop_of_what_never_started),
		cmocka_unit_test(test_no_descriptor_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
