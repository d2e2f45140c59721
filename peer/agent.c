// SPDX-License-Identifier: Apache-2.0
/*
 * The agent's end of a session, in two processes: a worker that reads the host and answers, and a keeper that does
 * nothing but pass the requests on and watch stdin. So the agent ends at once when its client is gone, also while a
 * read of the worker hangs in a driver, and a worker that crashes is told from one that was ended.
 */
#include "peer/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "facts/record.h"
#include "facts/snapshot.h"
#include "facts/source.h"
#include "peer/protocol.h"
#include "perf/reach.h"

#define HELLO_MS          30000
#define IDLE_MS           3600000 /* an open stdin without a request: a client that was stopped and forgotten */
#define WRITE_MS          60000   /* a client that does not read */
#define WINDOW_MS_MAX     60000
#define PROBE_MS          1500
#define PROBE_MS_MAX      10000
#define PROBE_TARGETS_MAX 1024

enum { EXIT_OK = 0, EXIT_PROTOCOL = 1, EXIT_IO = 74 };

struct agent {
	int in, out;
	struct buf received;
	struct records *records;
	struct source *source;
	struct snapshot *snap;
};

static void agent_reset(struct agent *agent)
{
	agent->snap = snapshot_free(agent->snap);
	agent->source = source_free(agent->source);
	agent->records = records_free(agent->records);
}

static void agent_open(struct agent *agent)
{
	struct utsname uts = { 0 };

	agent->records = records_new();
	agent->source = source_recorder_new(source_live_new("/"), agent->records);
	uname(&uts);
	records_set_header(agent->records, "host", uts.nodename);
	records_set_header(agent->records, "arch", uts.machine);
	records_set_header(agent->records, "tool", "sparkfab-agent " SPARKFAB_VERSION);
}

/* Waits for one descriptor; false when the deadline passed. */
static bool wait_for(int fd, short events, struct deadline deadline)
{
	struct pollfd pfd = { .fd = fd, .events = events };
	int r;

	do
		r = poll(&pfd, 1, deadline_poll_ms(deadline));
	while ((r < 0 && errno == EINTR) || (r == 0 && !deadline_passed(deadline)));
	return r > 0;
}

static int send_bytes(struct agent *agent, const struct buf *out)
{
	struct deadline deadline = deadline_in_ms(WRITE_MS);
	size_t done = 0;

	while (done < out->len) {
		ssize_t n = write(agent->out, out->data + done, out->len - done);

		if (n > 0)
			done += (size_t)n;
		else if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		else if (!wait_for(agent->out, POLLOUT, deadline))
			return -ETIMEDOUT;
	}
	return 0;
}

static int send_json(struct agent *agent, enum frame_type type, json_t *json)
{
	cleanup_buf struct buf out = BUF_INIT;

	frame_write_json(&out, type, json);
	return send_bytes(agent, &out);
}

/* Snapshot text of what is new, in frames; one at a time, so that it is not in memory twice. */
static int send_fresh(struct agent *agent)
{
	cleanup_buf struct buf text = BUF_INIT_MAX(SNAPSHOT_TEXT_MAX);
	int r = 0;

	records_write(agent->records, true, &text);
	for (size_t at = 0; at < text.len && r == 0; at += PROTOCOL_DATA_CHUNK) {
		cleanup_buf struct buf out = BUF_INIT;
		size_t len = text.len - at < PROTOCOL_DATA_CHUNK ? text.len - at : PROTOCOL_DATA_CHUNK;

		frame_write(&out, FRAME_DATA, text.data + at, len);
		r = send_bytes(agent, &out);
	}
	return r;
}

static void sleep_until(struct deadline deadline)
{
	while (!deadline_passed(deadline))
		poll(NULL, 0, deadline_poll_ms(deadline));
}

static int64_t request_ms(const json_t *request, const char *key, int64_t otherwise, int64_t most)
{
	const json_t *value = json_object_get(request, key);
	int64_t ms = json_is_integer(value) ? json_integer_value(value) : otherwise;

	return ms < 0 ? 0 : ms > most ? most : ms;
}

static int do_gather(struct agent *agent, const json_t *request, struct fault *reterr)
{
	int64_t window_ms = request_ms(request, "window_ms", -1, WINDOW_MS_MAX);
	struct deadline second;

	(void)reterr;
	agent_reset(agent);
	agent_open(agent);
	agent->snap = snapshot_gather(agent->source, "peer", "worker");
	if (json_object_get(request, "window_ms")) {
		second = deadline_in_ms(window_ms);
		sleep_until(second);
		snapshot_sample_again(agent->snap, agent->source);
	}
	return 0;
}

static int do_sample(struct agent *agent, const json_t *request, struct fault *reterr)
{
	(void)request;
	if (!agent->snap)
		return fault_set(reterr, EINVAL, "sample before gather");
	snapshot_sample_again(agent->snap, agent->source);
	return 0;
}

static int do_probe(struct agent *agent, const json_t *request, struct fault *reterr)
{
	struct deadline deadline = deadline_in_ms(request_ms(request, "ms", PROBE_MS, PROBE_MS_MAX));
	const json_t *list = json_object_get(request, "targets"), *item;
	struct reach_target targets[PROBE_TARGETS_MAX];
	size_t n = 0, i;
	int r;

	if (!json_is_array(list) || json_array_size(list) > PROBE_TARGETS_MAX)
		return fault_set(reterr, EINVAL, "probe wants at most %d targets", PROBE_TARGETS_MAX);
	json_array_foreach(list, i, item) {
		targets[n].dev = json_string_value(json_object_get(item, "dev"));
		targets[n].addr = json_string_value(json_object_get(item, "addr"));
		if (!targets[n].dev || !targets[n].addr)
			return fault_set(reterr, EINVAL, "a target of probe has \"dev\" and \"addr\"");
		n++;
	}
	if (!agent->source)
		agent_open(agent);
	r = reach_probe(agent->source, targets, n, deadline);
	return r < 0 ? fault_set(reterr, -r, "probe: %s", strerror(-r)) : 0;
}

/* All that can be asked for. Nothing in a request is ever run, opened or used as a name of a file. */
static const struct command {
	const char *name;
	int (*run)(struct agent *agent, const json_t *request, struct fault *reterr);
} commands[] = {
	{ "gather", do_gather },
	{ "probe", do_probe },
	{ "sample", do_sample },
};

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; name && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int serve_request(struct agent *agent, const json_t *request)
{
	const struct command *command = command_find(json_string_value(json_object_get(request, "do")));
	json_int_t id = json_integer_value(json_object_get(request, "id"));
	struct fault fault = { 0 };
	int r;

	r = command ? command->run(agent, request, &fault)
		    : fault_set(&fault, EOPNOTSUPP, "sparkfab-agent %s does not know this command", SPARKFAB_VERSION);
	if (r < 0)
		return send_json(
			agent, FRAME_REPLY,
			json_pack("{s:I,s:b,s:i,s:s}", "id", id, "ok", 0, "errno", fault.err, "error", fault.msg));
	r = send_fresh(agent);
	return r < 0 ? r : send_json(agent, FRAME_REPLY, json_pack("{s:I,s:b}", "id", id, "ok", 1));
}

/* Next frame into *ret (a view); *ret_used is to be dropped. 1, 0 at the end of the stream, or -errno. */
static int receive(struct agent *agent, struct deadline deadline, struct frame *ret, size_t *ret_used)
{
	char chunk[16384];
	ssize_t n;
	int r;

	while ((r = frame_read(&agent->received, ret, ret_used, NULL)) == 0) {
		if (!wait_for(agent->in, POLLIN, deadline))
			return -ETIMEDOUT;
		n = read(agent->in, chunk, sizeof(chunk));
		if (n == 0)
			return 0;
		if (n > 0)
			buf_add(&agent->received, chunk, (size_t)n);
		else if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
	return r;
}

static int check_hello(const struct frame *frame)
{
	struct hello hello;
	json_t *json;
	int r;

	if (frame->type != FRAME_HELLO)
		return -EPROTO;
	r = frame_json(frame, &json, NULL);
	if (r < 0)
		return r;
	r = hello_read(json, &hello, NULL);
	json_decref(json);
	return r;
}

static int serve_frame(struct agent *agent, const struct frame *frame)
{
	json_t *request;
	int r;

	if (frame->type != FRAME_REQUEST)
		return -EPROTO;
	r = frame_json(frame, &request, NULL);
	if (r < 0)
		return r;
	r = serve_request(agent, request);
	json_decref(request);
	return r;
}

static int greet(struct agent *agent)
{
	cleanup_buf struct buf out = BUF_INIT;

	buf_adds(&out, PROTOCOL_MAGIC "\n");
	frame_write_json(&out, FRAME_HELLO, hello_json());
	return send_bytes(agent, &out);
}

/* Serves until BYE or the end of stdin (0), or an error. */
static int serve(struct agent *agent)
{
	struct deadline deadline = deadline_in_ms(HELLO_MS);
	bool greeted = false;
	struct frame frame;
	size_t used;
	int r = greet(agent);

	while (r == 0) {
		r = receive(agent, deadline, &frame, &used);
		if (r <= 0 || frame.type == FRAME_BYE)
			return r < 0 ? r : 0;
		r = greeted ? serve_frame(agent, &frame) : check_hello(&frame);
		greeted = true;
		buf_drop(&agent->received, used);
		deadline = deadline_in_ms(IDLE_MS);
	}
	return r;
}

static int worker_main(int in, int out)
{
	struct agent agent = { .in = in, .out = out, .received = BUF_INIT_MAX(PROTOCOL_FRAME_MAX + (64u << 10)) };
	int flags = fcntl(out, F_GETFL), r;

	if (flags >= 0)
		fcntl(out, F_SETFL, flags | O_NONBLOCK);
	r = serve(&agent);
	agent_reset(&agent);
	buf_release(&agent.received);
	if (r == 0)
		return EXIT_OK;
	return r == -EPROTO || r == -EPROTONOSUPPORT ? EXIT_PROTOCOL : EXIT_IO;
}

struct keeper {
	int in;    /* the session's stdin */
	int pipe;  /* to the worker */
	int pidfd; /* -1 where the kernel has none: then the broken pipe tells */
	pid_t pid;
	char data[16384];
	size_t at, len;
};

/* Takes more from stdin; false at its end. */
static bool keeper_read(struct keeper *keeper)
{
	ssize_t n = read(keeper->in, keeper->data, sizeof(keeper->data));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	keeper->at = 0;
	keeper->len = n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* Passes on what was taken; false if the worker is gone. */
static bool keeper_write(struct keeper *keeper)
{
	ssize_t n = write(keeper->pipe, keeper->data + keeper->at, keeper->len);

	if (n > 0) {
		keeper->at += (size_t)n;
		keeper->len -= (size_t)n;
	}
	return n > 0 || errno == EINTR || errno == EAGAIN;
}

/* Until stdin or the worker ends; true if stdin ended first. */
static bool keep(struct keeper *keeper)
{
	for (;;) {
		bool empty = keeper->len == 0;
		struct pollfd fds[] = {
			{ .fd = keeper->in, .events = (short)(POLLRDHUP | (empty ? POLLIN : 0)) },
			{ .fd = keeper->pipe, .events = empty ? 0 : POLLOUT },
			{ .fd = keeper->pidfd, .events = POLLIN },
		};

		if (poll(fds, 3, -1) < 0) {
			if (errno == EINTR)
				continue;
			return true;
		}
		if (fds[2].revents || (fds[1].revents & (POLLERR | POLLHUP)))
			return false;
		/* Hung up also counts while requests are unread: nobody is there for their answers. */
		if (fds[0].revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL))
			return true;
		if ((fds[0].revents & POLLIN) && !keeper_read(keeper))
			return true;
		if ((fds[1].revents & POLLOUT) && !keeper_write(keeper))
			return false;
	}
}

/* Ends the worker and returns its exit code. One that hangs in the kernel is left behind after a second. */
static int keeper_end(struct keeper *keeper, bool gone)
{
	struct deadline deadline = deadline_in_ms(gone ? 2000 : 1000);
	int status = 0;
	pid_t pid;

	if (!gone)
		kill(keeper->pid, SIGKILL);
	while ((pid = waitpid(keeper->pid, &status, WNOHANG)) == 0 && !deadline_passed(deadline))
		poll(NULL, 0, 5);
	if (pid == 0) {
		kill(keeper->pid, SIGKILL);
		return EXIT_IO;
	}
	if (!gone)
		return EXIT_OK;
	if (WIFSIGNALED(status)) {
		dprintf(STDERR_FILENO, "sparkfab-agent: ended by signal %d (%s)\n", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

static _Noreturn void worker_start(int in, int out, const int fds[2], pid_t parent)
{
	int code;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_IO);
	close(fds[1]);
	if (in != out && in > STDERR_FILENO)
		close(in);
	if (in == STDIN_FILENO) /* the worker must not keep the session's stdin, nor anything of it read it */
		dup2(fds[0], STDIN_FILENO);
	code = worker_main(fds[0], out);
	_exit(code);
}

int agent_serve(int in, int out)
{
	struct keeper keeper = { .in = in };
	pid_t self = getpid();
	bool eof;
	int fds[2], code;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return EXIT_IO;
	signal(SIGPIPE, SIG_IGN);
	keeper.pid = fork();
	if (keeper.pid == 0)
		worker_start(in, out, fds, self);
	close(fds[0]);
	if (keeper.pid < 0) {
		close(fds[1]);
		return EXIT_IO;
	}
	keeper.pipe = fds[1];
	keeper.pidfd = (int)syscall(SYS_pidfd_open, keeper.pid, 0);
	eof = keep(&keeper);
	code = keeper_end(&keeper, !eof);
	close(keeper.pipe);
	if (keeper.pidfd >= 0)
		close(keeper.pidfd);
	return code;
}
