/* SPDX-License-Identifier: Apache-2.0 */
/* peer.reach - was there a way to the peer at all: name, route, sshd, host key, login. */
#include <string.h>

#include "checks/check.h"

static void advise(struct verdicts *v, struct finding *f, const struct contact *peer)
{
	struct arena *arena = v->results->arena;
	const char *advice = NULL;

	if (peer->fault == CONTACT_AUTH)
		advice = arena_printf(arena, "let this user log in there without a password: ssh-copy-id %s", peer->name);
	else if (peer->fault == CONTACT_HOST_KEY)
		advice = arena_printf(arena,
				      "log in once by hand and compare the fingerprint: ssh %s (a key that changed without "
				      "a reinstallation is a reason to stop)",
				      peer->name);
	else if (peer->transport && !strcmp(peer->transport, "ssh"))
		advice = arena_printf(arena, "try the same way by hand: ssh -o BatchMode=yes %s true", peer->name);
	else
		advice = "try the --via command by hand, with `true` as what it runs there";
	remedy_advice(v->results, f, v->fabric->n_hosts ? v->fabric->hosts[0] : NULL, "%s", advice);
}

static bool is_reach_fault(const struct contact *peer)
{
	switch (peer->fault) {
	case CONTACT_TRANSPORT:
	case CONTACT_HOST_KEY:
	case CONTACT_AUTH:
		return true;
	case CONTACT_SILENT:
	case CONTACT_CLOSED:
		return !peer->agent_spoke; /* after HELLO it is the agent that failed: peer.agent */
	default:
		return false;
	}
}

static void judge_peer(struct verdicts *v, const struct contact *peer)
{
	struct finding *f;

	if (!is_reach_fault(peer)) {
		f = pass(v, NULL, peer->name, "%s was reached", peer->name);
		finding_host(v->results, f, peer->name);
		saw_num(v, f, NULL, "time until HELLO", peer->connect_ns, "ns");
		return;
	}
	f = unknown(v, NULL, peer->name, "%s", peer->message);
	finding_host(v->results, f, peer->name);
	if (peer->detail)
		saw_text(v, f, NULL, "last words of the transport", text_of(peer->detail, peer->transport));
	advise(v, f, peer);
}

static void compare(struct verdicts *v)
{
	each_contact(v, judge_peer);
}

const struct check check_peer_reach = {
	.id = "peer.reach",
	.title = "Every peer can be reached",
	.why = "what a peer does not tell cannot be checked: its half of the fabric stays unknown",
	.remedy = "make `ssh HOST true` work without a question, or name another way with --via",
	.source = "ssh(1): BatchMode and StrictHostKeyChecking are always on here",
	.needs = NEEDS_CONTACTS,
	.level = LEVEL_PASSIVE,
	.compare = compare,
};
