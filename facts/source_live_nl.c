// SPDX-License-Identifier: Apache-2.0
/*
 * Netlink requests to this machine's kernel. Only questions ("get") are ever sent. Every wait ends: each receive has a
 * timeout, and an answer as a whole has one too.
 */
#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/clock.h"
#include "facts/attr_table.h"
#include "facts/nl_reply.h"
#include "facts/source_live.h"

#define RECEIVE_TIMEOUT_S 2
#define ANSWER_TIMEOUT_MS 6000
#define DUMP_ATTEMPTS 4
#define DATAGRAM_MAX (64u << 10)
#define EXT_MASK_SKIP_STATS (1u << 3) /* RTEXT_FILTER_SKIP_STATS */
#define ETHTOOL_HEADER 1	      /* ETHTOOL_A_<any>_HEADER */
#define MODULE_I2C_ADDRESS 0x50

struct live_nl {
	struct nl_sock *rtnl, *genl, *rdma;
	int ethtool_id; /* generic family; 0: not resolved yet, or -errno */
	struct nl_names names;
	bool has_names;
	char *datagram;
};

struct live_nl *live_nl_new(void)
{
	struct live_nl *nl = xcalloc(1, sizeof(*nl));

	nl->datagram = xcalloc(1, DATAGRAM_MAX);
	return nl;
}

void live_nl_free(struct live_nl *nl)
{
	if (!nl)
		return;
	nl_socket_free(nl->rtnl);
	nl_socket_free(nl->genl);
	nl_socket_free(nl->rdma);
	free(nl->names.items);
	free(nl->datagram);
	free(nl);
}

/* Opens *sock if it is not open yet. */
static int socket_open(struct nl_sock **sock, int protocol)
{
	const struct timeval timeout = { .tv_sec = RECEIVE_TIMEOUT_S };
	struct nl_sock *new;

	if (*sock)
		return 0;
	new = nl_socket_alloc();
	if (!new)
		return -ENOMEM;
	errno = 0;
	if (nl_connect(new, protocol) < 0 ||
	    setsockopt(nl_socket_get_fd(new), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0) {
		int err = errno ? errno : EPROTONOSUPPORT;

		nl_socket_free(new);
		return -err;
	}
	*sock = new;
	return 0;
}

/* After an answer that was not read to its end the rest would sit in the queue. */
static void socket_drop(struct nl_sock **sock)
{
	nl_socket_free(*sock);
	*sock = NULL;
}

/* One datagram from the kernel itself; its length or -errno. */
static ssize_t receive(struct nl_sock *sock, char *datagram)
{
	for (;;) {
		struct sockaddr_nl from = { 0 };
		socklen_t from_len = sizeof(from);
		ssize_t n = recvfrom(nl_socket_get_fd(sock), datagram, DATAGRAM_MAX, MSG_TRUNC, (struct sockaddr *)&from,
				     &from_len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (n > (ssize_t)DATAGRAM_MAX)
			return -EMSGSIZE;
		if (from.nl_pid == 0)
			return n;
	}
}

/* Sends and reads until the answer is complete. The message is freed. */
static int converse(struct live_nl *nl, struct nl_sock **sock, struct nl_msg *msg, struct nl_reply *reply)
{
	struct deadline deadline = deadline_in_ms(ANSWER_TIMEOUT_MS);
	int rc;

	nl_complete_msg(*sock, msg);
	reply->seq = nlmsg_hdr(msg)->nlmsg_seq;
	errno = 0;
	rc = nl_send(*sock, msg) < 0 ? -(errno ? errno : EIO) : 0;
	nlmsg_free(msg);
	while (rc == 0) {
		ssize_t n = receive(*sock, nl->datagram);

		rc = n < 0 ? (int)n : nl_reply_read(reply, nl->datagram, (size_t)n);
		if (rc == 0 && deadline_passed(deadline))
			rc = -ETIMEDOUT;
	}
	if (reply->too_many || rc == -EBADMSG || rc == -ETIMEDOUT || rc == -EMSGSIZE || rc == -ENOBUFS)
		socket_drop(sock);
	return rc < 0 ? rc : 0;
}

/* ---- rtnetlink ---- */

static struct nl_msg *rtnl_request(const char *command, const char *dev, uint16_t *ret_answer)
{
	static const struct {
		const char *command;
		uint16_t request, answer;
		size_t header_len;
	} kinds[] = {
		{ "link", RTM_GETLINK, RTM_NEWLINK, sizeof(struct ifinfomsg) },
		{ "address", RTM_GETADDR, RTM_NEWADDR, sizeof(struct ifaddrmsg) },
		{ "route", RTM_GETROUTE, RTM_NEWROUTE, sizeof(struct rtmsg) },
		{ "rule", RTM_GETRULE, RTM_NEWRULE, sizeof(struct fib_rule_hdr) },
		{ "neigh", RTM_GETNEIGH, RTM_NEWNEIGH, sizeof(struct ndmsg) },
	};
	const char header[64] = { 0 }; /* all families, no filter */

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		bool is_link = kinds[i].request == RTM_GETLINK;
		struct nl_msg *msg;

		if (strcmp(kinds[i].command, command) != 0)
			continue;
		msg = nlmsg_alloc_simple(kinds[i].request, NLM_F_REQUEST | (is_link && dev ? 0 : NLM_F_DUMP));
		if (!msg)
			return NULL;
		nlmsg_append(msg, (void *)header, kinds[i].header_len, NLMSG_ALIGNTO);
		if (is_link)
			nla_put_u32(msg, IFLA_EXT_MASK, EXT_MASK_SKIP_STATS);
		if (is_link && dev)
			nla_put_string(msg, IFLA_IFNAME, dev);
		*ret_answer = kinds[i].answer;
		return msg;
	}
	return NULL;
}

static int rtnl_ask(struct live_nl *nl, const char *command, const char *dev, struct nl_reply *reply)
{
	struct nl_msg *msg;
	int rc = socket_open(&nl->rtnl, NETLINK_ROUTE);

	if (rc < 0)
		return rc;
	msg = rtnl_request(command, dev, &reply->type);
	return msg ? converse(nl, &nl->rtnl, msg, reply) : -ENODATA;
}

/* Keeps which index has which name, for the objects that only tell the index. */
static void keep_names(struct live_nl *nl, const struct nl_object *links, size_t n)
{
	nl->names.items = xreallocarray(nl->names.items, n + 1, sizeof(*nl->names.items));
	nl->names.n = n;
	nl->has_names = true;
	for (size_t i = 0; i < n; i++) {
		struct num index = attr_num(links[i].attrs, "index", NULL);
		struct text name = attr_text(links[i].attrs, "ifname", NULL);
		struct nl_name *item = &nl->names.items[i];

		memset(item, 0, sizeof(*item));
		item->index = index.err ? 0 : (unsigned)index.val;
		if (!name.err)
			strncpy(item->name, name.val, sizeof(item->name) - 1);
	}
	qsort(nl->names.items, n, sizeof(*nl->names.items), nl_name_compare);
}

/* Addresses, routes and neighbours tell an index; their keys and people want the name. */
static void learn_names(struct live_nl *nl)
{
	struct arena *arena;
	const struct nl_object *links;
	size_t n;

	if (nl->has_names)
		return;
	arena = arena_new();
	if (live_nl_ask(nl, "rtnl", "link", NULL, arena, &links, &n) < 0)
		nl->has_names = true; /* not again for every question */
	arena_free(arena);
}

/* ---- ethtool ---- */

static int ethtool_open(struct live_nl *nl)
{
	int rc = socket_open(&nl->genl, NETLINK_GENERIC);

	if (rc < 0)
		return rc;
	if (nl->ethtool_id == 0) {
		nl->ethtool_id = genl_ctrl_resolve(nl->genl, ETHTOOL_GENL_NAME);
		if (nl->ethtool_id < 0)
			nl->ethtool_id = -EOPNOTSUPP;
	}
	return nl->ethtool_id < 0 ? nl->ethtool_id : 0;
}

static struct nl_msg *ethtool_request(struct live_nl *nl, uint8_t command, const char *dev)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlattr *header;

	if (!msg)
		return NULL;
	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->ethtool_id, 0, NLM_F_REQUEST | (dev ? 0 : NLM_F_DUMP), command,
		    ETHTOOL_GENL_VERSION);
	header = nla_nest_start(msg, ETHTOOL_HEADER | NLA_F_NESTED);
	if (dev)
		nla_put_string(msg, ETHTOOL_A_HEADER_DEV_NAME, dev);
	nla_nest_end(msg, header);
	return msg;
}

static int ethtool_ask(struct live_nl *nl, const char *command, const char *dev, struct nl_reply *reply)
{
	static const struct {
		const char *command;
		uint8_t request;
	} kinds[] = {
		{ "linkinfo", ETHTOOL_MSG_LINKINFO_GET }, { "linkmodes", ETHTOOL_MSG_LINKMODES_GET },
		{ "linkstate", ETHTOOL_MSG_LINKSTATE_GET }, { "fec", ETHTOOL_MSG_FEC_GET },
		{ "pause", ETHTOOL_MSG_PAUSE_GET }, { "channels", ETHTOOL_MSG_CHANNELS_GET },
	};
	int rc = ethtool_open(nl);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct nl_msg *msg;

		if (strcmp(kinds[i].command, command) != 0)
			continue;
		msg = ethtool_request(nl, kinds[i].request, dev);
		reply->type = (uint16_t)nl->ethtool_id;
		return msg ? converse(nl, &nl->genl, msg, reply) : -ENOMEM;
	}
	return -ENODATA;
}

static int hex_value(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

int live_nl_module_read(struct live_nl *nl, const char *dev, unsigned offset, struct arena *arena, uint8_t ret[128])
{
	struct nl_reply reply = { .command = nl_command_find("ethtool", "module-eeprom"), .dev = dev, .arena = arena };
	struct nl_msg *msg;
	struct text data;
	int rc = ethtool_open(nl);

	if (rc < 0)
		return rc;
	msg = ethtool_request(nl, ETHTOOL_MSG_MODULE_EEPROM_GET, dev);
	if (!msg)
		return -ENOMEM;
	nla_put_u32(msg, ETHTOOL_A_MODULE_EEPROM_OFFSET, offset);
	nla_put_u32(msg, ETHTOOL_A_MODULE_EEPROM_LENGTH, 128);
	nla_put_u8(msg, ETHTOOL_A_MODULE_EEPROM_PAGE, 0);
	nla_put_u8(msg, ETHTOOL_A_MODULE_EEPROM_BANK, 0);
	nla_put_u8(msg, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, MODULE_I2C_ADDRESS);
	reply.type = (uint16_t)nl->ethtool_id;
	rc = converse(nl, &nl->genl, msg, &reply);
	if (rc < 0)
		return rc;
	data = reply.n ? attr_text(reply.objects[0].attrs, "data", NULL) : text_err(ENODATA, NULL);
	if (data.err || strlen(data.val) < 256)
		return -EBADMSG;
	for (size_t i = 0; i < 128; i++)
		ret[i] = (uint8_t)(hex_value(data.val[2 * i]) << 4 | hex_value(data.val[2 * i + 1]));
	return 0;
}

/* ---- rdma ---- */

static int rdma_dump(struct live_nl *nl, int command, const struct nl_object *device, struct nl_reply *reply)
{
	uint16_t type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, (uint16_t)command);
	struct nl_msg *msg = nlmsg_alloc_simple(type, NLM_F_REQUEST | NLM_F_DUMP);

	if (!msg)
		return -ENOMEM;
	if (device) {
		struct num index = attr_num(device->attrs, "dev_index", NULL);

		nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, index.err ? UINT32_MAX : (uint32_t)index.val);
	}
	reply->type = type;
	return converse(nl, &nl->rdma, msg, reply);
}

static int rdma_ask(struct live_nl *nl, const char *command, struct nl_reply *reply)
{
	struct nl_reply devices = { .command = nl_command_find("rdma", "device"), .arena = reply->arena };
	int rc;

	/* Opening the socket would load the RDMA core into a kernel that has none. */
	if (access("/sys/class/infiniband", F_OK) < 0)
		return -ENODEV;
	rc = socket_open(&nl->rdma, NETLINK_RDMA);
	if (rc < 0)
		return rc;
	if (strcmp(command, "device") == 0)
		return rdma_dump(nl, RDMA_NLDEV_CMD_GET, NULL, reply);
	/* The kernel dumps the ports of one device only. */
	rc = rdma_dump(nl, RDMA_NLDEV_CMD_GET, NULL, &devices);
	reply->interrupted = devices.interrupted;
	for (size_t i = 0; rc == 0 && i < devices.n; i++) {
		rc = socket_open(&nl->rdma, NETLINK_RDMA);
		if (rc == 0)
			rc = rdma_dump(nl, RDMA_NLDEV_CMD_PORT_GET, &devices.objects[i], reply);
		if (rc == -ENODEV) /* went away meanwhile */
			rc = 0;
	}
	return rc;
}

/* ---- all ---- */

static int ask_once(struct live_nl *nl, const char *family, const char *command, const char *dev, struct nl_reply *reply)
{
	if (strcmp(family, "rtnl") == 0)
		return rtnl_ask(nl, command, dev, reply);
	if (strcmp(family, "ethtool") == 0)
		return ethtool_ask(nl, command, dev, reply);
	return rdma_ask(nl, command, reply);
}

/* Leaves the objects about `dev`, for commands that only know dumps. */
static void keep_dev(struct nl_reply *reply, const char *dev)
{
	size_t kept = 0, len = strlen(dev);

	for (size_t i = 0; i < reply->n; i++) {
		const char *key = reply->objects[i].key;

		if (strncmp(key, dev, len) == 0 && (key[len] == '\0' || key[len] == ' ' || key[len] == '/'))
			reply->objects[kept++] = reply->objects[i];
	}
	reply->n = kept;
}

int live_nl_ask(struct live_nl *nl, const char *family, const char *command, const char *dev, struct arena *arena,
		const struct nl_object **ret_objects, size_t *ret_n)
{
	const struct nl_command *known = nl_command_find(family, command);
	bool is_link = strcmp(family, "rtnl") == 0 && strcmp(command, "link") == 0;
	struct nl_reply reply = { 0 };
	int rc = -ENODATA;

	if (!known)
		return -ENODATA;
	if (strcmp(family, "rtnl") == 0 && !is_link)
		learn_names(nl);
	/* A dump that changed while it was taken is asked for again; on a host that never rests the last one must do. */
	for (int i = 0; i < DUMP_ATTEMPTS; i++) {
		reply = (struct nl_reply){ .command = known, .dev = dev, .names = &nl->names, .arena = arena };
		rc = ask_once(nl, family, command, dev, &reply);
		if (rc < 0 || !reply.interrupted)
			break;
	}
	if (rc < 0)
		return rc;
	if (is_link && !dev)
		keep_names(nl, reply.objects, reply.n);
	nl_reply_finish(&reply);
	if (dev)
		keep_dev(&reply, dev);
	*ret_objects = reply.objects;
	*ret_n = reply.n;
	return reply.too_many ? -E2BIG : 0;
}
