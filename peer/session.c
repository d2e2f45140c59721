// SPDX-License-Identifier: Apache-2.0
/* One peer: from the transport's start to its end. Whatever it sends is bounded, and every wait has a deadline. */
#include "peer/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alloc.h"
#include "peer/ssh.h"

#define ERR_KEPT      4096u        /* of the transport's stderr */
#define TURN_MAX      (512u << 10) /* read from one peer before the others have their turn */
#define LAST_WORDS_MS 500
#define STOP_GRACE_MS 200

static void progress(const struct peer_private *session, const char *what)
{
	if (session->shared->progress)
		session->shared->progress(session->shared->progress_ctx, session->peer, what);
}

static void keep_detail(struct peer_private *session)
{
	struct peer *peer = session->peer;

	free(peer->detail);
	peer->detail = session->err.len > 0 ? xstrdup(buf_str(&session->err)) : NULL;
}

/* Tells the transport to end and does not wait for it: the other peers go on. session_release() sees to the rest. */
static void end_transport(struct peer_private *session)
{
	struct child *child = &session->child;

	cleanup_fd_(&child->in);
	cleanup_fd_(&child->out);
	cleanup_fd_(&child->err);
	child->in = child->out = child->err = -1;
	if (child->pid > 0)
		kill(-child->pid, SIGTERM);
}

static void session_die(struct peer_private *session, enum peer_fault kind)
{
	session->peer->fault_kind = kind;
	keep_detail(session);
	session->step = SESSION_DEAD;
	end_transport(session);
	progress(session, "failed");
}

/* Ends the session with a message that starts with the peer's name. */
__attribute__((format(printf, 4, 5))) static void session_fail(struct peer_private *session, enum peer_fault kind,
							       int err, const char *format, ...)
{
	cleanup_buf struct buf msg = BUF_INIT;
	va_list args;

	va_start(args, format);
	buf_vaddf(&msg, format, args);
	va_end(args);
	fault_set(&session->peer->fault, err, "%s: %s", session->peer->name, buf_str(&msg));
	session_die(session, kind);
}

static void session_wait(struct peer_private *session, int64_t ms)
{
	session->allowed_ms = ms;
	session->deadline = deadline_in_ms(ms);
}

void session_start(struct peer_private *session)
{
	const struct session_shared *shared = session->shared;
	struct peer *peer = session->peer;
	const char *const *argv;
	int r;

	session->started_ns = clock_boot_ns();
	r = transport_argv(shared->arena, peer->name, shared->via, shared->line, &argv, &peer->fault);
	if (r < 0) {
		session_die(session, PEER_FAULT_TRANSPORT);
		return;
	}
	peer->transport = argv[0];
	r = child_start(&session->child, argv, shared->env);
	if (r < 0) {
		session_fail(session, PEER_FAULT_TRANSPORT, -r, "%s cannot be started: %s%s", argv[0], strerror(-r),
			     shared->via || r != -ENOENT
				     ? ""
				     : "; install openssh-client, or name another transport with --via");
		return;
	}
	peer->phase = PEER_CONNECTING;
	session->step = SESSION_HUNT;
	session_wait(session, shared->connect_ms);
	progress(session, "connecting");
}

/* --- what comes in before the protocol --- */

static void no_agent_for(struct peer_private *session, const char *arch)
{
	const char *name = session->peer->name;

	session_fail(session, PEER_FAULT_NO_AGENT, ENOENT,
		     "no sparkfab-agent there, and none for %s here (looked beside %s); put sparkfab-agent-%s there, "
		     "or install sparkfab on %s",
		     *arch ? arch : "its architecture", session->shared->files.looked_in, *arch ? arch : "ARCH", name);
}

static void deploy(struct peer_private *session, const char *arch)
{
	const struct agent_file *file = agent_files_for(&session->shared->files, arch);
	struct fault fault;

	if (session->peer->phase != PEER_CONNECTING) {
		session_fail(session, PEER_FAULT_PROTOCOL, EPROTO, "asked for the agent a second time");
		return;
	}
	session->peer->phase = PEER_DEPLOYING;
	if (!file) {
		no_agent_for(session, arch);
		return;
	}
	if (agent_file_read(file, &session->out, &fault) < 0) {
		session_fail(session, PEER_FAULT_NO_AGENT, fault.err, "%s", fault.msg);
		return;
	}
	progress(session, "copying the agent");
}

static void stream_found(struct peer_private *session)
{
	struct peer *peer = session->peer;

	peer->deployed = peer->phase == PEER_DEPLOYING;
	peer->phase = PEER_HELLO;
	session->step = SESSION_HELLO;
	frame_write_json(&session->out, FRAME_HELLO, hello_json());
}

static void marker_act(struct peer_private *session, const struct marker *marker)
{
	switch (marker->kind) {
	case MARKER_STREAM:
		stream_found(session);
		return;
	case MARKER_NEED:
		deploy(session, marker->arg);
		return;
	case MARKER_NONE:
		session_fail(session, PEER_FAULT_NO_AGENT, ENOENT,
			     "no sparkfab-agent there, and none may be copied; install sparkfab on it, or leave out "
			     "--no-deploy");
		return;
	case MARKER_FAIL:
		session_fail(session, PEER_FAULT_NO_AGENT, ENOEXEC,
			     "our agent cannot be used there: %s; install sparkfab on it as a package",
			     bootstrap_reason(marker->arg));
		return;
	}
}

/* A terminal in between turns line ends into two bytes, and would turn others of the protocol too. */
static bool has_terminal(const struct buf *in)
{
	return in->len > 0 && memmem(in->data, in->len, PROTOCOL_MAGIC "\r", strlen(PROTOCOL_MAGIC) + 1);
}

static void keep_noise(struct peer_private *session, size_t len)
{
	struct peer *peer = session->peer;

	buf_add(&session->noise, session->in.data, len);
	free(peer->noise);
	peer->noise = NULL;
	peer->noise_len = session->noise.len;
	if (session->noise.len == 0)
		return;
	peer->noise = xcalloc(session->noise.len + 1, 1); /* not as a string: there may be NULs in it */
	memcpy(peer->noise, session->noise.data, session->noise.len);
}

/* True if more may be taken from `in`. */
static bool take_marker(struct peer_private *session)
{
	struct marker marker;
	int r = marker_hunt(&session->in, &marker);

	if (r == 0 && has_terminal(&session->in)) {
		keep_noise(session, session->in.len);
		session_fail(session, PEER_FAULT_NOISE, EPROTO,
			     "the transport has a terminal in it, which changes bytes; leave out -t");
		return false;
	}
	if (r < 0 || (r > 0 && session->noise.len + marker.noise > PROTOCOL_NOISE_MAX)) {
		keep_noise(session, session->in.len);
		session_fail(session, PEER_FAULT_NOISE, EPROTO,
			     "its login printed more than %u KiB before the agent could start; a shell that is not "
			     "interactive must print nothing (look into its ~/.bashrc, ~/.profile)",
			     PROTOCOL_NOISE_MAX >> 10);
		return false;
	}
	if (r == 0)
		return false;
	keep_noise(session, marker.noise);
	buf_drop(&session->in, marker.used);
	marker_act(session, &marker);
	return true;
}

/* --- frames --- */

static void take_hello(struct peer_private *session, const json_t *json)
{
	struct peer *peer = session->peer;
	struct fault fault = { 0 };
	struct hello hello;
	int r = hello_read(json, &hello, &fault);

	if (r == -EPROTO) {
		session_fail(session, PEER_FAULT_PROTOCOL, EPROTO, "%s", fault.msg);
		return;
	}
	peer->agent_version = arena_strdup(session->shared->arena, hello.version);
	peer->agent_arch = arena_strdup(session->shared->arena, hello.arch);
	if (r < 0) {
		session_fail(session, PEER_FAULT_VERSION, EPROTONOSUPPORT, "%s; install the same version on both hosts",
			     fault.msg);
		return;
	}
	peer->phase = PEER_READY;
	peer->connect_s = (double)(clock_boot_ns() - session->started_ns) / 1e9;
	session->step = SESSION_READY;
	progress(session, "connected");
}

/* The agent could not do what it was asked; it is well otherwise. */
static void take_refusal(struct peer_private *session, const json_t *json)
{
	const char *error = json_string_value(json_object_get(json, "error"));
	json_int_t err = json_integer_value(json_object_get(json, "errno"));
	struct arena *arena = arena_new();

	fault_set(&session->peer->command_fault, err > 0 && err < 4096 ? (int)err : EIO, "%s: %s refused: %s",
		  session->peer->name, session->command, text_last_line(arena, error ? error : "no reason given"));
	arena_free(arena);
}

static void take_reply(struct peer_private *session, const json_t *json)
{
	struct peer *peer = session->peer;
	struct fault fault = { 0 };

	if (!json_is_integer(json_object_get(json, "id")) ||
	    json_integer_value(json_object_get(json, "id")) != session->id) {
		session_fail(session, PEER_FAULT_PROTOCOL, EPROTO, "answered another request than `%s`",
			     session->command);
		return;
	}
	if (!json_is_true(json_object_get(json, "ok"))) {
		take_refusal(session, json);
	} else if (session->data.len > 0 && records_parse(peer->records, peer->name, session->data.data,
							  session->data.len, NULL, NULL, &fault) < 0) {
		session_fail(session, PEER_FAULT_PROTOCOL, fault.err, "its facts cannot be read: %s", fault.msg);
		return;
	}
	buf_release(&session->data);
	peer->phase = PEER_READY;
	session->step = SESSION_READY;
	progress(session, "answered");
}

static void take_data(struct peer_private *session, const struct frame *frame)
{
	buf_add(&session->data, frame->data, frame->len);
	if (session->data.truncated)
		session_fail(session, PEER_FAULT_PROTOCOL, E2BIG, "sent more than %u MiB of facts in answer to `%s`",
			     SNAPSHOT_TEXT_MAX >> 20, session->command);
}

static void take_json(struct peer_private *session, const struct frame *frame,
		      void (*take)(struct peer_private *session, const json_t *json))
{
	struct fault fault = { 0 };
	json_t *json;

	if (frame_json(frame, &json, &fault) < 0) {
		session_fail(session, PEER_FAULT_PROTOCOL, EPROTO, "broke the protocol: %s", fault.msg);
		return;
	}
	take(session, json);
	json_decref(json);
}

static bool take_frame(struct peer_private *session)
{
	struct fault fault = { 0 };
	struct frame frame;
	size_t used;
	int r = frame_read(&session->in, &frame, &used, &fault);

	if (r < 0)
		session_fail(session, PEER_FAULT_PROTOCOL, EPROTO, "broke the protocol: %s", fault.msg);
	if (r <= 0)
		return false;
	if (frame.type == FRAME_HELLO && session->step == SESSION_HELLO)
		take_json(session, &frame, take_hello);
	else if (frame.type == FRAME_REPLY && session->step == SESSION_COMMAND)
		take_json(session, &frame, take_reply);
	else if (frame.type == FRAME_DATA && session->step == SESSION_COMMAND)
		take_data(session, &frame);
	else
		session_fail(session, PEER_FAULT_PROTOCOL, EPROTO,
			     "broke the protocol: a frame of type '%c' where none is due", frame.type);
	buf_drop(&session->in, used);
	return true;
}

static bool session_is_open(const struct peer_private *session)
{
	return session->step >= SESSION_HUNT && session->step <= SESSION_COMMAND;
}

static void take_all(struct peer_private *session)
{
	bool more = true;

	while (more && session_is_open(session))
		more = session->step == SESSION_HUNT ? take_marker(session) : take_frame(session);
}

/* --- descriptors --- */

/* One read; false if there is nothing for now or ever (then *closed). */
static bool read_into(int fd, char *chunk, size_t size, size_t *ret_len, bool *closed)
{
	ssize_t n;

	if (fd < 0 || *closed)
		return false;
	do
		n = read(fd, chunk, size);
	while (n < 0 && errno == EINTR);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		*closed = true;
	*ret_len = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static void read_out(struct peer_private *session)
{
	char chunk[65536];
	size_t len;

	for (size_t turn = 0; turn < TURN_MAX && session_is_open(session); turn += len) {
		if (!read_into(session->child.out, chunk, sizeof(chunk), &len, &session->in_closed))
			return;
		buf_add(&session->in, chunk, len);
		take_all(session);
	}
}

static void read_err(struct peer_private *session)
{
	char chunk[4096];
	size_t len;

	for (size_t turn = 0; turn < TURN_MAX && session->step != SESSION_DEAD; turn += len) {
		if (!read_into(session->child.err, chunk, sizeof(chunk), &len, &session->err_closed))
			return;
		buf_add(&session->err, chunk, len);
		if (session->err.len > ERR_KEPT)
			buf_drop(&session->err, session->err.len - ERR_KEPT);
	}
}

static bool has_output(const struct peer_private *session)
{
	return session->child.in >= 0 && session->out_at < session->out.len;
}

static void write_out(struct peer_private *session)
{
	while (has_output(session)) {
		ssize_t n = write(session->child.in, session->out.data + session->out_at,
				  session->out.len - session->out_at);

		if (n > 0) {
			session->out_at += (size_t)n;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) { /* nobody reads any more: why, its stdout and its end will tell */
			close(session->child.in);
			session->child.in = -1;
		}
		return;
	}
	buf_release(&session->out);
	session->out_at = 0;
}

/* --- ends --- */

static bool transport_has_exited(const struct peer_private *session)
{
	siginfo_t info = { 0 };

	return session->child.pid > 0 &&
	       waitid(P_PID, (id_t)session->child.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == session->child.pid;
}

static const char *status_text(struct arena *arena, const struct child_status *status)
{
	if (!status)
		return "";
	return status->exited ? arena_printf(arena, " (exit status %d)", status->code)
			      : arena_printf(arena, " (signal %d)", status->signal);
}

/* The agent was there, or was being sent. */
static void explain_close(struct peer_private *session, const struct child_status *status)
{
	struct arena *arena = arena_new();
	const char *last = text_last_line(arena, buf_str(&session->err)), *how = status_text(arena, status);
	const char *colon = *last ? ": " : "";

	if (session->ended_in == SESSION_COMMAND)
		session_fail(session, PEER_FAULT_CLOSED, ECONNRESET,
			     "the connection ended in the middle of %s`%s`%s%s%s",
			     session->in.len > 0 ? "a frame of " : "", session->command, how, colon, last);
	else if (session->ended_in == SESSION_HELLO)
		session_fail(session, PEER_FAULT_CLOSED, ECONNRESET,
			     "the agent started and ended before it said HELLO%s%s%s", how, colon, last);
	else
		session_fail(session, PEER_FAULT_CLOSED, ECONNRESET,
			     "the connection ended while our agent was copied or started%s%s%s", how, colon, last);
	arena_free(arena);
}

/* The start line never ran, or not to its end. Some say why on stdout ("This account is not available"). */
static void explain_no_start(struct peer_private *session, const struct child_status *status)
{
	const struct buf *words = session->err.len > 0 ? &session->err : &session->in;
	struct peer *peer = session->peer;
	struct arena *arena = arena_new();
	const char *printed = session->err.len > 0 ? text_last_line(arena, buf_str(&session->in)) : "";
	enum peer_fault kind;

	kind = transport_explain(peer->name, session->shared->via, buf_str(words), status, &peer->fault);
	if (*printed)
		fault_set(&peer->fault, peer->fault.err, "%s; it printed: %s", peer->fault.msg, printed);
	session_die(session, kind);
	arena_free(arena);
}

static void session_end(struct peer_private *session)
{
	struct child_status status;
	bool known = child_wait(&session->child, deadline_in_ms(0), &status) == 0;

	if (session->ended_in == SESSION_HUNT && session->peer->phase == PEER_CONNECTING) {
		if (session->in.len > 0)
			keep_noise(session, session->in.len);
		explain_no_start(session, known ? &status : NULL);
	} else {
		explain_close(session, known ? &status : NULL);
	}
}

static void explain_timeout(struct peer_private *session)
{
	double s = (double)session->allowed_ms / 1000;
	struct peer *peer = session->peer;

	if (session->step == SESSION_COMMAND)
		session_fail(
			session, PEER_FAULT_TIMEOUT, ETIMEDOUT,
			"connected, but no answer to `%s` within %.3g s: the agent, or a driver that it asks, hangs",
			session->command, s);
	else if (session->step == SESSION_HELLO)
		session_fail(session, PEER_FAULT_TIMEOUT, ETIMEDOUT,
			     "the agent started, but said no HELLO within %.3g s", s);
	else if (peer->phase == PEER_DEPLOYING)
		session_fail(session, PEER_FAULT_TIMEOUT, ETIMEDOUT,
			     "our agent could not be copied and started within %.3g s", s);
	else
		session_fail(session, PEER_FAULT_TIMEOUT, ETIMEDOUT,
			     "no agent came up within %.3g s; does `%s %s true` return at once?", s,
			     session->shared->via ? "the --via command with" : "ssh", peer->name);
}

static void advance_ending(struct peer_private *session)
{
	if (transport_has_exited(session) || deadline_passed(session->deadline)) {
		read_err(session); /* what it wrote last, just before its end */
		session_end(session);
	}
}

void session_advance(struct peer_private *session)
{
	if (!session_is_busy(session))
		return;
	if (session->step != SESSION_ENDING) {
		bool exited =
			transport_has_exited(session); /* looked at first: what it wrote before is then in the pipe */

		write_out(session);
		read_out(session);
		write_out(session); /* the answer to what was read */
		if (session_is_open(session) && session_is_busy(session) && (session->in_closed || exited)) {
			session->ended_in = session->step;
			session->step = SESSION_ENDING;
			session_wait(session, LAST_WORDS_MS);
		}
	}
	read_err(session);
	if (session->step == SESSION_ENDING)
		advance_ending(session);
	else if (session_is_busy(session) && deadline_passed(session->deadline))
		explain_timeout(session);
}

bool session_is_busy(const struct peer_private *session)
{
	return session->step != SESSION_NEW && session->step != SESSION_READY && session->step != SESSION_DEAD;
}

size_t session_fds(const struct peer_private *session, struct pollfd fds[SESSION_FDS])
{
	size_t n = 0;

	if (session->child.out >= 0 && !session->in_closed && session->step != SESSION_ENDING)
		fds[n++] = (struct pollfd){ .fd = session->child.out, .events = POLLIN };
	if (session->child.err >= 0 && !session->err_closed)
		fds[n++] = (struct pollfd){ .fd = session->child.err, .events = POLLIN };
	if (has_output(session))
		fds[n++] = (struct pollfd){ .fd = session->child.in, .events = POLLOUT };
	if (session->child.pidfd >= 0)
		fds[n++] = (struct pollfd){ .fd = session->child.pidfd, .events = POLLIN };
	return n;
}

void session_request(struct peer_private *session, const char *command, json_t *args)
{
	int64_t extra = json_integer_value(json_object_get(args, "window_ms")) +
			json_integer_value(json_object_get(args, "ms"));

	session->id++;
	session->command = command;
	session->peer->command_fault = (struct fault){ 0 };
	json_object_set_new(args, "id", json_integer(session->id));
	json_object_set_new(args, "do", json_string(command));
	frame_write_json(&session->out, FRAME_REQUEST, args);
	session->peer->phase = PEER_COMMAND;
	session->step = SESSION_COMMAND;
	session_wait(session, session->shared->command_ms + extra);
	write_out(session);
	progress(session, command);
}

void session_renew(struct peer_private *session)
{
	if (session->step == SESSION_COMMAND)
		session_wait(session, session->allowed_ms);
}

void session_bye(struct peer_private *session)
{
	if (session->step == SESSION_READY && session->out.len == 0) {
		frame_write(&session->out, FRAME_BYE, NULL, 0);
		write_out(session);
	}
	if (session->child.in >= 0)
		close(session->child.in);
	session->child.in = -1;
}

void session_release(struct peer_private *session, struct deadline grace)
{
	struct child_status status;

	if (session->child.pid > 0)
		child_wait(&session->child, grace, &status);
	child_stop(&session->child, session->step == SESSION_DEAD ? 0 : STOP_GRACE_MS);
	buf_release(&session->in);
	buf_release(&session->out);
	buf_release(&session->err);
	buf_release(&session->noise);
	buf_release(&session->data);
}
