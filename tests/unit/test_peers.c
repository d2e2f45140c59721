// SPDX-License-Identifier: Apache-2.0
/*
 * Sessions with peers that behave in every bad way there is. This program is also the other end: started as
 * `test_peers fake NAME …` it plays the peer NAME; started with $FAKE_AGENT set it is the agent that gets copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/alloc.h"
#include "core/clock.h"
#include "peer/peer.h"
#include "peer/protocol.h"

static char self[4096];

/* ---- the other end ---- */

static void say(const void *bytes, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = write(STDOUT_FILENO, (const char *)bytes + at, len - at);

		if (n < 0)
			_exit(9);
		at += (size_t)n;
	}
}

static void say_text(const char *text)
{
	say(text, strlen(text));
}

static void say_frame(enum frame_type type, const char *data, size_t len)
{
	cleanup_buf struct buf out = BUF_INIT;

	frame_write(&out, type, data, len);
	say(out.data, out.len);
}

static void say_json(enum frame_type type, const char *json)
{
	say_frame(type, json, strlen(json));
}

static void say_hello(void)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, PROTOCOL_MAGIC "\n");
	frame_write_json(&out, FRAME_HELLO, hello_json());
	say(out.data, out.len);
}

/* Waits for one frame of that type. */
static void hear(enum frame_type type)
{
	static struct buf in;
	struct frame frame;
	size_t used;
	char c[4096];
	int r;

	while ((r = frame_read(&in, &frame, &used, NULL)) == 0) {
		ssize_t n = read(STDIN_FILENO, c, sizeof(c));

		if (n <= 0)
			_exit(0);
		buf_add(&in, c, (size_t)n);
	}
	if (r < 0 || frame.type != type)
		_exit(8);
	buf_drop(&in, used);
}

static void noise(size_t len)
{
	for (size_t i = 0; i < len; i += 32)
		say_text("Welcome to a chatty login shell\n");
}

static void answer(const char *fact)
{
	struct records *records = records_new();
	struct record record = { .kind = RECORD_FACT, .key = "test/answer", .sample = 1, .json = json_string(fact) };
	cleanup_buf struct buf text = BUF_INIT;

	records_put(records, &record);
	records_write(records, false, &text);
	/* In two pieces: what a frame holds need not end where a line does. */
	say_frame(FRAME_DATA, text.data, text.len / 2);
	say_frame(FRAME_DATA, text.data + text.len / 2, text.len - text.len / 2);
	json_decref(record.json);
	records_free(records);
}

static void serve_well(void)
{
	say_hello();
	hear(FRAME_HELLO);
	for (int id = 1;; id++) {
		char reply[64];

		hear(FRAME_REQUEST);
		answer("well");
		snprintf(reply, sizeof(reply), "{\"id\":%d,\"ok\":true}", id);
		say_json(FRAME_REPLY, reply);
	}
}

static void hang(void)
{
	for (;;)
		pause();
}

static void act_deep_json(void)
{
	char deep[300];

	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	say_frame(FRAME_REPLY, deep, sizeof(deep));
	hang();
}

static void act_endless(void)
{
	static char chunk[65536];

	memset(chunk, '#', sizeof(chunk));
	for (;;)
		say_frame(FRAME_DATA, chunk, sizeof(chunk));
}

static void act_endless_stderr(void)
{
	for (;;)
		if (write(STDERR_FILENO, "blah blah blah\n", 15) < 0)
			_exit(7);
}

static void act_orphan(void)
{
	if (fork() == 0) /* keeps our stdout and stderr open */
		hang();
	_exit(4);
}

static void act_slow(void)
{
	for (;;) {
		say_text("x");
		poll(NULL, 0, 20);
	}
}

static void act_terminal(void)
{
	say_text(PROTOCOL_MAGIC "\r\n");
	hang();
}

static void act_death(void)
{
	const struct rlimit none = { 0 };

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGABRT, SIG_DFL);
	raise(SIGKILL);
}

static void act_mid_frame(void)
{
	cleanup_buf struct buf out = BUF_INIT;

	frame_write(&out, FRAME_DATA, "0123456789", 10);
	say(out.data, out.len - 4);
	_exit(0);
}

static void act_noise_60(void)
{
	noise(60 << 10);
	serve_well();
}

static void act_noise_70(void)
{
	noise(70 << 10);
	serve_well();
}

static void act_boom(void)
{
	puts("This host is closed.");
	fflush(stdout);
	fputs("first\nboom\n", stderr);
	exit(3);
}

static void act_stop(void)
{
	raise(SIGSTOP);
}

static void act_version(void)
{
	say_text(PROTOCOL_MAGIC "\n");
	say_json(FRAME_HELLO, "{\"protocol\":9,\"version\":\"9.0\",\"arch\":\"aarch64\"}");
	hang();
}

static void say_then_hang(const char *text)
{
	say_text(text);
	hang();
}

/* How each peer behaves: from its start, or after HELLO and a request. */
static const struct behaviour {
	const char *name;
	bool after_request;
	void (*act)(void);
	const char *text;  /* instead of act: said raw, then it hangs */
	const char *reply; /* instead of both: a reply, then it hangs */
} behaviours[] = {
	{ "good", false, serve_well, NULL, NULL },
	{ "noise60", false, act_noise_60, NULL, NULL },
	{ "noise70", false, act_noise_70, NULL, NULL },
	{ "mute", false, hang, NULL, NULL },
	{ "boom", false, act_boom, NULL, NULL },
	{ "slow", false, act_slow, NULL, NULL },
	{ "terminal", false, act_terminal, NULL, NULL },
	{ "version", false, act_version, NULL, NULL },
	{ "nohello", false, NULL, PROTOCOL_MAGIC "\n", NULL },
	{ "hello-garbage", false, NULL, PROTOCOL_MAGIC "\nfortune: you will be hacked", NULL },
	{ "none", false, NULL, PROTOCOL_NONE " x86_64\n", NULL },
	{ "noexec", false, NULL, PROTOCOL_FAIL " noexec\n", NULL },
	{ "mips", false, NULL, PROTOCOL_NEED " mips64\n", NULL },
	{ "hang", true, hang, NULL, NULL },
	{ "stop", true, act_stop, NULL, NULL },
	{ "midframe", true, act_mid_frame, NULL, NULL },
	{ "bigframe", true, NULL, "\x80", NULL }, /* continued below: the text holds NULs */
	{ "garbage", true, NULL, "-bash: warning: setlocale: LC_ALL: cannot change locale\n", NULL },
	{ "badjson", true, NULL, NULL, "{\"id\":1,\"ok\":tr" },
	{ "array", true, NULL, NULL, "[1]" },
	{ "wrongid", true, NULL, NULL, "{\"id\":7,\"ok\":true}" },
	{ "refuse", true, NULL, NULL, "{\"id\":1,\"ok\":false,\"errno\":95,\"error\":\"can \\u001b[2Jnot\"}" },
	{ "deepjson", true, act_deep_json, NULL, NULL },
	{ "endless", true, act_endless, NULL, NULL },
	{ "stderr", true, act_endless_stderr, NULL, NULL },
	{ "death", true, act_death, NULL, NULL },
	{ "orphan", true, act_orphan, NULL, NULL },
	{ "baddata", true, NULL, NULL, NULL },
};
#define N_BEHAVIOURS (sizeof(behaviours) / sizeof(behaviours[0]))

static void act_bad_data(void)
{
	say_json(FRAME_DATA, "this is no snapshot\n");
	say_json(FRAME_REPLY, "{\"id\":1,\"ok\":true}");
	hang();
}

static int play(const char *name)
{
	for (size_t i = 0; i < N_BEHAVIOURS; i++) {
		const struct behaviour *b = &behaviours[i];

		if (strcmp(b->name, name) != 0)
			continue;
		if (b->after_request) {
			say_hello();
			hear(FRAME_HELLO);
			hear(FRAME_REQUEST);
		}
		if (b->act)
			b->act();
		if (b->reply)
			say_json(FRAME_REPLY, b->reply);
		if (strcmp(name, "bigframe") == 0)
			say("\x80\0\0\0D\0\0\0\0", 9);
		else if (b->text)
			say_then_hang(b->text);
		if (strcmp(name, "baddata") == 0)
			act_bad_data();
		hang();
	}
	return 99;
}

/* ---- sessions ---- */

/* Deadlines of a set: those that must pass are short, the others are left long, for slow machines. */
#define SHORT_MS 1500

struct expectation {
	const char *name;
	enum peer_fault kind;
	enum peer_phase phase;
	const char *words; /* of the message */
};

static const struct expectation told_at_once[] = {
	{ "good", PEER_OK, PEER_READY, NULL },
	{ "noise60", PEER_OK, PEER_READY, NULL },
	{ "refuse", PEER_OK, PEER_READY, NULL },
	{ "noise70", PEER_FAULT_NOISE, PEER_CONNECTING, "printed more than 64 KiB" },
	{ "boom", PEER_FAULT_TRANSPORT, PEER_CONNECTING, "failed (exit status 3): boom; it printed: This host is closed." },
	{ "terminal", PEER_FAULT_NOISE, PEER_CONNECTING, "leave out -t" },
	{ "version", PEER_FAULT_VERSION, PEER_HELLO, "sparkfab-agent 9.0 speaks protocol 9 to 9" },
	{ "hello-garbage", PEER_FAULT_PROTOCOL, PEER_HELLO, "not a frame" },
	{ "none", PEER_FAULT_NO_AGENT, PEER_CONNECTING, "leave out --no-deploy" },
	{ "noexec", PEER_FAULT_NO_AGENT, PEER_CONNECTING, "mounted noexec" },
	{ "mips", PEER_FAULT_NO_AGENT, PEER_DEPLOYING, "none for mips64 here" },
	{ "midframe", PEER_FAULT_CLOSED, PEER_COMMAND, "ended in the middle of a frame of `gather` (exit status 0)" },
	{ "bigframe", PEER_FAULT_PROTOCOL, PEER_COMMAND, "a frame of 2147483648 bytes" },
	{ "garbage", PEER_FAULT_PROTOCOL, PEER_COMMAND, "not a frame" },
	{ "badjson", PEER_FAULT_PROTOCOL, PEER_COMMAND, "malformed JSON" },
	{ "array", PEER_FAULT_PROTOCOL, PEER_COMMAND, "no object" },
	{ "wrongid", PEER_FAULT_PROTOCOL, PEER_COMMAND, "answered another request" },
	{ "deepjson", PEER_FAULT_PROTOCOL, PEER_COMMAND, "deeper than 32" },
	{ "endless", PEER_FAULT_PROTOCOL, PEER_COMMAND, "more than 32 MiB" },
	{ "death", PEER_FAULT_CLOSED, PEER_COMMAND, "(signal 9)" },
	{ "orphan", PEER_FAULT_CLOSED, PEER_COMMAND, "(exit status 4)" },
	{ "baddata", PEER_FAULT_PROTOCOL, PEER_COMMAND, "its facts cannot be read" },
};

static const struct expectation silent_at_first[] = {
	{ "mute", PEER_FAULT_TIMEOUT, PEER_CONNECTING, "no agent came up within 1.5 s" },
	{ "slow", PEER_FAULT_TIMEOUT, PEER_CONNECTING, "no agent came up within 1.5 s" },
	{ "nohello", PEER_FAULT_TIMEOUT, PEER_HELLO, "said no HELLO within 1.5 s" },
};

static const struct expectation silent_later[] = {
	{ "hang", PEER_FAULT_TIMEOUT, PEER_COMMAND, "no answer to `gather` within 1.5 s" },
	{ "stop", PEER_FAULT_TIMEOUT, PEER_COMMAND, "no answer to `gather` within 1.5 s" },
	{ "stderr", PEER_FAULT_TIMEOUT, PEER_COMMAND, "no answer to `gather`" },
};
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct peer *find_peer(struct peers *peers, const char *name)
{
	for (size_t i = 0; i < peers_count(peers); i++)
		if (strcmp(peers_get(peers, i)->name, name) == 0)
			return peers_get(peers, i);
	fail_msg("no peer %s", name);
	return NULL;
}

static void assert_outcome(struct peers *peers, const struct expectation *want)
{
	const struct peer *peer = find_peer(peers, want->name);

	if (peer->fault_kind != want->kind || peer->phase != want->phase)
		fail_msg("%s: fault %d in phase %d, wanted %d in %d: %s", want->name, peer->fault_kind, peer->phase,
			 want->kind, want->phase, peer->fault.msg);
	if (!want->words)
		return;
	if (strncmp(peer->fault.msg, want->name, strlen(want->name)) != 0 || !strstr(peer->fault.msg, want->words))
		fail_msg("%s: '%s' is not in: %s", want->name, want->words, peer->fault.msg);
	assert_null(strchr(peer->fault.msg, '\n'));
}

static void assert_no_children(void)
{
	errno = 0;
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static int works;

static void count_work(void *ctx)
{
	(void)ctx;
	works++;
}

static json_t *first_only(void *ctx, size_t i)
{
	(void)ctx;
	return i == 0 ? json_object() : NULL;
}

static json_t *no_args(void *ctx, size_t i)
{
	(void)ctx;
	(void)i;
	return json_object();
}

/* Connects to all of a set at once, in one loop, and asks those that are well. */
static struct peers *run_set(const struct expectation *set, size_t n, int connect_ms, int command_ms)
{
	char via[4200];
	const struct peer_options options = { .via = via, .connect_ms = connect_ms, .command_ms = command_ms };
	const char *names[N_OF(told_at_once)];
	struct peers *peers;

	snprintf(via, sizeof(via), "%s fake {host}", self);
	for (size_t i = 0; i < n; i++)
		names[i] = set[i].name;
	peers = peers_new(names, n, &options, NULL, NULL);
	assert_int_equal(peers_connect(peers, NULL), 0);
	works = 0;
	assert_int_equal(peers_command(peers, "gather", no_args, count_work, NULL, NULL), 0);
	assert_int_equal(works, 1);
	for (size_t i = 0; i < n; i++)
		assert_outcome(peers, &set[i]);
	return peers;
}

static void every_bad_peer_is_told_apart(void **state)
{
	struct peers *peers = run_set(told_at_once, N_OF(told_at_once), 0, 0);

	(void)state;
	assert_non_null(records_find(find_peer(peers, "good")->records, RECORD_FACT, "test/answer", 1));
	assert_string_equal(find_peer(peers, "good")->agent_version, SPARKFAB_VERSION);
	assert_int_equal(find_peer(peers, "noise60")->noise_len, 60 << 10);
	assert_string_equal(find_peer(peers, "boom")->detail, "first\nboom\n");
	assert_int_equal(find_peer(peers, "refuse")->command_fault.err, EOPNOTSUPP);
	assert_non_null(strstr(find_peer(peers, "refuse")->command_fault.msg, "can \\x1b[2Jnot"));
	/* Those that are well can be asked again. */
	assert_int_equal(peers_command(peers, "sample", first_only, NULL, NULL, NULL), 0);
	assert_int_equal(find_peer(peers, "good")->phase, PEER_READY);
	peers_free(peers);
	assert_no_children();
}

static void silence_has_a_deadline(void **state)
{
	int64_t start = clock_boot_ns();
	struct peers *peers;

	(void)state;
	peers_free(run_set(silent_at_first, N_OF(silent_at_first), SHORT_MS, 0));
	assert_no_children();
	peers = run_set(silent_later, N_OF(silent_later), 0, SHORT_MS);
	assert_true(strlen(find_peer(peers, "stderr")->detail) <= 4096);
	peers_free(peers);
	assert_no_children();
	assert_true(clock_boot_ns() - start < 15 * 1000000000LL);
}

static void missing_programs_are_named(void **state)
{
	const char *const names[] = { "worker" };
	const struct peer_options options = { .via = "/no/such/program {host}" };
	struct peers *peers = peers_new(names, 1, &options, NULL, NULL);
	const struct peer *peer = peers_get(peers, 0);

	(void)state;
	assert_int_equal(peers_connect(peers, NULL), 0);
	assert_int_equal(peer->fault_kind, PEER_FAULT_TRANSPORT);
	assert_int_equal(peer->phase, PEER_STARTING);
	assert_non_null(strstr(peer->fault.msg, "worker: /no/such/program cannot be started"));
	peers_free(peers);
	assert_no_children();
}

static volatile bool stopped;

static void on_alarm(int sig)
{
	(void)sig;
	stopped = true;
}

static void a_signal_ends_the_wait_and_leaves_nothing(void **state)
{
	char via[4200];
	const char *const names[] = { "hang", "mute" };
	const struct peer_options options = { .via = via };
	struct peers *peers;
	int64_t start = clock_boot_ns();

	(void)state;
	snprintf(via, sizeof(via), "%s fake {host}", self);
	stopped = false;
	signal(SIGALRM, on_alarm);
	alarm(1);
	peers = peers_new(names, 2, &options, NULL, NULL);
	assert_int_equal(peers_connect(peers, &stopped), -EINTR);
	peers_free(peers);
	assert_no_children();
	assert_true(clock_boot_ns() - start < 5 * 1000000000LL);
}

/* ---- first contact, with real shells ---- */

struct place {
	char top[64], home[80], tmp[80], bin[80], via[9000];
};

static void place_make(struct place *place)
{
	strcpy(place->top, "/tmp/test_peers.XXXXXX");
	assert_non_null(mkdtemp(place->top));
	snprintf(place->home, sizeof(place->home), "%s/home", place->top);
	snprintf(place->tmp, sizeof(place->tmp), "%s/tmp", place->top);
	snprintf(place->bin, sizeof(place->bin), "%s/bin", place->top);
	assert_int_equal(mkdir(place->home, 0755), 0);
	assert_int_equal(mkdir(place->tmp, 0755), 0);
	assert_int_equal(mkdir(place->bin, 0755), 0);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void place_remove(struct place *place)
{
	nftw(place->top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int n_found;

static int count_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)path;
	(void)st;
	(void)flag;
	n_found += ftw->level > 0;
	return 0;
}

/* Files and folders below. */
static int entries_below(const char *path)
{
	n_found = 0;
	nftw(path, count_file, 16, FTW_PHYS);
	return n_found;
}

static void write_script(const char *dir, const char *name, const char *text)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

/* A transport that runs the line here with a given sh and a home of its own. */
static void place_via(struct place *place, const char *home, const char *shell)
{
	snprintf(place->via, sizeof(place->via),
		 "/usr/bin/env -i FAKE_AGENT={host} 'HOME=%s' TMPDIR=%s PATH=%s:/usr/bin:/bin /bin/sh -c 'shift; exec "
		 "%s \"$@\"' -",
		 home, place->tmp, place->bin, shell);
}

/* Connects, gathers and ends; copies of what the peer was go to the caller. */
static void contact(const struct place *place, bool no_deploy, struct peer *ret, struct fault *ret_fault)
{
	const char *const names[] = { "copied" };
	const struct peer_options options = { .via = place->via, .no_deploy = no_deploy, .agent_path = self };
	struct peers *peers = peers_new(names, 1, &options, NULL, NULL);

	assert_int_equal(peers_connect(peers, NULL), 0);
	assert_int_equal(peers_command(peers, "gather", no_args, NULL, NULL, NULL), 0);
	*ret = *peers_get(peers, 0);
	*ret_fault = ret->fault;
	peers_free(peers);
	assert_no_children();
}

static void assert_well(const struct place *place, bool deployed)
{
	struct fault fault;
	struct peer peer;

	contact(place, false, &peer, &fault);
	if (peer.fault_kind != PEER_OK)
		fail_msg("%s: %s", place->via, fault.msg);
	assert_int_equal(peer.deployed, deployed);
}

static void agent_is_copied_once(void **state)
{
	static const char *const shells[] = { "dash", "bash", "busybox sh", "mksh", "zsh --emulate sh" };

	(void)state;
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		char path[128];
		struct place place;

		snprintf(path, sizeof(path), "/bin/%.*s", (int)strcspn(shells[i], " "), shells[i]);
		if (access(path, X_OK) != 0)
			continue;
		place_make(&place);
		place_via(&place, place.home, shells[i]);
		assert_well(&place, true);
		snprintf(path, sizeof(path), "%s/.cache/sparkfab", place.home);
		assert_int_equal(entries_below(path), 1); /* the agent, no temporary folder */
		assert_int_equal(entries_below(place.tmp), 0);
		assert_well(&place, false);
		assert_int_equal(entries_below(path), 1);
		place_remove(&place);
	}
}

static void old_agents_are_cleared_away(void **state)
{
	struct place place;
	char path[128];

	(void)state;
	place_make(&place);
	snprintf(path, sizeof(path), "%s/.cache", place.home);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/.cache/sparkfab", place.home);
	assert_int_equal(mkdir(path, 0700), 0);
	for (int i = 0; i < 5; i++) {
		char name[32];

		snprintf(name, sizeof(name), "agent-old%d", i);
		write_script(path, name, "#!/bin/sh\nexit 1\n");
	}
	write_script(path, "mine", "not an agent");
	place_via(&place, place.home, "dash");
	assert_well(&place, true);
	assert_int_equal(entries_below(path), 4); /* three agents, and what is no agent */
	assert_well(&place, false);
	place_remove(&place);
}

static void without_a_home_nothing_stays(void **state)
{
	struct place place;

	(void)state;
	place_make(&place);
	place_via(&place, "/proc/nowhere", "dash");
	assert_well(&place, true);
	assert_int_equal(entries_below(place.tmp), 0);
	assert_well(&place, true);
	place_via(&place, "/proc/nowhere", "busybox sh");
	if (access("/bin/busybox", X_OK) == 0)
		assert_well(&place, true);
	assert_int_equal(entries_below(place.tmp), 0);
	place_remove(&place);
}

static void the_path_comes_before_a_copy(void **state)
{
	struct fault fault;
	struct place place;
	struct peer peer;
	char script[5000];

	(void)state;
	place_make(&place);
	place_via(&place, place.home, "dash");
	contact(&place, true, &peer, &fault);
	assert_int_equal(peer.fault_kind, PEER_FAULT_NO_AGENT);
	assert_non_null(strstr(fault.msg, "none may be copied"));
	/* Of our version: started as it is. */
	snprintf(script, sizeof(script), "#!/bin/sh\nexec '%s' \"$@\"\n", self);
	write_script(place.bin, "sparkfab-agent", script);
	assert_well(&place, false);
	assert_int_equal(entries_below(place.home), 0);
	contact(&place, true, &peer, &fault);
	assert_int_equal(peer.fault_kind, PEER_OK);
	/* Of another version: ours is copied, unless that is forbidden; then HELLO will tell. */
	snprintf(script, sizeof(script),
		 "#!/bin/sh\n[ \"$1\" = --version ] && echo sparkfab-agent 9.9 && exit\nexec '%s'\n", self);
	write_script(place.bin, "sparkfab-agent", script);
	contact(&place, true, &peer, &fault);
	assert_int_equal(peer.fault_kind, PEER_OK);
	assert_int_equal(entries_below(place.home), 0);
	assert_well(&place, true);
	place_remove(&place);
}

static void a_broken_cache_is_no_cache(void **state)
{
	struct place place;
	char command[300];

	(void)state;
	place_make(&place);
	place_via(&place, place.home, "dash");
	assert_well(&place, true);
	snprintf(command, sizeof(command), "for f in %s/.cache/sparkfab/agent-*; do : >$f; done", place.home);
	assert_int_equal(system(command), 0);
	assert_well(&place, true);
	place_remove(&place);
}

/* An agent that does not start there (here: no program at all), and one for another machine. */
static void unfit_agents_are_explained(void **state)
{
	const char *const names[] = { "copied" };
	struct peer_options options = { 0 };
	char path[200];
	struct place place;
	struct peers *peers;

	(void)state;
	place_make(&place);
	place_via(&place, place.home, "dash");
	write_script(place.top, "broken", "#!/bin/sh\nexit 3\n");
	snprintf(path, sizeof(path), "%s/broken", place.top);
	options = (struct peer_options){ .via = place.via, .agent_path = path };
	peers = peers_new(names, 1, &options, NULL, NULL);
	assert_int_equal(peers_connect(peers, NULL), 0);
	assert_int_equal(peers_get(peers, 0)->fault_kind, PEER_FAULT_NO_AGENT);
	assert_non_null(strstr(peers_get(peers, 0)->fault.msg, "does not run there"));
	peers_free(peers);
	snprintf(path, sizeof(path), "%s/.cache/sparkfab", place.home);
	assert_int_equal(entries_below(path), 0);
	/* uname says another machine; it is asked where the kernel (before 6.1) has no /proc/sys/kernel/arch. */
	write_script(place.bin, "uname", "#!/bin/sh\necho riscv64\n");
	write_script(place.bin, "oldkernel",
		     "#!/bin/sh\nexec dash -c \"$(printf %s \"$2\" | sed s,/proc/sys/kernel/arch,/nonexistent,)\"\n");
	place_via(&place, place.home, "oldkernel");
	options.via = place.via;
	options.agent_path = self;
	peers = peers_new(names, 1, &options, NULL, NULL);
	assert_int_equal(peers_connect(peers, NULL), 0);
	assert_int_equal(peers_get(peers, 0)->fault_kind, PEER_FAULT_NO_AGENT);
	assert_non_null(strstr(peers_get(peers, 0)->fault.msg, "none for riscv64 here"));
	peers_free(peers);
	options.agent_path = "/no/such/agent";
	peers = peers_new(names, 1, &options, NULL, NULL);
	assert_int_equal(peers_connect(peers, NULL), 0);
	assert_int_equal(peers_get(peers, 0)->fault_kind, PEER_FAULT_NO_AGENT);
	assert_non_null(strstr(peers_get(peers, 0)->fault.msg, "/no/such/agent"));
	peers_free(peers);
	assert_no_children();
	place_remove(&place);
}

/* As sshd does it: the last word of ssh's argv is given to the user's login shell. */
static void every_login_shell_starts_it(void **state)
{
	static const char *const shells[] = { "dash", "bash", "zsh", "fish", "tcsh", "csh", "mksh" };
	const char *old_path = getenv("PATH");
	char path[4096], script[5000];

	(void)state;
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		struct place place;
		struct fault fault;
		struct peer peer;
		char *saved;

		snprintf(path, sizeof(path), "/usr/bin/%s", shells[i]);
		if (access(path, X_OK) != 0)
			continue;
		saved = xstrdup(old_path);
		place_make(&place);
		snprintf(script, sizeof(script),
			 "#!/bin/sh\nfor last; do :; done\nexport FAKE_AGENT=x HOME=%s TMPDIR=%s "
			 "PATH=/usr/bin:/bin\nexec %s -c \"$last\"\n",
			 place.home, place.tmp, path);
		write_script(place.bin, "ssh", script);
		snprintf(path, sizeof(path), "%s:%s", place.bin, saved);
		setenv("PATH", path, 1);
		{
			const char *const names[] = { "nv@worker" };
			const struct peer_options options = { .agent_path = self };
			struct peers *peers = peers_new(names, 1, &options, NULL, NULL);

			assert_int_equal(peers_connect(peers, NULL), 0);
			peer = *peers_get(peers, 0);
			fault = peer.fault;
			if (peer.fault_kind != PEER_OK)
				fail_msg("%s: %s", shells[i], fault.msg);
			assert_true(peer.deployed);
			peers_free(peers);
		}
		setenv("PATH", saved, 1);
		free(saved);
		place_remove(&place);
	}
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bad_peer_is_told_apart),
		cmocka_unit_test(silence_has_a_deadline),
		cmocka_unit_test(missing_programs_are_named),
		cmocka_unit_test(a_signal_ends_the_wait_and_leaves_nothing),
		cmocka_unit_test(agent_is_copied_once),
		cmocka_unit_test(old_agents_are_cleared_away),
		cmocka_unit_test(without_a_home_nothing_stays),
		cmocka_unit_test(the_path_comes_before_a_copy),
		cmocka_unit_test(a_broken_cache_is_no_cache),
		cmocka_unit_test(unfit_agents_are_explained),
		cmocka_unit_test(every_login_shell_starts_it),
	};

	if (argc > 2 && strcmp(argv[1], "fake") == 0)
		return play(argv[2]);
	if (getenv("FAKE_AGENT")) {
		if (argc > 1)
			puts("sparkfab-agent " SPARKFAB_VERSION);
		else
			serve_well();
		return 0;
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
