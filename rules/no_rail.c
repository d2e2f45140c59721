// SPDX-License-Identifier: Apache-2.0
/* Port by port, why two hosts lack a rail: no_rail.h. */
#include "rules/no_rail.h"

#include <string.h>

#include "core/text.h"
#include "rules/causes.h"
#include "rules/remedies.h"

/* ---- looks like a rail that should be there ---- */

/*
 * In use, and joined to no host of that kind; ACTIVE, or its being down would be the whole story. A management network
 * need not join anybody.
 */
static bool is_open_towards(const struct pairs *pairs, const struct rdma_port *port, const struct host_kind *kind)
{
	const struct port_info *info = fabric_port(pairs->fabric, port);

	if (!info || !port_is_active(port) || (info->use == PORT_UNUSED && !port_is_ib(port)) ||
	    port_is_way_out(pairs->fabric->hosts[info->host], port))
		return false;
	return !info->rail || !kind_is_on_rail(pairs, kind, info->rail);
}

/* This port is idle, and its namesake on the other host is in use and reaches nobody here. */
static bool is_missed(const struct pairs *pairs, const struct rdma_port *port, const struct host_kind *own,
		      const struct snapshot *other)
{
	const struct rdma_port *namesake;

	if (fabric_port_is_used(pairs->fabric, port))
		return false;
	namesake = snapshot_find_port(other, port->name);
	return namesake && is_open_towards(pairs, namesake, own);
}

static bool kind_misses_rail(const struct pairs *pairs, const struct host_kind *kind, const struct host_kind *other,
			     bool is_active)
{
	for (size_t i = 0; kind->has_idle && i < kind->host->n_ports; i++) {
		const struct rdma_port *port = kind->host->ports[i];

		if (port_is_active(port) == is_active && is_missed(pairs, port, kind, other->host))
			return true;
	}
	return false;
}

bool kinds_miss_rail(const struct pairs *pairs, const struct host_kind *a, const struct host_kind *b, bool is_active)
{
	return kind_misses_rail(pairs, a, b, is_active) || kind_misses_rail(pairs, b, a, is_active);
}

bool kinds_strand_rail(const struct pairs *pairs, const struct host_kind *a, const struct host_kind *b)
{
	for (size_t i = 0; a->has_stranded && b->has_stranded && i < a->host->n_ports; i++) {
		const struct rdma_port *port = a->host->ports[i], *namesake = snapshot_find_port(b->host, port->name);

		if (namesake && port_is_stranded(a->host, fabric_port(pairs->fabric, port)) &&
		    port_is_stranded(b->host, fabric_port(pairs->fabric, namesake)))
			return true;
	}
	return false;
}

/* ---- why ---- */

/* Two hosts, seen from the first one. */
struct view {
	const struct pairs *pairs;
	const struct snapshot *host, *other;
	const struct host_kind *kind;
	const struct port_info *infos, *other_infos;
};

static struct view view_from(const struct pairs *pairs, size_t host, size_t other)
{
	const struct fabric *fabric = pairs->fabric;

	return (struct view){ .pairs = pairs,
			      .host = fabric->hosts[host],
			      .other = fabric->hosts[other],
			      .kind = kind_of_host(pairs, host),
			      .infos = fabric->ports[host],
			      .other_infos = fabric->ports[other] };
}

/* The end on the other host of the rail that this port is on; NULL if there is none. */
static const struct rail_end *far_end(const struct view *view, const struct port_info *info)
{
	for (size_t i = 0; info->rail && i < view->other->n_ports; i++)
		if (view->other_infos[i].rail == info->rail)
			return view->other_infos[i].end;
	return NULL;
}

static bool looks_missed(const struct view *view, const struct port_info *info)
{
	return is_missed(view->pairs, info->port, view->kind, view->other);
}

size_t no_rail_faults(const struct pairs *pairs, size_t host, size_t other)
{
	struct view view = view_from(pairs, host, other);
	size_t n = 0;

	for (size_t i = 0; i < view.host->n_ports; i++) {
		const struct port_info *info = &view.infos[i];

		n += (info->use != PORT_UNUSED) != port_is_active(info->port) || looks_missed(&view, info);
	}
	return n;
}

static const char *address_words(struct arena *arena, const struct rdma_port *port)
{
	const struct ip_addr *addr = port->netdev ? netdev_address(port->netdev) : NULL;

	return addr ? arena_printf(arena, "%s/%u", addr->text, addr->prefix_len) : "its address";
}

static const char *why_down(const struct view *view, const struct port_info *info, bool all, struct arena *arena)
{
	const char *state = port_state_name(info->port->state.val);

	if (!all && info->use == PORT_UNUSED && !looks_missed(view, info))
		return NULL; /* nobody misses it */
	return arena_printf(arena, "%s: %s", state, port_trouble_text(info->port));
}

/* NULL if the port is a rail, or is not meant to be one; `all`: whatever it is meant to be. */
static const char *why_no_rail(const struct view *view, const struct port_info *info, bool all, struct arena *arena)
{
	const struct rdma_port *port = info->port;
	const struct rail_end *far = far_end(view, info);

	if (far && rail_end_is_live(info->end) && rail_end_is_live(far))
		return NULL;
	if (!port_is_active(port))
		return why_down(view, info, all, arena);
	if (far && !port_is_active(far->port))
		return NULL; /* told at the far end */
	if (far)
		return far->proof_text ? far->proof_text : "the far end does not answer";
	if (port_is_ib(port))
		return all ? "no port of the other host is on its fabric" : NULL;
	if (info->use == PORT_UNUSED)
		return "no address: it cannot be joined to a rail";
	return arena_printf(arena, "%s lies in no subnet of %s's RDMA ports", address_words(arena, port),
			    view->other->name);
}

static void add_reasons(const struct view *view, bool all, struct arena *arena, struct no_rail **reasons, size_t *n)
{
	for (size_t i = 0; i < view->host->n_ports; i++) {
		const char *why = why_no_rail(view, &view->infos[i], all, arena);

		if (why)
			*arena_push(arena, reasons, n) = (struct no_rail){ view->host, view->infos[i].port, why };
	}
}

struct no_rail *no_rail_reasons(const struct pairs *pairs, size_t host, size_t other, bool or_all, struct arena *arena,
				size_t *ret_n)
{
	const struct view here = view_from(pairs, host, other), there = view_from(pairs, other, host);
	struct no_rail *reasons = NULL;

	*ret_n = 0;
	add_reasons(&here, false, arena, &reasons, ret_n);
	add_reasons(&there, false, arena, &reasons, ret_n);
	if (or_all && *ret_n == 0) {
		add_reasons(&here, true, arena, &reasons, ret_n);
		add_reasons(&there, true, arena, &reasons, ret_n);
	}
	return reasons;
}

/* ---- what to do ---- */

/* Both ends are ACTIVE, and the far one was asked and did not answer. */
static bool is_silent(const struct rdma_port *port, const struct rail_end *far)
{
	return far && far->addr && far->proof == PROOF_REFUTED && port_is_active(port) && port_is_active(far->port);
}

static void advise_silent(const struct port_info *info, const struct rail_end *far, const struct snapshot *host,
			  struct results *results, struct finding *f)
{
	const char *name = info->end->netdev->name;

	switch (info->end == info->rail->ends ? far->fault : info->end->fault) {
	case RAIL_SAME_ADDR:
		remedy_advice(results, f, host, "give %s or its partner another address of the same subnet", name);
		break;
	case RAIL_OTHER_PORT:
		remedy_advice(results, f, host,
			      "see that neither the cables nor the addresses of %s and its neighbour are swapped; ports "
			      "of one segment need a subnet each, or: sysctl -w net.ipv4.conf.all.arp_ignore=1 "
			      "net.ipv4.conf.all.arp_announce=2",
			      name);
		break;
	case RAIL_SILENT:
		remedy_advice(results, f, host,
			      "see that %s and its partner hang on one cable or in one VLAN; to look: "
			      "ping -c 3 -I %s %s",
			      name, text_shell_word(results->arena, name), far->addr->text);
		break;
	}
}

static bool is_alone(const struct port_info *info)
{
	return info->use != PORT_UNUSED && !info->rail && port_is_active(info->port) && !port_is_ib(info->port);
}

/* A port of the other host that might be its partner: the one of its name, else the first that is alone as well. */
static const struct rdma_port *lone_partner(const struct view *view, const struct rdma_port *port)
{
	const struct rdma_port *first = NULL;

	for (size_t i = 0; i < view->other->n_ports; i++) {
		const struct rdma_port *other = view->other->ports[i];

		if (!is_alone(&view->other_infos[i]))
			continue;
		if (!strcmp(other->name, port->name))
			return other;
		if (!first)
			first = other;
	}
	return first;
}

/* Two ports in subnets of their own: which of the hosts is right nobody can tell. */
static void advise_subnet(const struct view *view, const struct rdma_port *port, struct results *results,
			  struct finding *f)
{
	const struct rdma_port *partner = lone_partner(view, port);

	if (partner)
		remedy_advice(results, f, view->host,
			      "%s has %s, its partner on %s, perhaps %s, has %s: give one of them an address in the "
			      "other's subnet",
			      port->netdev->name, address_words(results->arena, port), view->other->name,
			      partner->netdev ? partner->netdev->name : partner->name,
			      address_words(results->arena, partner));
}

static void advise_address(const struct view *view, const struct rdma_port *port, struct results *results,
			   struct finding *f)
{
	const struct rdma_port *same = snapshot_find_port(view->other, port->name);

	if (same && fabric_port_is_used(view->pairs->fabric, same))
		remedy_advice(results, f, view->host,
			      "give %s an address in the subnet of its partner, where %s has %s", port->netdev->name,
			      view->other->name, address_words(results->arena, same));
	else
		remedy_advice(results, f, view->host,
			      "give %s an address, and its partner one in the same subnet; each rail needs a subnet of "
			      "its own",
			      port->netdev->name);
}

static void advise_port(const struct view *view, const struct port_info *info, struct results *results,
			struct finding *f)
{
	const struct rdma_port *port = info->port;
	const struct rail_end *far = far_end(view, info);
	bool is_used = info->use != PORT_UNUSED, is_wanted = is_used || looks_missed(view, info);

	if (!port->netdev || port_is_ib(port))
		return;
	if (is_silent(port, far))
		advise_silent(info, far, view->host, results, f);
	else if (!is_used && port_is_active(port))
		advise_address(view, port, results, f);
	else if (is_alone(info))
		advise_subnet(view, port, results, f);
	else if (is_wanted && port_trouble(port) == TROUBLE_SET_DOWN)
		remedy_set_up(results, f, view->host, port->netdev);
	else if (is_wanted && !port_is_active(port))
		remedy_advice(results, f, view->host, "plug the cable of %s in, at both ends", port->netdev->name);
}

void no_rail_advise(const struct pairs *pairs, size_t host, size_t other, struct results *results, struct finding *f)
{
	const struct view views[] = { view_from(pairs, host, other), view_from(pairs, other, host) };

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < views[k].host->n_ports; i++)
			advise_port(&views[k], &views[k].infos[i], results, f);
}
