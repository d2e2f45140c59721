/* SPDX-License-Identifier: Apache-2.0 */
/* peer.noise - does the peer's login shell keep quiet when nobody sits at it. */
#include "checks/check.h"

static void judge_peer(struct verdicts *v, const struct contact *peer)
{
	struct finding *f;

	if (peer->fault == CONTACT_NOISE)
		f = unknown(v, NULL, peer->name, "%s", peer->message);
	else if (peer->noise_len > 0)
		f = warn(v, NULL, peer->name, "%s printed %zu byte%s before the agent spoke", peer->name, peer->noise_len,
			 peer->noise_len == 1 ? "" : "s");
	else if (!peer->agent_spoke)
		f = skip(v, NULL, peer->name, "%s was not reached", peer->name);
	else
		f = pass(v, NULL, peer->name, "nothing came before the agent's first word");
	finding_host(v->results, f, peer->name);
	if (!peer->noise_len)
		return;
	if (peer->noise)
		saw_text(v, f, NULL, "it begins", text_of(peer->noise, "first bytes of the connection"));
	finding_remedy(v->results, f,
		       (struct remedy){ .host = peer->name,
					.advice = "print only for people: in ~/.bashrc and the like, `case $- in *i*) ;; *) "
						  "return ;; esac` before the first output" });
}

static void compare(struct verdicts *v)
{
	each_contact(v, judge_peer);
}

const struct check check_peer_noise = {
	.id = "peer.noise",
	.title = "A peer's login prints nothing before the agent speaks",
	.why = "output of a start-up file breaks rsync, scp, mpirun and every other tool that talks through ssh, sooner or later",
	.remedy = "let the shell's start-up files print only in interactive shells",
	.source = "docs/PROTOCOL.md: up to 64 KiB are skipped",
	.needs = NEEDS_CONTACTS,
	.level = LEVEL_PASSIVE,
	.compare = compare,
};
