// SPDX-License-Identifier: Apache-2.0
/* Netlink datagrams into objects: which of them are kept, and what each is called. */
#include <errno.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/buf.h"
#include "facts/attr_table.h"
#include "facts/nl_reply.h"

#define OBJECTS_MAX 65536u	/* of any dump */
#define ROUTES_MAX 4096u	/* a host may carry the whole Internet's routes */
#define NEIGHBOURS_MAX 4096u

struct nl_command {
	const char *family, *command;
	size_t max;	    /* objects kept of one dump */
	unsigned skip;	    /* bytes of a generic header before the payload */
	const char *ifindex; /* attribute whose netdev's name is added as "dev"; NULL: none */
	bool (*keep)(const struct attr *attrs); /* NULL: all */
	const char *(*key)(const struct nl_reply *reply, const struct attr *attrs);
};

static const char *text_or(const struct attr *attrs, const char *path, const char *other)
{
	const struct attr *attr = attr_find(attrs, path);

	return attr && attr->text ? attr->text : other;
}

static uint64_t num_or(const struct attr *attrs, const char *path, uint64_t other)
{
	struct num num = attr_num(attrs, path, NULL);

	return num.err ? other : (uint64_t)num.val;
}

static bool is_ip(const struct attr *attrs)
{
	uint64_t family = num_or(attrs, "family", AF_UNSPEC);

	return family == AF_INET || family == AF_INET6;
}

/* The local table repeats the addresses. */
static bool keep_route(const struct attr *attrs)
{
	uint64_t type = num_or(attrs, "type", RTN_UNSPEC);

	return is_ip(attrs) && type != RTN_LOCAL && type != RTN_BROADCAST && type != RTN_MULTICAST && type != RTN_ANYCAST;
}

/* Multicast groups and the loopback: nobody ever resolves them. */
static bool keep_neigh(const struct attr *attrs)
{
	return is_ip(attrs) && !(num_or(attrs, "state", 0) & NUD_NOARP);
}

static const char *key_link(const struct nl_reply *reply, const struct attr *attrs)
{
	(void)reply;
	return text_or(attrs, "ifname", "?");
}

static const char *key_address(const struct nl_reply *reply, const struct attr *attrs)
{
	return arena_printf(reply->arena, "%s %s/%" PRIu64, text_or(attrs, "dev", "-"),
			    text_or(attrs, "local", text_or(attrs, "address", "?")), num_or(attrs, "prefixlen", 0));
}

static const char *key_route(const struct nl_reply *reply, const struct attr *attrs)
{
	bool is_v6 = num_or(attrs, "family", AF_INET) == AF_INET6;
	const char *gateway = text_or(attrs, "gateway", NULL);
	uint64_t metric = num_or(attrs, "priority", 0);
	char *key = arena_printf(reply->arena, "%" PRIu64 " %s/%" PRIu64 " %s", num_or(attrs, "table", RT_TABLE_UNSPEC),
				 text_or(attrs, "dst", is_v6 ? "::" : "0.0.0.0"), num_or(attrs, "dst_len", 0),
				 text_or(attrs, "dev", "-"));

	if (gateway)
		key = arena_printf(reply->arena, "%s via %s", key, gateway);
	if (metric)
		key = arena_printf(reply->arena, "%s metric %" PRIu64, key, metric);
	return key;
}

static const char *key_rule(const struct nl_reply *reply, const struct attr *attrs)
{
	bool is_v6 = num_or(attrs, "family", AF_INET) == AF_INET6;

	return arena_printf(reply->arena, "%s %" PRIu64, is_v6 ? "inet6" : "inet", num_or(attrs, "priority", 0));
}

static const char *key_neigh(const struct nl_reply *reply, const struct attr *attrs)
{
	return arena_printf(reply->arena, "%s %s", text_or(attrs, "dev", "-"), text_or(attrs, "dst", "?"));
}

static const char *key_ethtool(const struct nl_reply *reply, const struct attr *attrs)
{
	return reply->dev ? reply->dev : text_or(attrs, "header/dev_name", "?");
}

static const char *key_rdma_device(const struct nl_reply *reply, const struct attr *attrs)
{
	(void)reply;
	return text_or(attrs, "dev_name", "?");
}

static const char *key_rdma_link(const struct nl_reply *reply, const struct attr *attrs)
{
	return arena_printf(reply->arena, "%s/%" PRIu64, text_or(attrs, "dev_name", "?"), num_or(attrs, "port_index", 0));
}

#define ETHTOOL(name) { "ethtool", name, OBJECTS_MAX, GENL_HDRLEN, NULL, NULL, key_ethtool }

static const struct nl_command commands[] = {
	{ "rtnl", "link", OBJECTS_MAX, 0, NULL, NULL, key_link },
	{ "rtnl", "address", OBJECTS_MAX, 0, "index", is_ip, key_address },
	{ "rtnl", "route", ROUTES_MAX, 0, "oif", keep_route, key_route },
	{ "rtnl", "rule", OBJECTS_MAX, 0, NULL, is_ip, key_rule },
	{ "rtnl", "neigh", NEIGHBOURS_MAX, 0, "index", keep_neigh, key_neigh },
	ETHTOOL("linkinfo"), ETHTOOL("linkmodes"), ETHTOOL("linkstate"), ETHTOOL("fec"), ETHTOOL("pause"), ETHTOOL("channels"),
	ETHTOOL("module-eeprom"),
	{ "rdma", "device", OBJECTS_MAX, 0, NULL, NULL, key_rdma_device },
	{ "rdma", "link", OBJECTS_MAX, 0, NULL, NULL, key_rdma_link },
};

const struct nl_command *nl_command_find(const char *family, const char *command)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].family, family) == 0 && strcmp(commands[i].command, command) == 0)
			return &commands[i];
	return NULL;
}

int nl_name_compare(const void *a, const void *b)
{
	const struct nl_name *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

static const char *name_of(const struct nl_reply *reply, unsigned index)
{
	struct nl_name wanted = { .index = index };
	const struct nl_name *found = NULL;

	if (reply->names && reply->names->n)
		found = bsearch(&wanted, reply->names->items, reply->names->n, sizeof(wanted), nl_name_compare);
	return found ? found->name : arena_printf(reply->arena, "if%u", index);
}

static int read_object(struct nl_reply *reply, const uint8_t *payload, size_t len)
{
	const struct nl_command *command = reply->command;
	const struct attr_table *table = attr_table_find(command->family, command->command);
	const struct attr *attrs;
	struct nl_object *object;
	struct num index;
	int rc;

	if (len < command->skip)
		return -EBADMSG;
	rc = attr_decode(table, payload + command->skip, len - command->skip, reply->arena, &attrs);
	if (rc < 0)
		return rc;
	if (command->keep && !command->keep(attrs))
		return 0;
	if (reply->n >= command->max) {
		reply->too_many = true;
		return 0;
	}
	index = attr_num(attrs, command->ifindex ? command->ifindex : "", NULL);
	if (command->ifindex && !index.err)
		attrs = attr_prepend_text(attrs, "dev", name_of(reply, (unsigned)index.val), reply->arena);
	object = arena_push(reply->arena, &reply->objects, &reply->n);
	object->attrs = attrs;
	object->key = command->key(reply, attrs);
	return 0;
}

/* The errno in front of an NLMSG_ERROR's or NLMSG_DONE's payload; one that is none is a malformed message. */
static int read_errno(const uint8_t *payload, size_t len)
{
	int32_t err;

	if (len < sizeof(err))
		return -EBADMSG;
	memcpy(&err, payload, sizeof(err));
	return err > 0 || err < -4095 ? -EBADMSG : err;
}

/* One message that is ours. */
static int read_message(struct nl_reply *reply, const struct nlmsghdr *head, const uint8_t *payload, size_t len)
{
	int rc;

	if (head->nlmsg_flags & NLM_F_DUMP_INTR)
		reply->interrupted = true;
	switch (head->nlmsg_type) {
	case NLMSG_NOOP:
		return 0;
	case NLMSG_OVERRUN:
		return -ENOBUFS;
	case NLMSG_ERROR:
		rc = read_errno(payload, len);
		return rc < 0 ? rc : 1;
	case NLMSG_DONE:
		rc = len ? read_errno(payload, len) : 0;
		return rc < 0 ? rc : 1;
	}
	if (head->nlmsg_type != reply->type)
		return 0;
	rc = read_object(reply, payload, len);
	if (rc < 0)
		return rc;
	return reply->too_many || !(head->nlmsg_flags & NLM_F_MULTI);
}

int nl_reply_read(struct nl_reply *reply, const void *data, size_t len)
{
	const uint8_t *pos = data;

	while (len > 0) {
		struct nlmsghdr head;
		size_t step;
		int rc;

		if (len < NLMSG_HDRLEN)
			return -EBADMSG;
		memcpy(&head, pos, sizeof(head));
		if (head.nlmsg_len < NLMSG_HDRLEN || head.nlmsg_len > len)
			return -EBADMSG;
		if (head.nlmsg_seq == reply->seq) {
			rc = read_message(reply, &head, pos + NLMSG_HDRLEN, head.nlmsg_len - NLMSG_HDRLEN);
			if (rc)
				return rc;
		}
		step = NLMSG_ALIGN(head.nlmsg_len);
		step = step < len ? step : len;
		pos += step;
		len -= step;
	}
	return 0;
}

static int compare_objects(const void *a, const void *b)
{
	const struct nl_object *x = *(struct nl_object *const *)a, *y = *(struct nl_object *const *)b;
	struct buf text_x cleanup_buf = BUF_INIT, text_y cleanup_buf = BUF_INIT;
	int order = strcmp(x->key, y->key);

	if (order)
		return order;
	attr_write(x->attrs, 0, &text_x);
	attr_write(y->attrs, 0, &text_y);
	return strcmp(buf_str(&text_x), buf_str(&text_y));
}

void nl_reply_finish(struct nl_reply *reply)
{
	struct nl_object **sorted cleanup_free = xcalloc(reply->n + 1, sizeof(*sorted));
	const char *key = NULL;
	unsigned same = 1;

	for (size_t i = 0; i < reply->n; i++)
		sorted[i] = &reply->objects[i];
	qsort(sorted, reply->n, sizeof(*sorted), compare_objects);
	for (size_t i = 0; i < reply->n; i++) {
		same = key && strcmp(key, sorted[i]->key) == 0 ? same + 1 : 1;
		key = sorted[i]->key;
		if (same > 1)
			sorted[i]->key = arena_printf(reply->arena, "%s #%u", key, same);
	}
}
