/* SPDX-License-Identifier: Apache-2.0 */
/* The runner: every check over every host and over the fabric, and what surrounds the findings. */
#include "judge/judge.h"

#include <inttypes.h>
#include <string.h>

#include "rules/pairs.h"

const struct check *check_find(const char *id)
{
	for (const struct check *const *check = check_registry; *check; check++)
		if (!strcmp((*check)->id, id))
			return *check;
	return NULL;
}

/* Selected by full id or by family ("mtu" selects "mtu.parity"). */
static bool is_selected(const struct check *check, const char *const *only)
{
	if (!only || !only[0])
		return true;
	for (; *only; only++) {
		size_t len = strlen(*only);

		if (!strncmp(check->id, *only, len) && (check->id[len] == '\0' || check->id[len] == '.'))
			return true;
	}
	return false;
}

/* Says why the check was not called for this host; NULL if its needs are met. */
static struct finding *needs_missing(struct verdicts *v, const struct snapshot *host)
{
	if ((v->check->needs & NEEDS_PORTS) && host->n_ports == 0) {
		if (value_gap(host->devs_listed.err) == GAP_UNREADABLE)
			return unread(v, host, "", "RDMA devices", host->devs_listed);
		return skip(v, host, "", "no RDMA port on this host");
	}
	if ((v->check->needs & NEEDS_NETDEVS) && host->n_netdevs == 0) {
		if (value_gap(host->netdevs_listed.err) == GAP_UNREADABLE)
			return unread(v, host, "", "network devices", host->netdevs_listed);
		return skip(v, host, "", "no network device on this host");
	}
	return NULL;
}

static void run_on_hosts(struct verdicts *v)
{
	for (size_t i = 0; i < v->fabric->n_hosts; i++)
		if (!needs_missing(v, v->fabric->hosts[i]))
			v->check->run(v, v->fabric->hosts[i]);
}

static bool can_compare(const struct verdicts *v)
{
	if (v->check->needs & NEEDS_CONTACTS)
		return v->fabric->n_contacts > 0;
	if ((v->check->needs & NEEDS_ASKED) && v->fabric->n_hosts > 0 && v->fabric->n_contacts > 0)
		return true;
	return v->fabric->n_hosts > 1;
}

/* Checks of peers are no news in a run that asked for none. */
static void note_not_compared(struct verdicts *v)
{
	struct results *results = v->results;

	if (!(v->check->needs & NEEDS_CONTACTS))
		*arena_push(results->arena, &results->not_compared, &results->n_not_compared) = v->check->id;
}

static void run_check(struct verdicts *v, const struct judge_options *options)
{
	if (!is_selected(v->check, options->only))
		return;
	if (v->check->level > options->level)
		*arena_push(v->results->arena, &v->results->not_run, &v->results->n_not_run) = v->check->id;
	else if (v->check->compare && !can_compare(v))
		note_not_compared(v);
	else if (v->check->run)
		run_on_hosts(v);
	else if (v->check->compare)
		v->check->compare(v);
}

static const char *text_or_null(struct text text)
{
	return text.err ? NULL : text.val;
}

static void add_hosts(struct results *results, const struct fabric *fabric)
{
	for (size_t i = 0; i < fabric->n_hosts; i++) {
		const struct snapshot *host = fabric->hosts[i];

		*arena_push(results->arena, &results->hosts, &results->n_hosts) = (struct results_host){
			.name = host->name,
			.role = host->role,
			.hostname = text_or_null(host->id.hostname),
			.kernel = text_or_null(host->id.kernel),
			.os = text_or_null(host->id.os_name),
			.product = text_or_null(host->id.dmi_product),
			.arch = text_or_null(host->id.arch),
			.answered = true,
		};
	}
	for (size_t i = 0; i < fabric->n_contacts; i++)
		if (fabric->contacts[i].fault != CONTACT_OK)
			*arena_push(results->arena, &results->hosts, &results->n_hosts) =
				(struct results_host){ .name = fabric->contacts[i].name, .role = "worker" };
}

static const char *mbps_words(struct arena *arena, const struct rdma_port *port)
{
	if (port->dev->is_soft)
		return "soft-RoCE";
	if (port->rate_mbps.err)
		return NULL;
	return arena_printf(arena, "%" PRId64 "G", port->rate_mbps.val / 1000);
}

/* "9000/4096": the netdev's MTU and the RDMA MTU that came out of it; InfiniBand has only the latter. */
static const char *mtu_words(struct arena *arena, const struct rdma_port *port)
{
	const char *netdev = port->netdev && !port->netdev->mtu.err && port_is_ethernet(port)
				     ? arena_printf(arena, "%" PRId64 "/", port->netdev->mtu.val)
				     : "";

	if (port->mtu_bytes.err)
		return *netdev ? arena_strndup(arena, netdev, strlen(netdev) - 1) : NULL;
	return arena_printf(arena, "%s%" PRId64, netdev, port->mtu_bytes.val);
}

static void add_rail_end(struct results *results, struct rail_picture *picture, const struct rail_end *end)
{
	const struct rdma_port *port = end->port;

	*arena_push(results->arena, &picture->ends, &picture->n_ends) = (struct rail_picture_end){
		.host = end->host->name,
		.port = port->name,
		.netdev = port->netdev ? port->netdev->name : NULL,
		.addr = end->addr ? end->addr->text : NULL,
		.rate = mbps_words(results->arena, port),
		.mtu = mtu_words(results->arena, port),
		.active = port_is_active(port),
	};
}

static void add_picture(struct results *results, const struct fabric *fabric)
{
	for (size_t i = 0; i < fabric->n_rails; i++) {
		const struct rail *rail = &fabric->rails[i];
		struct rail_picture *picture = arena_push(results->arena, &results->rails, &results->n_rails);

		picture->name = rail->name;
		picture->is_proven = rail->is_proven;
		for (size_t e = 0; e < rail->n_ends; e++) {
			add_rail_end(results, picture, &rail->ends[e]);
			picture->is_broken |= !port_is_active(rail->ends[e].port) ||
					      rail->ends[e].proof == PROOF_REFUTED;
			if (rail->ends[e].proof == PROOF_REFUTED)
				picture->note = rail->ends[e].proof_text;
		}
	}
}

/* Checks that compare hosts are required only of a run that has, or should have had, more than one. */
static const char *const *required_here(struct arena *arena, const struct fabric *fabric, const struct profile *profile,
					const struct judge_options *options)
{
	const char **ids = NULL;
	size_t n = 0;

	for (const char *const *id = profile->require; id && *id; id++) {
		const struct check *check = check_find(*id);
		bool of_contacts = check && (check->needs & NEEDS_CONTACTS);
		bool of_many = check && check->compare && !of_contacts;
		/* a peer that did not answer should have been the second host */
		bool missed = fabric->n_hosts + fabric->n_contacts < 2;

		if (check && !is_selected(check, options->only))
			continue;
		if (!(of_many && missed) && !(of_contacts && fabric->n_contacts == 0))
			*arena_push(arena, &ids, &n) = *id;
	}
	*arena_push(arena, &ids, &n) = NULL;
	return ids;
}

void judge_fabric(struct results *results, const struct fabric *fabric, const struct profile *profile,
		  const struct judge_options *options)
{
	struct pairs *pairs = pairs_new(fabric, profile);
	struct verdicts v = { .fabric = fabric, .profile = profile, .pairs = pairs, .results = results };

	results->profile = profile->name;
	results->profile_why = profile->why;
	results->level = options->level;
	add_hosts(results, fabric);
	add_picture(results, fabric);
	for (const struct check *const *check = check_registry; *check; check++) {
		v.check = *check;
		run_check(&v, options);
	}
	pairs_free(pairs);
	results_finish(results, required_here(results->arena, fabric, profile, options), profile->may_skip);
}
