// SPDX-License-Identifier: Apache-2.0
/* All peers of a run, driven by one poll loop. */
#include "peer/peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/arena.h"
#include "peer/session.h"
#include "peer/ssh.h"

#define CONNECT_MS 20000
#define COMMAND_MS 15000
#define BYE_MS     500
#define LOOK_MS    100 /* how long a signal's *stop may go unseen */

struct peers {
	struct arena *arena;
	struct session_shared shared;
	struct peer *items;
	struct peer_private *sessions;
	size_t n;
	const char *agent_path;
};

struct peers *peers_new(const char *const names[], size_t n, const struct peer_options *options,
			peers_progress_fn *progress, void *ctx)
{
	struct peers *peers = xcalloc(1, sizeof(*peers));

	peers->arena = arena_new();
	peers->items = xcalloc(n, sizeof(*peers->items));
	peers->sessions = xcalloc(n, sizeof(*peers->sessions));
	peers->n = n;
	peers->agent_path = options->agent_path;
	peers->shared = (struct session_shared){
		.arena = peers->arena,
		.via = options->via,
		.no_deploy = options->no_deploy,
		.progress = progress,
		.progress_ctx = ctx,
		.connect_ms = options->connect_ms > 0 ? options->connect_ms : CONNECT_MS,
		.command_ms = options->command_ms > 0 ? options->command_ms : COMMAND_MS,
	};
	for (size_t i = 0; i < n; i++) {
		peers->items[i].name = arena_strdup(peers->arena, names[i]);
		peers->items[i].records = records_new();
		peers->items[i].private_ = &peers->sessions[i];
		peers->sessions[i] = (struct peer_private){
			.peer = &peers->items[i],
			.shared = &peers->shared,
			.child = CHILD_INIT,
			.in = BUF_INIT_MAX(PROTOCOL_HEADER_LEN + PROTOCOL_FRAME_MAX + (128u << 10)),
			.out = BUF_INIT_MAX(AGENT_FILE_MAX + (1u << 20)),
			.noise = BUF_INIT_MAX(PROTOCOL_NOISE_MAX),
			.data = BUF_INIT_MAX(SNAPSHOT_TEXT_MAX),
		};
	}
	return peers;
}

struct peer *peers_get(struct peers *peers, size_t i)
{
	return &peers->items[i];
}

size_t peers_count(const struct peers *peers)
{
	return peers->n;
}

/* Reads and judges nothing of a peer; a broken pipe to one must not end the program. */
static void ignore_sigpipe(void)
{
	struct sigaction now;

	if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
}

static void advance_all(struct peers *peers)
{
	for (size_t i = 0; i < peers->n; i++)
		session_advance(&peers->sessions[i]);
}

/* Fills what to wait for; returns how many descriptors, and when the first deadline is. False: nobody is waited for. */
static bool collect_waits(struct peers *peers, struct pollfd *fds, size_t *ret_n, struct deadline *ret_deadline)
{
	bool busy = false;

	*ret_n = 0;
	*ret_deadline = (struct deadline){ INT64_MAX };
	for (size_t i = 0; i < peers->n; i++) {
		if (!session_is_busy(&peers->sessions[i]))
			continue;
		busy = true;
		*ret_n += session_fds(&peers->sessions[i], fds + *ret_n);
		*ret_deadline = deadline_earlier(*ret_deadline, peers->sessions[i].deadline);
	}
	return busy;
}

/* Until no session waits for anything. */
static int run_loop(struct peers *peers, const volatile bool *stop)
{
	cleanup_free struct pollfd *fds = xcalloc(peers->n * SESSION_FDS + 1, sizeof(*fds));
	struct deadline deadline;
	size_t n;

	for (;;) {
		if (stop && *stop)
			return -EINTR;
		advance_all(peers);
		if (!collect_waits(peers, fds, &n, &deadline))
			return 0;
		deadline = deadline_earlier(deadline, deadline_in_ms(LOOK_MS));
		poll(fds, (nfds_t)n, deadline_poll_ms(deadline)); /* whatever it says, all are looked at */
	}
}

static void fail_all(struct peers *peers, enum peer_fault kind, const struct fault *fault)
{
	for (size_t i = 0; i < peers->n; i++) {
		peers->items[i].fault_kind = kind;
		peers->items[i].fault = *fault;
		peers->sessions[i].step = SESSION_DEAD;
	}
}

void peers_start(struct peers *peers, const volatile bool *stop)
{
	struct session_shared *shared = &peers->shared;
	struct fault fault = { 0 };

	if (shared->line)
		return;
	ignore_sigpipe();
	if (agent_files_find(peers->arena, peers->agent_path, &shared->files, &fault) < 0) {
		fail_all(peers, PEER_FAULT_NO_AGENT, &fault);
		return;
	}
	shared->line = bootstrap_line(peers->arena, &shared->files, shared->no_deploy);
	shared->env = transport_env(peers->arena, environ);
	for (size_t i = 0; i < peers->n && !(stop && *stop); i++)
		if (peers->sessions[i].step == SESSION_NEW)
			session_start(&peers->sessions[i]);
}

int peers_connect(struct peers *peers, const volatile bool *stop)
{
	peers_start(peers, stop);
	return run_loop(peers, stop);
}

int peers_command(struct peers *peers, const char *command, peers_args_fn *args_of, void (*work)(void *ctx), void *ctx,
		  const volatile bool *stop)
{
	for (size_t i = 0; i < peers->n; i++) {
		json_t *args;

		if (peers->sessions[i].step != SESSION_READY)
			continue;
		args = args_of ? args_of(ctx, i) : json_object();
		if (args)
			session_request(&peers->sessions[i], command, args);
	}
	if (work) {
		work(ctx);
		for (size_t i = 0; i < peers->n; i++)
			session_renew(&peers->sessions[i]);
	}
	return run_loop(peers, stop);
}

struct peers *peers_free(struct peers *peers)
{
	struct deadline grace;

	if (!peers)
		return NULL;
	for (size_t i = 0; i < peers->n; i++)
		session_bye(&peers->sessions[i]);
	grace = deadline_in_ms(BYE_MS);
	for (size_t i = 0; i < peers->n; i++) {
		session_release(&peers->sessions[i], grace);
		records_free(peers->items[i].records);
		free(peers->items[i].detail);
		free(peers->items[i].noise);
	}
	free(peers->sessions);
	free(peers->items);
	arena_free(peers->arena);
	free(peers);
	return NULL;
}
