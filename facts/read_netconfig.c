// SPDX-License-Identifier: Apache-2.0
/*
 * Who keeps this host's network settings, so that a remedy can name a command that survives a reboot here. Asked only
 * for the netdevs under RDMA ports. No file with secrets is opened: connection files of NetworkManager are not.
 */
#include <errno.h>
#include <string.h>

#include "facts/reading.h"

#define NM_DEVICES "/run/NetworkManager/devices"
#define NETWORKD_LINKS "/run/systemd/netif/links"

/* Value of KEY=… on a line of its own. */
static struct text field(struct reading *r, struct text file, const char *key)
{
	size_t key_len = strlen(key);
	const char *line = file.val;

	if (file.err)
		return file;
	while (*line) {
		size_t len = strcspn(line, "\n");

		if (len > key_len + 1 && !strncmp(line, key, key_len) && line[key_len] == '=')
			return text_of(arena_strndup(r->arena, line + key_len + 1, len - key_len - 1), file.origin);
		line += len + (line[len] == '\n');
	}
	return text_err(ENODATA, file.origin);
}

static struct num is_dir(struct reading *r, const char *path)
{
	const char **names;
	size_t n;
	int err = source_list(r->source, path, r->arena, &names, &n);

	if (err == 0 || err == -EACCES || err == -EPERM)
		return num_of(1, path);
	return err == -ENOENT || err == -ENOTDIR ? num_of(0, path) : num_err(-err, path);
}

static struct num has_netplan(struct reading *r)
{
	const char *path = "/etc/netplan";
	const char **names;
	size_t n;
	int err = source_list(r->source, path, r->arena, &names, &n);

	if (err < 0)
		return err == -ENOENT || err == -ENOTDIR ? num_of(0, path) : num_err(-err, path);
	for (size_t i = 0; i < n; i++) {
		const char *dot = strrchr(names[i], '.');

		if (dot && !strcmp(dot, ".yaml"))
			return num_of(1, path);
	}
	return num_of(0, path);
}

static struct num has_ifupdown(struct reading *r)
{
	struct text text = reading_text(r, "/etc/network/interfaces");

	if (text.err == ENOENT || text.err == ENOTDIR)
		return num_of(0, text.origin);
	return num_of(1, text.origin);
}

static void read_owner(struct reading *r, struct netdev *netdev)
{
	const struct net_config *config = &r->snap->net_config;

	if (num_is(config->networkmanager, 1))
		netdev->nm_connection = field(r, reading_text(r, NM_DEVICES "/%u", netdev->index), "connection-uuid");
	if (num_is(config->networkd, 1))
		netdev->networkd_file = field(r, reading_text(r, NETWORKD_LINKS "/%u", netdev->index), "NETWORK_FILE");
}

void read_netconfig(struct reading *r)
{
	struct net_config *config = &r->snap->net_config;

	config->netplan = has_netplan(r);
	config->networkmanager = is_dir(r, NM_DEVICES);
	config->networkd = is_dir(r, NETWORKD_LINKS);
	config->ifupdown = has_ifupdown(r);
	for (size_t i = 0; i < r->snap->n_netdevs; i++) {
		struct netdev *netdev = &r->snap->netdevs[i];

		netdev->nm_connection = netdev->networkd_file = text_err(VALUE_NOT_ASKED, NULL);
		if (netdev->port)
			read_owner(r, netdev);
	}
}
