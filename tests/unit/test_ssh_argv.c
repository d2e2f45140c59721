// SPDX-License-Identifier: Apache-2.0
/* How the other host is reached: the words of ssh and of --via, the start line's alphabet, and what ssh's last words
 * mean. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "peer/bootstrap.h"
#include "peer/ssh.h"

static size_t count(const char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	return n;
}

static bool has_option(const char *const *argv, const char *option)
{
	for (size_t i = 0; argv[i] && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "-o") == 0 && strcmp(argv[i + 1], option) == 0)
			return true;
	return false;
}

static void ssh_is_told_to_be_plain(void **state)
{
	static const char *const wanted[] = {
		"BatchMode=yes",           "StrictHostKeyChecking=yes", "ForwardAgent=no",   "ForwardX11=no",
		"ClearAllForwardings=yes", "PermitLocalCommand=no",     "RequestTTY=no",     "RemoteCommand=none",
		"ControlMaster=no",        "ControlPath=none",          "LogLevel=ERROR",    "ConnectTimeout=10",
		"ServerAliveInterval=5",   "ServerAliveCountMax=3",     "UpdateHostKeys=no",
	};
	struct arena *arena = arena_new();
	const char *const *argv;
	size_t n;

	(void)state;
	assert_int_equal(transport_argv(arena, "worker", NULL, "true", &argv, NULL), 0);
	n = count(argv);
	assert_string_equal(argv[0], "ssh");
	assert_string_equal(argv[1], "-T");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		assert_true(has_option(argv, wanted[i]));
	assert_string_equal(argv[n - 3], "--");
	assert_string_equal(argv[n - 2], "worker");
	assert_string_equal(argv[n - 1], "exec sh -c 'true'");
	assert_int_equal(transport_argv(arena, "nv@10.0.0.2", NULL, "true", &argv, NULL), 0);
	n = count(argv);
	assert_string_equal(argv[n - 5], "-l");
	assert_string_equal(argv[n - 4], "nv");
	assert_string_equal(argv[n - 3], "--");
	assert_string_equal(argv[n - 2], "10.0.0.2");
	arena_free(arena);
}

static void hostile_names_never_reach_ssh(void **state)
{
	static const char *const names[] = {
		"-oProxyCommand=touch x", "a b", "", "a;b", "-l@host", "u@-h", "$(x)", "a\nb", "@h", "u@"
	};
	struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *const *argv;
		struct fault fault = { 0 };

		assert_int_equal(transport_argv(arena, names[i], NULL, "true", &argv, &fault), -EINVAL);
		assert_int_equal(transport_argv(arena, names[i], "env {host}", "true", &argv, &fault), -EINVAL);
		assert_true(fault.msg[0]);
	}
	arena_free(arena);
}

static void assert_via(const char *name, const char *via, const char *const want[])
{
	struct arena *arena = arena_new();
	const char *const *argv;
	size_t i;

	assert_int_equal(transport_argv(arena, name, via, "LINE", &argv, NULL), 0);
	for (i = 0; want[i]; i++) {
		assert_non_null(argv[i]);
		assert_string_equal(argv[i], want[i]);
	}
	assert_null(argv[i]);
	arena_free(arena);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void via_is_split_like_a_shell_would(void **state)
{
	(void)state;
	assert_via("w", "ip netns exec {host}", WORDS("ip", "netns", "exec", "w", "sh", "-c", "LINE"));
	assert_via("w", "  a\tb\n", WORDS("a", "b", "sh", "-c", "LINE"));
	assert_via("w", "a 'b  {host}' \"c'd\" e\\ f g\"\"h ''",
		   WORDS("a", "b  w", "c'd", "e f", "gh", "", "sh", "-c", "LINE"));
	assert_via("w", "a \"b\\\"c\\d\" 'e\\'", WORDS("a", "b\"c\\d", "e\\", "sh", "-c", "LINE"));
	assert_via("w", "a $HOME `id` *", WORDS("a", "$HOME", "`id`", "*", "sh", "-c", "LINE"));
	assert_via("w", "x{host}y{host}", WORDS("xwyw", "sh", "-c", "LINE"));
	assert_via("u@w", "ssh -p 2222 {host}", WORDS("ssh", "-p", "2222", "u@w", "exec sh -c 'LINE'"));
	assert_via("u@w", "/usr/bin/ssh {host}", WORDS("/usr/bin/ssh", "u@w", "exec sh -c 'LINE'"));
	assert_via("u@w", "docker exec -u {user} -i {host}",
		   WORDS("docker", "exec", "-u", "u", "-i", "w", "sh", "-c", "LINE"));
}

static void broken_via_is_refused(void **state)
{
	static const char *const bad[] = { "", "  ", "a 'b", "a \"b", "a \\" };
	struct arena *arena = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *const *argv;
		struct fault fault = { 0 };

		assert_int_equal(transport_argv(arena, "w", bad[i], "LINE", &argv, &fault), -EINVAL);
		assert_non_null(strstr(fault.msg, "--via"));
	}
	arena_free(arena);
}

static void locale_is_left_out(void **state)
{
	char *env[] = { (char[]){ "PATH=/bin" },   (char[]){ "LANG=de_DE" },       (char[]){ "LC_ALL=C" },
			(char[]){ "LANGUAGE=de" }, (char[]){ "SSH_AUTH_SOCK=/x" }, NULL };
	struct arena *arena = arena_new();
	char **out = transport_env(arena, env);

	(void)state;
	assert_string_equal(out[0], "PATH=/bin");
	assert_string_equal(out[1], "SSH_AUTH_SOCK=/x");
	assert_null(out[2]);
	arena_free(arena);
}

/* One pair of single quotes must carry the line through bash, zsh, fish and csh. */
static void start_line_survives_every_login_shell(void **state)
{
	struct arena *arena = arena_new();
	struct agent_file items[] = { { .path = "/a", .arch = "x86_64", .id = "00112233445566778899aabbccddeeff" },
				      { .path = "/b", .arch = "aarch64", .id = "ffeeddccbbaa99887766554433221100" } };
	struct agent_files files = { .items = items, .n = 2, .looked_in = "/" };

	(void)state;
	for (int no_deploy = 0; no_deploy < 2; no_deploy++) {
		const char *line = bootstrap_line(arena, &files, no_deploy);

		assert_true(strlen(line) < 4000);
		for (const char *c = line; *c; c++)
			assert_true(*c >= ' ' && *c < 127 && !strchr("'!\\", *c));
		assert_non_null(strstr(line, "x86_64) i=00112233445566778899aabbccddeeff;;"));
		assert_non_null(strstr(line, "aarch64) i=ffeeddccbbaa99887766554433221100;;"));
	}
	arena_free(arena);
}

static void assert_cause(const char *via, const char *err, int code, enum peer_fault kind, const char *words)
{
	struct child_status status = { .exited = true, .code = code };
	struct fault fault = { 0 };

	assert_int_equal(transport_explain("nv@worker", via, err, &status, &fault), kind);
	if (!strstr(fault.msg, words))
		fail_msg("'%s' is not in: %s", words, fault.msg);
	assert_true(strncmp(fault.msg, "nv@worker: ", 11) == 0);
}

static void last_words_are_understood(void **state)
{
	(void)state;
	assert_cause(NULL, "ssh: Could not resolve hostname worker: Name or service not known\r\n", 255,
		     PEER_FAULT_TRANSPORT, "unknown host");
	assert_cause(NULL, "ssh: connect to host worker port 22: Connection refused\r\n", 255, PEER_FAULT_TRANSPORT,
		     "does sshd run on worker");
	assert_cause(NULL, "ssh: connect to host worker port 22: Connection timed out\r\n", 255, PEER_FAULT_TRANSPORT,
		     "timed out");
	assert_cause(NULL, "ssh: connect to host worker port 22: No route to host\r\n", 255, PEER_FAULT_TRANSPORT,
		     "no route");
	assert_cause(NULL,
		     "No ED25519 host key is known for worker and you have requested strict checking.\r\n"
		     "Host key verification failed.\r\n",
		     255, PEER_FAULT_HOST_KEY, "ssh-keyscan worker | ssh-keygen -lf -");
	assert_cause(NULL, "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.\r\n",
		     255, PEER_FAULT_HOST_KEY, "ssh-keygen -R worker");
	assert_cause(NULL, "nv@worker: Permission denied (publickey).\r\n", 255, PEER_FAULT_AUTH, "ssh-copy-id worker");
	assert_cause(NULL, "something new\nthe last line\n\n", 255, PEER_FAULT_TRANSPORT,
		     "(exit status 255): the last line");
	assert_cause(NULL, "evil \033]0;x\a", 1, PEER_FAULT_TRANSPORT, "evil \\x1b]0;x");
	/* Not ssh's own words: a script there may print them and succeed or fail by itself. */
	assert_cause("srun {host}", "Permission denied", 255, PEER_FAULT_TRANSPORT,
		     "the --via command failed (exit status 255)");
	assert_cause(NULL, "Permission denied", 1, PEER_FAULT_TRANSPORT, "(exit status 1)");
	assert_cause(NULL, "This account is currently not available.\n", 0, PEER_FAULT_CLOSED,
		     "currently not available");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ssh_is_told_to_be_plain),
		cmocka_unit_test(hostile_names_never_reach_ssh),
		cmocka_unit_test(via_is_split_like_a_shell_would),
		cmocka_unit_test(broken_via_is_refused),
		cmocka_unit_test(locale_is_left_out),
		cmocka_unit_test(start_line_survives_every_login_shell),
		cmocka_unit_test(last_words_are_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
