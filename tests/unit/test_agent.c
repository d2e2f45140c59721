// SPDX-License-Identifier: Apache-2.0
/* The agent over a socket pair, on this machine: its commands, what it refuses, and that it ends when its client is
 * gone. */
#include <errno.h>
#include <poll.h>
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
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/clock.h"
#include "facts/record.h"
#include "peer/agent.h"
#include "peer/protocol.h"

struct client {
	pid_t pid;
	int fd;
	struct buf in;
	struct records *records;
};

static void client_start(struct client *client)
{
	int fds[2];

	*client = (struct client){ .records = records_new() };
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	client->pid = fork();
	assert_true(client->pid >= 0);
	if (client->pid == 0) {
		close(fds[0]);
		_exit(agent_serve(fds[1], fds[1]));
	}
	close(fds[1]);
	client->fd = fds[0];
}

static void client_say(struct client *client, enum frame_type type, const char *json)
{
	cleanup_buf struct buf out = BUF_INIT;

	frame_write(&out, type, json, strlen(json));
	assert_int_equal(send(client->fd, out.data, out.len, MSG_NOSIGNAL), out.len);
}

/* More bytes; false at the end. */
static bool client_read(struct client *client)
{
	struct pollfd pfd = { .fd = client->fd, .events = POLLIN };
	char chunk[65536];
	ssize_t n;

	assert_int_equal(poll(&pfd, 1, 60000), 1);
	n = read(client->fd, chunk, sizeof(chunk));
	if (n > 0)
		buf_add(&client->in, chunk, (size_t)n);
	return n > 0;
}

/* The next reply (new reference); data before it goes into the records. */
static json_t *client_reply(struct client *client)
{
	cleanup_buf struct buf data = BUF_INIT;
	struct frame frame;
	json_t *json;
	size_t used;

	for (;;) {
		int r = frame_read(&client->in, &frame, &used, NULL);

		assert_true(r >= 0);
		if (r == 0) {
			assert_true(client_read(client));
			continue;
		}
		if (frame.type == FRAME_REPLY)
			break;
		assert_int_equal(frame.type, FRAME_DATA);
		assert_true(frame.len <= PROTOCOL_DATA_CHUNK);
		buf_add(&data, frame.data, frame.len);
		buf_drop(&client->in, used);
	}
	assert_int_equal(frame_json(&frame, &json, NULL), 0);
	buf_drop(&client->in, used);
	if (data.len > 0)
		assert_int_equal(records_parse(client->records, "agent", data.data, data.len, NULL, NULL, NULL), 0);
	return json;
}

static void client_greet(struct client *client)
{
	struct frame frame;
	size_t noise, used;
	struct hello hello;
	json_t *json;

	while (magic_hunt(&client->in, &noise, &used) == 0)
		assert_true(client_read(client));
	assert_int_equal(noise, 0);
	buf_drop(&client->in, used);
	while (frame_read(&client->in, &frame, &used, NULL) == 0)
		assert_true(client_read(client));
	assert_int_equal(frame.type, FRAME_HELLO);
	assert_int_equal(frame_json(&frame, &json, NULL), 0);
	assert_int_equal(hello_read(json, &hello, NULL), 0);
	assert_int_equal(hello.uid, geteuid());
	json_decref(json);
	buf_drop(&client->in, used);
	client_say(client, FRAME_HELLO, "{\"protocol\":1,\"version\":\"test\"}");
}

static bool ask(struct client *client, const char *json)
{
	json_t *reply;
	bool ok;

	client_say(client, FRAME_REQUEST, json);
	reply = client_reply(client);
	ok = json_is_true(json_object_get(reply, "ok"));
	assert_int_equal(json_integer_value(json_object_get(reply, "id")), 7);
	assert_true(ok || json_integer_value(json_object_get(reply, "errno")) > 0);
	assert_true(ok || json_string_length(json_object_get(reply, "error")) > 0);
	json_decref(reply);
	return ok;
}

/* Its exit code; it has a second for it. */
static int client_end(struct client *client)
{
	struct deadline deadline = deadline_in_ms(1000);
	int status = 0;
	pid_t pid;

	if (client->fd >= 0)
		close(client->fd);
	while ((pid = waitpid(client->pid, &status, WNOHANG)) == 0 && !deadline_passed(deadline))
		poll(NULL, 0, 5);
	assert_int_equal(pid, client->pid);
	buf_release(&client->in);
	client->records = records_free(client->records);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static size_t n_second, n_facts;

static bool count_second(void *ctx, const struct record *record)
{
	(void)ctx;
	n_second += record->sample == 2;
	return true;
}

static bool count_fact(void *ctx, const struct record *record)
{
	(void)ctx;
	n_facts += strncmp(record->key, "probe/neigh/", 12) == 0;
	return true;
}

static void commands_are_answered(void **state)
{
	struct client client;

	(void)state;
	client_start(&client);
	client_greet(&client);
	assert_false(ask(&client, "{\"id\":7,\"do\":\"sample\"}"));
	assert_true(ask(&client, "{\"id\":7,\"do\":\"gather\"}"));
	assert_non_null(records_find(client.records, RECORD_FILE, "/proc/sys/kernel/random/boot_id", 1));
	assert_string_equal(records_header(client.records, "tool"), "sparkfab-agent " SPARKFAB_VERSION);
	assert_true(ask(&client, "{\"id\":7,\"do\":\"sample\"}"));
	assert_true(ask(&client,
			"{\"id\":7,\"do\":\"probe\",\"ms\":300,\"targets\":[{\"dev\":\"lo\",\"addr\":\"127.0.0.1\"},"
			"{\"dev\":\"nosuch0\",\"addr\":\"10.0.0.1\"},{\"dev\":\"../etc\",\"addr\":\"x y\"}]}"));
	n_facts = 0;
	records_each(client.records, RECORD_FACT, count_fact, NULL);
	assert_int_equal(n_facts, 3);
	client_say(&client, FRAME_BYE, "");
	assert_false(client_read(&client));
	assert_int_equal(client_end(&client), 0);
}

static void window_gives_both_samples(void **state)
{
	int64_t start = clock_boot_ns();
	struct client client;

	(void)state;
	client_start(&client);
	client_greet(&client);
	assert_true(ask(&client, "{\"id\":7,\"do\":\"gather\",\"window_ms\":100}"));
	assert_true(clock_boot_ns() - start >= 100 * 1000000LL);
	n_second = 0;
	for (int kind = RECORD_FILE; kind <= RECORD_FACT; kind++)
		records_each(client.records, (enum record_kind)kind, count_second, NULL);
	assert_true(n_second > 0);
	assert_int_equal(client_end(&client), 0);
}

static void other_requests_are_refused(void **state)
{
	static const char *const bad[] = {
		"{\"id\":7}",
		"{\"id\":7,\"do\":5}",
		"{\"id\":7,\"do\":\"run\",\"command\":\"touch /tmp/x\"}",
		"{\"id\":7,\"do\":\"gather; id\"}",
		"{\"id\":7,\"do\":\"probe\"}",
		"{\"id\":7,\"do\":\"probe\",\"targets\":[{\"dev\":\"lo\"}]}",
		"{\"id\":7,\"do\":\"probe\",\"targets\":[3]}",
	};
	struct client client;

	(void)state;
	client_start(&client);
	client_greet(&client);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ask(&client, bad[i]));
	assert_int_equal(client_end(&client), 0);
}

/* Says bytes instead of what is due; the agent must end by itself with code 1. */
static void assert_ended_by(bool greet_first, const char *bytes, size_t len)
{
	struct client client;

	client_start(&client);
	if (greet_first)
		client_greet(&client);
	assert_int_equal(send(client.fd, bytes, len, MSG_NOSIGNAL), len);
	while (client_read(&client))
		;
	assert_int_equal(client_end(&client), 1);
}

static void broken_protocol_ends_it(void **state)
{
	cleanup_buf struct buf out = BUF_INIT;

	(void)state;
	assert_ended_by(false, "GET / HTTP/1.0\r\n\r\n", 18);
	assert_ended_by(false, "\x80\0\0\0H\0\0\0\0", 9);
	assert_ended_by(true, "rm -rf / #", 10);
	frame_write(&out, FRAME_REQUEST, "{}", 2); /* before HELLO */
	assert_ended_by(false, out.data, out.len);
	buf_clear(&out);
	frame_write(&out, FRAME_HELLO, "{\"protocol\":9,\"version\":\"9\"}", 28);
	assert_ended_by(false, out.data, out.len);
	buf_clear(&out);
	frame_write(&out, FRAME_REQUEST, "[[", 2);
	assert_ended_by(true, out.data, out.len);
	buf_clear(&out);
	frame_write(&out, FRAME_DATA, "x", 1);
	assert_ended_by(true, out.data, out.len);
}

/* The client goes while a command runs for another half minute. */
static void it_ends_with_its_client(void **state)
{
	struct client client;

	(void)state;
	client_start(&client);
	client_greet(&client);
	client_say(&client, FRAME_REQUEST, "{\"id\":7,\"do\":\"gather\",\"window_ms\":30000}");
	poll(NULL, 0, 200);
	assert_int_equal(client_end(&client), 0);
	/* Nothing of it is left: this process has adopted whatever it would have left behind. */
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

static void it_ends_before_hello_too(void **state)
{
	struct client client;

	(void)state;
	client_start(&client);
	while (client.in.len == 0)
		assert_true(client_read(&client));
	assert_int_equal(client_end(&client), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_answered),      cmocka_unit_test(window_gives_both_samples),
		cmocka_unit_test(other_requests_are_refused), cmocka_unit_test(broken_protocol_ends_it),
		cmocka_unit_test(it_ends_with_its_client),    cmocka_unit_test(it_ends_before_hello_too),
	};

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
