/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gathering from live hosts. Everything that is learnt ends up in records, and only records are judged: so what was live can
 * be judged again from the files, and must come out equal.
 */
#include "cli/gather.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "core/alloc.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/text.h"
#include "peer/peer.h"
#include "peer/ssh.h"
#include "perf/reach.h"

#define SAMPLE_WINDOW_MS 1000 /* between the two readings of counters: a link that flaps shows within a second */
#define PROBE_MS 1500
#define CONTACT_TEXT_MAX 2000 /* bytes of foreign text kept in a contact */

struct gathering {
	struct arena *arena;
	struct records *head;
	struct source *source; /* recorder over the live machine, into head */
	const char *head_name;
	struct peers *peers; /* NULL: none asked for */
	struct records **of_peer; /* borrowed from the peer, or made here for one that failed */
	bool *of_peer_owned;
	struct fault *refused; /* by peer: a command without which its facts are not whole */
	int64_t sampled_ns; /* when the first reading was over */
	/* while probing */
	struct hosts *hosts;
	const struct fabric *fabric;
};

static bool is_user_name(const char *name, size_t len)
{
	char user[256] = "";

	if (len >= sizeof(user))
		return false;
	memcpy(user, name, len);
	return text_is_host_name(user);
}

/* Whether it can be split into words at all: better said before anything is started. */
static int check_via(const char *via, struct fault *reterr)
{
	struct arena *arena = arena_new();
	const char *const *argv;
	int err = transport_argv(arena, "host", via, "true", &argv, reterr);

	arena_free(arena);
	return err;
}

int gather_check_peers(const struct gather_options *options, struct fault *reterr)
{
	for (size_t i = 0; i < options->peers.n; i++) {
		const char *name = options->peers.items[i];
		const char *at = strrchr(name, '@');

		if (!text_is_host_name(at ? at + 1 : name) || (at && !is_user_name(name, (size_t)(at - name))))
			return fault_set(reterr, EINVAL,
					 "--peer '%s' is no host name: [USER@]HOST of letters, digits and . : - _ %%, not "
					 "beginning with - or .",
					 name);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(name, options->peers.items[j]))
				return fault_set(reterr, EINVAL, "--peer %s is given twice", name);
	}
	return options->via ? check_via(options->via, reterr) : 0;
}

static void gather_head(struct gathering *g)
{
	/* The typed view is built again from the records, for judging; here it only drives what is read. */
	snapshot_free(snapshot_gather(g->source, g->head_name, "head"));
	g->sampled_ns = clock_boot_ns();
}

static void sample_head(void *ctx)
{
	struct gathering *g = ctx;
	struct source *replay = NULL;
	struct snapshot *snapshot = snapshot_from_records(g->head, g->head_name, "head", &replay);

	source_set_sample(g->source, 2);
	snapshot_sample_again(snapshot, g->source);
	source_set_sample(g->source, 1);
	snapshot_free(snapshot);
	source_free(replay);
}

static enum contact_fault contact_fault_of(enum peer_fault fault)
{
	static const enum contact_fault map[] = {
		[PEER_OK] = CONTACT_OK,
		[PEER_FAULT_TRANSPORT] = CONTACT_TRANSPORT,
		[PEER_FAULT_HOST_KEY] = CONTACT_HOST_KEY,
		[PEER_FAULT_AUTH] = CONTACT_AUTH,
		[PEER_FAULT_NO_AGENT] = CONTACT_NO_AGENT,
		[PEER_FAULT_NOISE] = CONTACT_NOISE,
		[PEER_FAULT_VERSION] = CONTACT_VERSION,
		[PEER_FAULT_TIMEOUT] = CONTACT_SILENT,
		[PEER_FAULT_CLOSED] = CONTACT_CLOSED,
		[PEER_FAULT_PROTOCOL] = CONTACT_PROTOCOL,
	};

	return map[fault];
}

static const char *visible_start(struct arena *arena, const char *text, size_t len)
{
	cleanup_buf struct buf out = BUF_INIT;

	if (!text || !len)
		return NULL;
	text_add_visible(&out, text, len < CONTACT_TEXT_MAX ? len : CONTACT_TEXT_MAX);
	return arena_strdup(arena, buf_str(&out));
}

static const char *transport_words(const struct gather_options *options)
{
	return options->via ? "--via" : "ssh";
}

/* Puts how it went with peer i beside its facts. A peer that failed keeps no facts: half of them would pass for all. */
static void record_contact(struct gathering *g, const struct gather_options *options, size_t i)
{
	struct peer *peer = peers_get(g->peers, i);
	bool refused = peer->fault_kind == PEER_OK && g->refused[i].err;
	struct contact contact = {
		.name = peer->name,
		.fault = refused ? CONTACT_PROTOCOL : contact_fault_of(peer->fault_kind),
		.agent_spoke = peer->phase >= PEER_HELLO,
		.message = refused ? g->refused[i].msg : peer->fault_kind == PEER_OK ? NULL : peer->fault.msg,
		.detail = visible_start(g->arena, peer->detail, peer->detail ? strlen(peer->detail) : 0),
		.noise = visible_start(g->arena, peer->noise, peer->noise_len),
		.noise_len = peer->noise_len,
		.transport = transport_words(options),
		.agent_version = peer->agent_version,
		.agent_arch = peer->agent_arch,
		.deployed = peer->deployed,
		.connect_ns = peer->agent_version ? num_of((int64_t)(peer->connect_s * 1e9), "clock of this host") :
						    num_err(VALUE_NOT_ASKED, NULL),
	};

	if (g->of_peer_owned[i])
		records_free(g->of_peer[i]);
	g->of_peer_owned[i] = contact.fault != CONTACT_OK || !peer->records;
	g->of_peer[i] = g->of_peer_owned[i] ? records_new() : peer->records;
	records_set_header(g->of_peer[i], "host", peer->name);
	records_set_header(g->of_peer[i], "level", level_name(options->level));
	contact_record(g->of_peer[i], &contact);
}

static void record_contacts(struct gathering *g, const struct gather_options *options)
{
	for (size_t i = 0; g->peers && i < peers_count(g->peers); i++)
		record_contact(g, options, i);
}

static bool is_well(const struct gathering *g, size_t i)
{
	return peers_get(g->peers, i)->fault_kind == PEER_OK && !g->refused[i].err;
}

/* The snapshot of peer i in g->hosts, NULL if it failed: the hosts are the head, then the peers that are well, in order. */
static const struct snapshot *snapshot_of_peer(struct gathering *g, size_t i)
{
	size_t at = 1;

	if (!is_well(g, i))
		return NULL;
	for (size_t j = 0; j < i; j++)
		at += is_well(g, j);
	return hosts_snapshot(g->hosts, at);
}

/* The other ends that `host` should try, from each rail it is on: everybody tries the first end, and that one tries all. */
static size_t probe_targets(const struct gathering *g, const struct snapshot *host, struct arena *arena,
			    struct reach_target **ret)
{
	size_t n = 0;

	*ret = NULL;
	for (size_t r = 0; r < g->fabric->n_rails; r++) {
		const struct rail *rail = &g->fabric->rails[r];
		const struct rail_end *own = rail_end_on(rail, host);

		for (size_t e = 0; own && own->netdev && e < rail->n_ends; e++) {
			const struct rail_end *other = &rail->ends[e];

			if (other == own || !other->addr || (own != &rail->ends[0] && e != 0))
				continue;
			*arena_push(arena, ret, &n) =
				(struct reach_target){ .dev = own->netdev->name, .addr = other->addr->text };
		}
	}
	return n;
}

static void probe_head(void *ctx)
{
	struct gathering *g = ctx;
	struct reach_target *targets;
	size_t n = probe_targets(g, hosts_snapshot(g->hosts, 0), g->arena, &targets);

	if (n)
		reach_probe(g->source, targets, n, deadline_in_ms(PROBE_MS));
}

static json_t *probe_args(void *ctx, size_t i)
{
	struct gathering *g = ctx;
	const struct snapshot *host = snapshot_of_peer(g, i);
	struct reach_target *targets;
	size_t n = host ? probe_targets(g, host, g->arena, &targets) : 0;
	json_t *list;

	if (!n)
		return NULL;
	list = json_array();
	for (size_t t = 0; t < n; t++)
		json_array_append_new(list, json_pack("{ss ss}", "dev", targets[t].dev, "addr", targets[t].addr));
	return json_pack("{so si}", "targets", list, "ms", PROBE_MS);
}

static json_t *no_args(void *ctx, size_t i)
{
	struct gathering *g = ctx;

	return g->refused[i].err ? NULL : json_object();
}

/* A command that every peer's facts need: whoever refuses it has told only half. */
static int needed_command(struct gathering *g, const char *command, void (*work)(void *ctx))
{
	int err = peers_command(g->peers, command, no_args, work, g, &verb_stop);

	for (size_t i = 0; i < peers_count(g->peers); i++)
		if (!g->refused[i].err)
			g->refused[i] = peers_get(g->peers, i)->command_fault;
	return err;
}

/* Which ports share a segment is known once all have answered; then each rail is tried from both of its ends. */
static int probe_rails(struct gathering *g, const struct gather_options *options)
{
	int err;

	record_contacts(g, options);
	g->hosts = hosts_new();
	gathering_add_to(g, g->hosts);
	g->fabric = hosts_fabric(g->hosts, NULL);
	progress_say("trying the rails");
	err = peers_command(g->peers, "probe", probe_args, probe_head, g, &verb_stop);
	g->fabric = NULL;
	g->hosts = hosts_free(g->hosts);
	return err;
}

static int wait_for_window(const struct gathering *g)
{
	int64_t left_ms = (g->sampled_ns - clock_boot_ns()) / 1000000 + SAMPLE_WINDOW_MS;

	while (left_ms > 0) {
		if (verb_stop)
			return -EINTR;
		poll(NULL, 0, (int)(left_ms < 100 ? left_ms : 100));
		left_ms = (g->sampled_ns - clock_boot_ns()) / 1000000 + SAMPLE_WINDOW_MS;
	}
	return verb_stop ? -EINTR : 0;
}

static int sample_again(struct gathering *g)
{
	int err;

	progress_say("reading the counters again");
	err = wait_for_window(g);
	if (err)
		return err;
	if (!g->peers) {
		sample_head(g);
		return 0;
	}
	return needed_command(g, "sample", sample_head);
}

static int ask_peers(struct gathering *g, const struct gather_options *options, struct fault *reterr)
{
	struct peer_options peer_options = {
		.via = options->via,
		.no_deploy = options->no_deploy,
		.connect_ms = (int)(options->timeout_s * 1000),
	};
	int err;

	g->peers = peers_new(options->peers.items, options->peers.n, &peer_options, progress_show, NULL);
	g->of_peer = arena_array(g->arena, options->peers.n, sizeof(*g->of_peer));
	g->of_peer_owned = arena_array(g->arena, options->peers.n, sizeof(*g->of_peer_owned));
	g->refused = arena_array(g->arena, options->peers.n, sizeof(*g->refused));
	peers_start(g->peers, &verb_stop);
	gather_head(g); /* while they connect */
	err = peers_connect(g->peers, &verb_stop);
	if (!err)
		err = needed_command(g, "gather", NULL);
	if (err)
		fault_set(reterr, -err, "stopped");
	return err;
}

static void start_head(struct gathering *g, enum level level)
{
	struct utsname names;

	if (uname(&names) == 0)
		g->head_name = arena_strdup(g->arena, names.nodename);
	else
		g->head_name = "head";
	g->head = records_new();
	g->source = source_recorder_new(source_live_new("/"), g->head);
	records_set_header(g->head, "host", g->head_name);
	records_set_header(g->head, "arch", uname(&names) == 0 ? names.machine : "unknown");
	records_set_header(g->head, "tool", "sparkfab " SPARKFAB_VERSION);
	records_set_header(g->head, "level", level_name(level));
}

int gather_live(const struct gather_options *options, struct gathering **ret, struct fault *reterr)
{
	struct gathering *g = xcalloc(1, sizeof(*g));
	int err = 0;

	g->arena = arena_new();
	start_head(g, options->level);
	if (options->peers.n)
		err = ask_peers(g, options, reterr);
	else
		gather_head(g);
	if (!err && g->peers && options->level >= LEVEL_PROBE)
		err = probe_rails(g, options);
	if (!err && options->level >= LEVEL_PROBE)
		err = sample_again(g);
	progress_clear();
	if (err) {
		gathering_free(g);
		return err;
	}
	record_contacts(g, options);
	*ret = g;
	return 0;
}

size_t gathering_count(const struct gathering *g)
{
	return 1 + (g->peers ? peers_count(g->peers) : 0);
}

struct records *gathering_records(const struct gathering *g, size_t i)
{
	return i == 0 ? g->head : g->of_peer[i - 1];
}

const char *gathering_name(const struct gathering *g, size_t i)
{
	return i == 0 ? g->head_name : peers_get(g->peers, i - 1)->name;
}

void gathering_add_to(const struct gathering *g, struct hosts *hosts)
{
	for (size_t i = 0; i < gathering_count(g); i++)
		hosts_add(hosts, gathering_records(g, i), false);
}

struct gathering *gathering_free(struct gathering *g)
{
	if (!g)
		return NULL;
	for (size_t i = 0; g->peers && i < peers_count(g->peers); i++)
		if (g->of_peer_owned[i])
			records_free(g->of_peer[i]);
	peers_free(g->peers);
	source_free(g->source);
	records_free(g->head);
	arena_free(g->arena);
	free(g);
	return NULL;
}

/* A peer's name may hold ':' and '%'; a '/' cannot be in it, so it is a file name as it is. Order must survive a shell's
 * glob, with the head first. */
static const char *snapshot_path(const struct gathering *g, const char *dir, size_t i, struct arena *arena)
{
	return arena_printf(arena, "%s/%02zu-%s.snap", dir, i, gathering_name(g, i));
}

int gathering_save(const struct gathering *g, const char *dir, struct fault *reterr)
{
	int err = 0;

	if (mkdir(dir, 0777) && errno != EEXIST)
		return fault_set(reterr, errno, "%s: cannot be made: %s", dir, strerror(errno));
	for (size_t i = 0; i < gathering_count(g) && !err; i++) {
		cleanup_buf struct buf text = BUF_INIT;

		records_write(gathering_records(g, i), false, &text);
		err = output_file(snapshot_path(g, dir, i, g->arena), &text, reterr);
	}
	return err;
}
