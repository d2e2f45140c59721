/* SPDX-License-Identifier: Apache-2.0 */
/* peer.agent - does an agent that we understand answer there, to the end. */
#include "checks/check.h"

static bool is_agent_fault(const struct contact *peer)
{
	switch (peer->fault) {
	case CONTACT_NO_AGENT:
	case CONTACT_VERSION:
	case CONTACT_PROTOCOL:
		return true;
	case CONTACT_SILENT:
	case CONTACT_CLOSED:
		return peer->agent_spoke;
	default:
		return false;
	}
}

static void advise(struct verdicts *v, struct finding *f, const struct contact *peer)
{
	const char *advice = NULL;

	if (peer->fault == CONTACT_VERSION)
		advice = "install the same version of sparkfab on both hosts, or run without --no-deploy so that a matching "
			 "agent is copied";
	else if (peer->fault == CONTACT_NO_AGENT)
		advice = "install sparkfab there too, or allow copying the agent (no --no-deploy, a home directory that can "
			 "be written and holds programs)";
	else if (peer->fault == CONTACT_SILENT)
		advice = "look at what holds the agent up there: ps -o pid,stat,wchan:32,cmd -C sparkfab-agent";
	if (advice)
		finding_remedy(v->results, f, (struct remedy){ .host = peer->name, .advice = advice });
}

static void judge_peer(struct verdicts *v, const struct contact *peer)
{
	struct finding *f;

	if (is_agent_fault(peer)) {
		f = unknown(v, NULL, peer->name, "%s", peer->message);
		advise(v, f, peer);
	} else if (peer->fault != CONTACT_OK) {
		f = skip(v, NULL, peer->name, "%s was not reached", peer->name);
	} else {
		f = pass(v, NULL, peer->name, "%s answered with agent %s%s", peer->name,
			 peer->agent_version ? peer->agent_version : "?", peer->deployed ? ", copied there now" : "");
	}
	finding_host(v->results, f, peer->name);
	if (peer->agent_version)
		saw_text(v, f, NULL, "agent version", text_of(peer->agent_version, "HELLO"));
	if (peer->fault != CONTACT_OK && peer->detail && is_agent_fault(peer))
		saw_text(v, f, NULL, "last words of the transport", text_of(peer->detail, peer->transport));
}

static void compare(struct verdicts *v)
{
	each_contact(v, judge_peer);
}

const struct check check_peer_agent = {
	.id = "peer.agent",
	.title = "A matching agent answers on every peer",
	.why = "facts from an agent of another protocol, or half of them, would be compared with ours as if they were whole",
	.remedy = "the same version of sparkfab on all hosts",
	.source = "docs/PROTOCOL.md",
	.needs = NEEDS_CONTACTS,
	.level = LEVEL_PASSIVE,
	.compare = compare,
};
