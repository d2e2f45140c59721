// SPDX-License-Identifier: Apache-2.0
/* One dump of the neighbour table over rtnetlink. */
#include "perf/neigh.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

struct visitor {
	neigh_visit_fn *visit;
	void *ctx;
};

struct nl_sock *neigh_open(void)
{
	struct nl_sock *sock = nl_socket_alloc();

	if (sock && nl_connect(sock, NETLINK_ROUTE) < 0) {
		nl_socket_free(sock);
		return NULL;
	}
	return sock;
}

void neigh_close(struct nl_sock *sock)
{
	if (sock)
		nl_socket_free(sock);
}

/* "aa:bb": the separator belongs to the byte behind it. */
static void mac_write(const struct nlattr *attr, char *out, size_t size)
{
	const unsigned char *bytes = nla_data(attr);
	size_t len = (size_t)nla_len(attr), at = 0;

	for (size_t i = 0; i < len && at + 4 < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%02x", i ? ":" : "", bytes[i]);
}

static int64_t confirmed_ms(const struct nlattr *attr)
{
	struct nda_cacheinfo info;
	long ticks = sysconf(_SC_CLK_TCK);

	if (!attr || nla_len(attr) < (int)sizeof(info) || ticks <= 0)
		return -1;
	memcpy(&info, nla_data(attr), sizeof(info));
	return (int64_t)info.ndm_confirmed * 1000 / ticks;
}

static int on_message(struct nl_msg *msg, void *ctx)
{
	struct nlmsghdr *header = nlmsg_hdr(msg);
	struct nlattr *attrs[NDA_MAX + 1];
	struct visitor *visitor = ctx;
	struct neigh neigh = { 0 };
	const struct ndmsg *body;
	int len;

	if (header->nlmsg_type != RTM_NEWNEIGH || nlmsg_parse(header, sizeof(*body), attrs, NDA_MAX, NULL) < 0 ||
	    !attrs[NDA_DST])
		return NL_OK;
	body = nlmsg_data(header);
	len = nla_len(attrs[NDA_DST]);
	if (len != (body->ndm_family == AF_INET ? 4 : 16))
		return NL_OK;
	neigh.family = body->ndm_family;
	neigh.ifindex = (unsigned)body->ndm_ifindex;
	neigh.state = body->ndm_state;
	memcpy(neigh.addr, nla_data(attrs[NDA_DST]), (size_t)len);
	neigh.confirmed_ms = confirmed_ms(attrs[NDA_CACHEINFO]);
	if (attrs[NDA_LLADDR])
		mac_write(attrs[NDA_LLADDR], neigh.mac, sizeof(neigh.mac));
	visitor->visit(visitor->ctx, &neigh);
	return NL_OK;
}

int neigh_dump(struct nl_sock *sock, neigh_visit_fn *visit, void *ctx)
{
	struct visitor visitor = { visit, ctx };
	struct ndmsg body = { .ndm_family = AF_UNSPEC };

	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, on_message, &visitor);
	if (nl_send_simple(sock, RTM_GETNEIGH, NLM_F_DUMP, &body, sizeof(body)) < 0 || nl_recvmsgs_default(sock) < 0)
		return -EIO;
	return 0;
}
