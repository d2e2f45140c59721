// SPDX-License-Identifier: Apache-2.0
/*
 * Reaching a neighbour, between two network namespaces of our own with a veth pair: who answers, who does not, and who
 * only was known before. Skipped where namespaces or `ip` are not to be had.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/record.h"
#include "facts/source.h"
#include "perf/reach.h"

/* The other host: a process in a namespace of its own. It obeys one-letter orders, each answered by a letter. */
struct other {
	pid_t pid;
	int fds[2]; /* ours, its */
};

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool enter_namespaces(void)
{
	char map[64];
	unsigned uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return false;
	write_file("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	if (!write_file("/proc/self/uid_map", map))
		return false;
	snprintf(map, sizeof(map), "0 %u 1", gid);
	return write_file("/proc/self/gid_map", map);
}

/* From now on neither echo nor refusal: as behind a firewall. */
static bool fall_silent(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(9) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return write_file("/proc/sys/net/ipv4/icmp_echo_ignore_all", "1") && fd >= 0 &&
	       bind(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0;
}

static void other_main(int fd)
{
	char order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, &order, 1) == 1) {
		bool ok = false;

		if (order == 'n')
			ok = unshare(CLONE_NEWNET) == 0;
		else if (order == 'u')
			ok = system("ip addr add 10.9.0.2/24 dev v1 && ip -6 addr add fd00::2/64 dev v1 nodad && ip "
				    "link set v1 up") == 0;
		else if (order == 's')
			ok = fall_silent();
		else if (order == 'd')
			ok = system("ip link set v1 down") == 0;
		if (write(fd, ok ? "y" : "n", 1) != 1)
			break;
	}
	_exit(0);
}

static bool tell(struct other *other, char order)
{
	char answer = 'n';

	return write(other->fds[0], &order, 1) == 1 && read(other->fds[0], &answer, 1) == 1 && answer == 'y';
}

/* Both ends with a cable between them; false: not possible here. */
static bool cable(struct other *other)
{
	char command[200];

	if (system("ip -V >/dev/null 2>&1") != 0 || !enter_namespaces() ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, other->fds) < 0)
		return false;
	other->pid = fork();
	if (other->pid == 0)
		other_main(other->fds[1]);
	snprintf(
		command, sizeof(command),
		"ip link add v0 type veth peer name v1 && ip link set v1 netns %d && ip addr add 10.9.0.1/24 dev v0 && "
		"ip -6 addr add fd00::1/64 dev v0 nodad && ip link set v0 up",
		(int)other->pid);
	return tell(other, 'n') && system(command) == 0 && tell(other, 'u');
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (syscall(SYS_capset, &header, none) < 0)
		_exit(70);
}

/* Probes one target; its state, and "how" or "error". */
static const char *probe(const char *dev, const char *addr, int ms, char *why, size_t size)
{
	struct records *records = records_new();
	struct source *source = source_recorder_new(source_live_new("/"), records);
	const struct reach_target target = { dev, addr };
	static char state[32];
	char key[128];
	const struct record *record;
	const char *text;

	if (reach_probe(source, &target, 1, deadline_in_ms(ms)) < 0)
		_exit(71);
	snprintf(key, sizeof(key), "probe/neigh/%s/%s", dev, addr);
	record = records_find(records, RECORD_FACT, key, 1);
	if (!record)
		_exit(72);
	snprintf(state, sizeof(state), "%s", json_string_value(json_object_get(record->json, "state")));
	text = json_string_value(json_object_get(record->json, strcmp(state, "reachable") == 0 ? "how" : "error"));
	snprintf(why, size, "%s", text ? text : "");
	source_free(source);
	records_free(records);
	return state;
}

static int n_wrong;

static void expect(const char *dev, const char *addr, int ms, const char *state, const char *why)
{
	char got_why[200];
	const char *got = probe(dev, addr, ms, got_why, sizeof(got_why));

	if (strcmp(got, state) == 0 && strstr(got_why, why))
		return;
	fprintf(stderr, "%s %s: %s (%s), wanted %s (%s)\n", dev, addr, got, got_why, state, why);
	n_wrong++;
}

/* In a child without any capability. */
static void expect_plain(const char *dev, const char *addr, int ms, const char *state, const char *why)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		n_wrong = 0;
		drop_capabilities();
		expect(dev, addr, ms, state, why);
		_exit(n_wrong);
	}
	waitpid(pid, &status, 0);
	n_wrong += status != 0;
}

/* 200: cannot be tried here. */
static int scenario(void)
{
	struct other other;

	if (!cable(&other))
		return 200;
	expect("v0", "10.9.0.2", 3000, "reachable", "");
	expect_plain("v0", "10.9.0.2", 3000, "reachable", "");
	expect("v0", "fd00::2", 3000, "reachable", "");
	expect("v0", "10.9.0.77", 700, "failed", "nobody answered ARP");
	expect("v0", "fd00::77", 700, "failed", "nobody answered neighbour discovery");
	expect("nosuch0", "10.9.0.2", 700, "error", "no such netdev");
	expect("v0", "nonsense", 700, "error", "not an IP address");
	if (!tell(&other, 's'))
		return 201;
	/* It was confirmed a moment ago, but does not answer now: that is no proof. */
	expect_plain("v0", "10.9.0.2", 700, "error", "known from before");
	if (system("ip neigh flush dev v0") != 0)
		return 202;
	expect_plain("v0", "10.9.0.2", 3000, "reachable", "neighbour");
	if (!tell(&other, 'd'))
		return 203;
	n_wrong += strcmp(probe("v0", "10.9.0.2", 700, (char[200]){ 0 }, 200), "reachable") == 0;
	kill(other.pid, SIGKILL);
	return n_wrong;
}

static void neighbours_are_told_apart(void **state)
{
	pid_t pid = fork();
	int status = 0;

	(void)state;
	if (pid == 0)
		_exit(scenario());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 200)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void only_a_live_host_is_probed(void **state)
{
	struct records *records = records_new();
	struct source *source = source_memory_new(records);
	const struct reach_target target = { "eth0", "10.0.0.1" };

	(void)state;
	assert_int_equal(reach_probe(source, &target, 1, deadline_in_ms(100)), -EPERM);
	source_free(source);
	records_free(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours_are_told_apart),
		cmocka_unit_test(only_a_live_host_is_probed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
