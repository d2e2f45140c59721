// SPDX-License-Identifier: Apache-2.0
/*
 * Cures in this host's own words. Each setting has two: the one that acts now, and the one that is still there after a
 * reboot, in the way in which this host keeps its network settings.
 */
#include "rules/remedies.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "core/text.h"

/* One setting of a netdev, in each keeper's grammar. */
struct setting {
	const char *netplan;  /* "mtu=9000"; NULL: netplan has no word for it */
	const char *nm;	      /* "802-3-ethernet.mtu 9000" */
	const char *networkd; /* line under [Link] */
	const char *ifupdown; /* words for a person */
	const char *plain;    /* "MTU 9000" */
	const char *by_hand;  /* what a person has to see to in netplan's files, where no command can */
	const char *file;     /* name of the drop-in */
};

enum keeper { KEEPER_NM, KEEPER_NETPLAN, KEEPER_NETWORKD, KEEPER_IFUPDOWN, KEEPER_UNKNOWN };

static bool is_from_netplan(const struct netdev *netdev)
{
	return netdev->networkd_file.val && strstr(netdev->networkd_file.val, "-netplan-");
}

/* The one that has this netdev in its hands; else the one that is there at all. */
static enum keeper netdev_keeper(const struct snapshot *host, const struct netdev *netdev)
{
	const struct net_config *config = &host->net_config;

	if (netdev->nm_connection.val)
		return KEEPER_NM;
	if (netdev->networkd_file.val)
		return is_from_netplan(netdev) ? KEEPER_NETPLAN : KEEPER_NETWORKD;
	if (num_is(config->netplan, 1))
		return KEEPER_NETPLAN;
	return num_is(config->ifupdown, 1) ? KEEPER_IFUPDOWN : KEEPER_UNKNOWN;
}

/* netplan's name for the kind; its "set" takes a dot for a step, so a name that holds one has to be edited by hand. */
static const char *netplan_section(const struct netdev *netdev)
{
	if (strchr(netdev->name, '.'))
		return NULL;
	if (netdev->kind.err)
		return "ethernets";
	if (!strcmp(netdev->kind.val, "bond"))
		return "bonds";
	if (!strcmp(netdev->kind.val, "bridge"))
		return "bridges";
	return strcmp(netdev->kind.val, "vlan") ? NULL : "vlans";
}

/* What lasts, but has to be done by hand. */
static void keep_by_hand(struct results *results, struct finding *f, const struct snapshot *host, const char *format,
			 ...) __attribute__((format(printf, 4, 5)));
static void keep_by_hand(struct results *results, struct finding *f, const struct snapshot *host, const char *format,
			 ...)
{
	va_list args;
	const char *advice;

	va_start(args, format);
	advice = arena_vprintf(results->arena, format, args);
	va_end(args);
	finding_remedy(results, f, (struct remedy){ .host = host ? host->name : NULL, .advice = advice,
						    .is_persistent = true });
}

static void keep_by_netplan(struct results *results, struct finding *f, const struct snapshot *host,
			    const struct netdev *netdev, const struct setting *setting)
{
	const char *section = netplan_section(netdev);
	const char *path;

	if (!section || !setting->netplan) {
		keep_by_hand(results, f, host, "%s for %s in the file under /etc/netplan, then run netplan apply",
			     setting->by_hand, netdev->name);
		return;
	}
	path = arena_printf(results->arena, "%s.%s.%s", section, netdev->name, setting->netplan);
	remedy_command(results, f, host, true, "applies whatever else changed under /etc/netplan, may bounce links",
		       "netplan set %s && netplan apply", text_shell_word(results->arena, path));
}

static void keep_by_networkd(struct results *results, struct finding *f, const struct snapshot *host,
			     const struct netdev *netdev, const struct setting *setting)
{
	const char *slash = strrchr(netdev->networkd_file.val, '/');
	const char *name = slash ? slash + 1 : netdev->networkd_file.val;
	const char *dir = arena_printf(results->arena, "/etc/systemd/network/%s.d", name);
	const char *file = arena_printf(results->arena, "%s/%s.conf", dir, setting->file);

	remedy_command(results, f, host, true, "systemd-networkd reconfigures the links whose files changed",
		       "mkdir -p %s && printf '[Link]\\n%s\\n' > %s && networkctl reload",
		       text_shell_word(results->arena, dir), setting->networkd, text_shell_word(results->arena, file));
}

static void keep(struct results *results, struct finding *f, const struct snapshot *host, const struct netdev *netdev,
		 const struct setting *setting)
{
	switch (netdev_keeper(host, netdev)) {
	case KEEPER_NM:
		remedy_command(results, f, host, true, NULL, "nmcli connection modify %s %s",
			       text_shell_word(results->arena, netdev->nm_connection.val), setting->nm);
		break;
	case KEEPER_NETPLAN:
		keep_by_netplan(results, f, host, netdev, setting);
		break;
	case KEEPER_NETWORKD:
		keep_by_networkd(results, f, host, netdev, setting);
		break;
	case KEEPER_IFUPDOWN:
		keep_by_hand(results, f, host, "%s in the part of /etc/network/interfaces that is about %s",
			     setting->ifupdown, netdev->name);
		break;
	case KEEPER_UNKNOWN:
		keep_by_hand(results, f, host,
			     "keep %s of %s where this host has its network settings (no manager of them was seen)",
			     setting->plain, netdev->name);
		break;
	}
}

void remedy_set_mtu(struct results *results, struct finding *finding, const struct snapshot *host,
		    const struct netdev *netdev, int64_t mtu)
{
	struct arena *arena = results->arena;
	const struct setting setting = {
		.netplan = arena_printf(arena, "mtu=%" PRId64, mtu),
		.nm = arena_printf(arena, "802-3-ethernet.mtu %" PRId64, mtu),
		.networkd = arena_printf(arena, "MTUBytes=%" PRId64, mtu),
		.ifupdown = arena_printf(arena, "mtu %" PRId64, mtu),
		.plain = arena_printf(arena, "MTU %" PRId64, mtu),
		.by_hand = arena_printf(arena, "set mtu: %" PRId64, mtu),
		.file = "mtu",
	};

	remedy_command(results, finding, host, false, "RDMA connections over it are renegotiated",
		       "ip link set dev %s mtu %" PRId64, text_shell_word(arena, netdev->name), mtu);
	keep(results, finding, host, netdev, &setting);
}

void remedy_set_up(struct results *results, struct finding *finding, const struct snapshot *host,
		   const struct netdev *netdev)
{
	static const struct setting setting = {
		.nm = "connection.autoconnect yes",
		.networkd = "ActivationPolicy=up",
		.ifupdown = "an \"auto\" line",
		/* netplan brings up what it knows, unless told not to: there is only something to remove */
		.plain = "the state up",
		.by_hand = "have an entry without activation-mode",
		.file = "activation",
	};

	remedy_command(results, finding, host, false, NULL, "ip link set dev %s up",
		       text_shell_word(results->arena, netdev->name));
	keep(results, finding, host, netdev, &setting);
}

void remedy_advice(struct results *results, struct finding *finding, const struct snapshot *host, const char *format,
		   ...)
{
	va_list args;
	const char *advice;

	va_start(args, format);
	advice = arena_vprintf(results->arena, format, args);
	va_end(args);
	finding_remedy(results, finding, (struct remedy){ .host = host ? host->name : NULL, .advice = advice });
}

void remedy_command(struct results *results, struct finding *finding, const struct snapshot *host, bool is_persistent,
		    const char *disturbs, const char *format, ...)
{
	va_list args;
	const char *command;

	va_start(args, format);
	command = arena_vprintf(results->arena, format, args);
	va_end(args);
	finding_remedy(results, finding,
		       (struct remedy){ .host = host ? host->name : NULL,
					.command = command,
					.is_persistent = is_persistent,
					.disturbs = disturbs });
}
