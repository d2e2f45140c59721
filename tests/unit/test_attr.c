// SPDX-License-Identifier: Apache-2.0
/* Netlink attributes: bytes into trees, trees into text, text into trees; and bytes that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "facts/attr.h"
#include "facts/attr_table.h"
#include "facts/nl_reply.h"

/* Builds messages by hand, byte for byte, so that the decoder meets what the kernel sends and what it never would. */
struct bytes {
	uint8_t data[4096];
	size_t len;
};

static void put(struct bytes *b, const void *data, size_t len)
{
	assert_true(b->len + len + 3 < sizeof(b->data));
	memcpy(b->data + b->len, data, len);
	b->len += len;
	while (b->len % 4)
		b->data[b->len++] = 0;
}

static size_t nest_begin(struct bytes *b, uint16_t type)
{
	const struct nlattr nla = { .nla_type = type };
	size_t at = b->len;

	put(b, &nla, sizeof(nla));
	return at;
}

static void nest_end(struct bytes *b, size_t at)
{
	uint16_t len = (uint16_t)(b->len - at);

	memcpy(b->data + at, &len, sizeof(len));
}

static void put_attr(struct bytes *b, uint16_t type, const void *data, size_t len)
{
	const struct nlattr nla = { .nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type };

	put(b, &nla, sizeof(nla));
	put(b, data, len);
}

static void put_u32(struct bytes *b, uint16_t type, uint32_t value)
{
	put_attr(b, type, &value, sizeof(value));
}

static void put_text(struct bytes *b, uint16_t type, const char *text)
{
	put_attr(b, type, text, strlen(text) + 1);
}

static void put_link_header(struct bytes *b, int index)
{
	const struct ifinfomsg info = { .ifi_type = 1, .ifi_index = index, .ifi_flags = IFF_UP | IFF_BROADCAST };

	put(b, &info, sizeof(info));
}

static void put_vlan_link(struct bytes *b)
{
	const uint8_t mac[6] = { 0x02, 0, 0, 0, 0xab, 1 };
	const uint16_t id = 100, unknown = 0x1234;
	const uint8_t protocol[2] = { 0x81, 0x00 };
	size_t info, data;

	put_link_header(b, 7);
	put_text(b, IFLA_IFNAME, "eth1.100");
	put_u32(b, IFLA_MTU, 1500);
	put_attr(b, IFLA_ADDRESS, mac, sizeof(mac));
	put_attr(b, IFLA_STATS, mac, sizeof(mac));
	put_attr(b, 900, &unknown, sizeof(unknown));
	info = nest_begin(b, IFLA_LINKINFO | NLA_F_NESTED);
	put_text(b, IFLA_INFO_KIND, "vlan");
	data = nest_begin(b, IFLA_INFO_DATA);
	put_attr(b, IFLA_VLAN_PROTOCOL, protocol, sizeof(protocol));
	put_attr(b, IFLA_VLAN_ID, &id, sizeof(id));
	nest_end(b, data);
	nest_end(b, info);
}

static const char vlan_text[] = "index 7\n"
				"type 1\n"
				"flags 0x3\n"
				"ifname eth1.100\n"
				"mtu 1500\n"
				"address 02:00:00:00:ab:01\n"
				"#900 3412\n"
				"linkinfo\n"
				"  kind vlan\n"
				"  data\n"
				"    protocol 0x8100\n"
				"    id 100\n";

static void decodes_a_link(void **state)
{
	struct arena *arena = arena_new();
	struct bytes b = { 0 };
	struct buf text = BUF_INIT;
	const struct attr *attrs = NULL;

	(void)state;
	put_vlan_link(&b);
	assert_int_equal(attr_decode(attr_table_find("rtnl", "link"), b.data, b.len, arena, &attrs), 0);
	assert_int_equal(attr_num(attrs, "mtu", "x").val, 1500);
	assert_int_equal(attr_num(attrs, "linkinfo/data/id", "x").val, 100);
	assert_int_equal(attr_num(attrs, "linkinfo/data/protocol", "x").val, 0x8100);
	assert_string_equal(attr_text(attrs, "linkinfo/kind", "x").val, "vlan");
	assert_int_equal(attr_num(attrs, "carrier", "x").err, ENODATA);
	assert_int_equal(attr_num(attrs, "ifname", "x").err, VALUE_MALFORMED);
	assert_int_equal(attr_text(attrs, "linkinfo", "x").err, VALUE_MALFORMED);
	assert_null(attr_find(NULL, "mtu"));
	attr_write(attrs, 0, &text);
	if (*(const uint8_t *)&(const uint16_t){ 1 }) /* the unknown attribute's bytes stay as the kernel had them */
		assert_string_equal(buf_str(&text), vlan_text);
	buf_release(&text);
	arena_free(arena);
}

static void text_survives_reading(void **state)
{
	struct arena *arena = arena_new();
	struct buf text = BUF_INIT;
	const struct attr *attrs = NULL;
	struct fault fault;

	(void)state;
	assert_int_equal(attr_parse(attr_table_find("rtnl", "link"), vlan_text, strlen(vlan_text), arena, &attrs, &fault), 0);
	assert_int_equal(attr_num(attrs, "linkinfo/data/id", "x").val, 100);
	attr_write(attrs, 0, &text);
	assert_string_equal(buf_str(&text), vlan_text);
	buf_release(&text);
	arena_free(arena);
}

static void decodes_lists_and_flags(void **state)
{
	struct arena *arena = arena_new();
	struct bytes b = { 0 };
	const struct attr *attrs = NULL;
	size_t ours, bits, bit;

	(void)state;
	ours = nest_begin(&b, ETHTOOL_A_LINKMODES_OURS | NLA_F_NESTED);
	put_u32(&b, ETHTOOL_A_BITSET_SIZE, 2);
	bits = nest_begin(&b, ETHTOOL_A_BITSET_BITS);
	for (uint32_t i = 0; i < 2; i++) {
		bit = nest_begin(&b, ETHTOOL_A_BITSET_BITS_BIT);
		put_u32(&b, ETHTOOL_A_BITSET_BIT_INDEX, i);
		put_text(&b, ETHTOOL_A_BITSET_BIT_NAME, i ? "200000baseCR4/Full" : "Autoneg");
		if (i)
			put_attr(&b, ETHTOOL_A_BITSET_BIT_VALUE, "", 0);
		nest_end(&b, bit);
	}
	nest_end(&b, bits);
	nest_end(&b, ours);
	assert_int_equal(attr_decode(attr_table_find("ethtool", "linkmodes"), b.data, b.len, arena, &attrs), 0);
	assert_string_equal(attr_text(attrs, "ours/bits/1/name", "x").val, "200000baseCR4/Full");
	assert_int_equal(attr_num(attrs, "ours/bits/1/value", "x").val, 1);
	assert_null(attr_find(attrs, "ours/bits/0/value"));
	assert_null(attr_find(attrs, "ours/bits/2"));
	arena_free(arena);
}

static void wrong_lengths_are_refused(void **state)
{
	struct arena *arena = arena_new();
	const struct attr_table *table = attr_table_find("rtnl", "link");
	struct bytes b = { 0 };
	const struct attr *attrs = NULL;

	(void)state;
	put_vlan_link(&b);
	/* Every shorter piece is either refused or read without a byte beyond it (the sanitizers watch). */
	for (size_t len = 0; len < b.len; len++) {
		uint8_t *piece = test_malloc(len ? len : 1);
		int rc;

		memcpy(piece, b.data, len);
		rc = attr_decode(table, piece, len, arena, &attrs);
		assert_true(rc == 0 || rc == -EBADMSG);
		if (len < sizeof(struct ifinfomsg))
			assert_int_equal(rc, -EBADMSG);
		test_free(piece);
	}
	b.len = 0;
	put_link_header(&b, 1);
	put_u32(&b, IFLA_MTU, 9000);
	b.data[sizeof(struct ifinfomsg)] = 200; /* longer than the message */
	b.data[sizeof(struct ifinfomsg) + 1] = 0;
	assert_int_equal(attr_decode(table, b.data, b.len, arena, &attrs), -EBADMSG);
	arena_free(arena);
}

static void odd_payloads_do_not_cost_the_message(void **state)
{
	struct arena *arena = arena_new();
	struct bytes b = { 0 };
	const struct attr *attrs = NULL;

	(void)state;
	put_link_header(&b, 1);
	put_attr(&b, IFLA_MTU, "abc", 3);
	put_attr(&b, IFLA_LINKINFO, "\x03\x00\x01\x00", 4); /* a member shorter than its own header */
	put_text(&b, IFLA_IFNAME, "eth0");
	assert_int_equal(attr_decode(attr_table_find("rtnl", "link"), b.data, b.len, arena, &attrs), 0);
	assert_int_equal(attr_num(attrs, "mtu", "x").err, ENODATA);
	assert_string_equal(attr_text(attrs, "#4", "x").val, "616263");
	assert_string_equal(attr_text(attrs, "#18", "x").val, "03000100");
	assert_string_equal(attr_text(attrs, "ifname", "x").val, "eth0");
	arena_free(arena);
}

static void depth_is_bounded(void **state)
{
	struct arena *arena = arena_new();
	char text[512] = "";
	const struct attr *attrs = NULL;
	struct fault fault;

	(void)state;
	for (int i = 0; i < 12; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%*s%s\n", 2 * i, "", i % 2 ? "data" : "linkinfo");
	assert_int_equal(attr_parse(attr_table_find("rtnl", "link"), text, strlen(text), arena, &attrs, &fault), -EBADMSG);
	arena_free(arena);
}

static void bad_text_names_its_line(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "mtu 1500\nspeed 3\n", "line 2: unknown attribute 'speed'" },
		{ "mtu 15x\n", "line 1: '15x' is no value for attribute mtu" },
		{ "mtu\n", "line 1: '' is no value for attribute mtu" },
		{ "mtu -\n", "line 1: '-' is no value for attribute mtu" },
		{ "mtu -1\n", "line 1: '-1' is no value for attribute mtu" },
		{ "address 02:0\n", "line 1: '02:0' is no value for attribute address" },
		{ "ifname \"a\\x00b\"\n", "line 1: '\"a\\x00b\"' is no value for attribute ifname" },
		{ "ifname \"a\n", "line 1: '\"a' is no value for attribute ifname" },
		{ "#70000 00\n", "line 1: unknown attribute '#70000'" },
		{ "#70 0\n", "line 1: '0' is no value for attribute #70" },
		{ "linkinfo x\n", "line 1: linkinfo has members on lines of their own, and no value" },
		{ "mtu 1\n    ifname x\n", "line 2: 'ifname' is indented by 4 blanks, not by 0" },
		{ "  mtu 1\nifname x\n", "line 2: 'ifname' is indented by 0 blanks, not by 2" },
		{ "linkinfo\n  data\n    id 5\n", "line 3: unknown attribute 'id'" },
		{ "linkinfo\n  kind vlan\n  data\n    protocol 65536\n", "line 4: '65536' is no value for attribute protocol" },
		{ "prop_list\n  x name\n", "line 2: unknown attribute 'x'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct arena *arena = arena_new();
		const struct attr *attrs = NULL;
		struct fault fault = { 0 };
		int rc = attr_parse(attr_table_find("rtnl", "link"), cases[i].text, strlen(cases[i].text), arena, &attrs, &fault);

		assert_string_equal(fault.msg, cases[i].message);
		assert_int_equal(rc, -EBADMSG);
		assert_null(attrs);
		arena_free(arena);
	}
}

static void foreign_text_is_quoted(void **state)
{
	static const char *const names[] = { "plain", "two words", "", "-", " x", "x ", "a\"b", "a\\b", "\x1b[31m", "\xc3\xa9" };
	static const char *const written[] = {
		"ifname plain\n",  "ifname two words\n",  "ifname \"\"\n",	"ifname \"-\"\n",	    "ifname \" x\"\n",
		"ifname \"x \"\n", "ifname a\"b\n", "ifname a\\b\n", "ifname \"\\x1b[31m\"\n", "ifname \"\\xc3\\xa9\"\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct attr attr = { .name = "ifname", .type = ATTR_STRING, .text = names[i] };
		struct arena *arena = arena_new();
		struct buf text = BUF_INIT;
		const struct attr *attrs = NULL;
		struct fault fault = { 0 };

		attr_write(&attr, 0, &text);
		assert_string_equal(buf_str(&text), written[i]);
		assert_int_equal(attr_parse(attr_table_find("rtnl", "link"), text.data, text.len, arena, &attrs, &fault), 0);
		assert_string_equal(attrs->text, names[i]);
		buf_release(&text);
		arena_free(arena);
	}
}

/* ---- datagrams ---- */

static size_t message_begin(struct bytes *b, uint16_t type, uint16_t flags, uint32_t seq)
{
	const struct nlmsghdr head = { .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = seq };
	size_t at = b->len;

	put(b, &head, sizeof(head));
	return at;
}

static void message_end(struct bytes *b, size_t at)
{
	uint32_t len = (uint32_t)(b->len - at);

	memcpy(b->data + at, &len, sizeof(len));
}

static void put_route(struct bytes *b, uint32_t seq, uint8_t type, uint8_t last_octet, uint32_t gateway)
{
	const struct rtmsg route = { .rtm_family = AF_INET, .rtm_dst_len = 24, .rtm_table = RT_TABLE_MAIN, .rtm_type = type };
	const uint8_t dst[4] = { 10, 0, last_octet, 0 };
	size_t at = message_begin(b, RTM_NEWROUTE, NLM_F_MULTI, seq);

	put(b, &route, sizeof(route));
	put_u32(b, RTA_TABLE, RT_TABLE_MAIN);
	put_attr(b, RTA_DST, dst, sizeof(dst));
	put_u32(b, RTA_OIF, 3);
	if (gateway) {
		const uint32_t raw = htonl(gateway);

		put_attr(b, RTA_GATEWAY, &raw, sizeof(raw));
	}
	message_end(b, at);
}

static void put_done(struct bytes *b, uint32_t seq, int32_t err)
{
	size_t at = message_begin(b, NLMSG_DONE, NLM_F_MULTI, seq);

	put(b, &err, sizeof(err));
	message_end(b, at);
}

static struct nl_reply route_reply(struct arena *arena)
{
	static struct nl_name name = { 3, "eth1" };
	static const struct nl_names names = { &name, 1 };

	return (struct nl_reply){
		.command = nl_command_find("rtnl", "route"), .seq = 77, .type = RTM_NEWROUTE, .names = &names, .arena = arena,
	};
}

static void a_dump_gives_keys(void **state)
{
	struct arena *arena = arena_new();
	struct nl_reply reply = route_reply(arena);
	struct bytes b = { 0 };

	(void)state;
	put_route(&b, 77, RTN_UNICAST, 1, 0);
	put_route(&b, 76, RTN_UNICAST, 9, 0); /* an answer to somebody else */
	put_route(&b, 77, RTN_LOCAL, 1, 0);
	put_route(&b, 77, RTN_UNICAST, 2, 0x0a000001);
	put_route(&b, 77, RTN_UNICAST, 1, 0); /* the same once more */
	assert_int_equal(nl_reply_read(&reply, b.data, b.len), 0);
	b.len = 0;
	put_done(&b, 77, 0);
	assert_int_equal(nl_reply_read(&reply, b.data, b.len), 1);
	nl_reply_finish(&reply);
	assert_int_equal(reply.n, 3);
	assert_string_equal(reply.objects[0].key, "254 10.0.1.0/24 eth1");
	assert_string_equal(reply.objects[1].key, "254 10.0.2.0/24 eth1 via 10.0.0.1");
	assert_string_equal(reply.objects[2].key, "254 10.0.1.0/24 eth1 #2");
	assert_string_equal(attr_text(reply.objects[0].attrs, "dev", "x").val, "eth1");
	arena_free(arena);
}

static void equal_keys_are_numbered_by_content(void **state)
{

	(void)state;
	for (int order = 0; order < 2; order++) {
		struct arena *arena = arena_new();
		struct nl_reply reply = { .command = nl_command_find("rtnl", "rule"), .arena = arena };

		for (int i = 0; i < 2; i++) {
			struct nl_object *object = arena_push(arena, &reply.objects, &reply.n);
			struct attr *attr = arena_alloc(arena, sizeof(*attr));

			*attr = (struct attr){ .name = "iifname", .type = ATTR_STRING, .text = i == order ? "eth1" : "eth2" };
			object->key = "inet 100";
			object->attrs = attr;
		}
		nl_reply_finish(&reply);
		for (int i = 0; i < 2; i++)
			if (strcmp(reply.objects[i].key, "inet 100 #2") == 0)
				assert_string_equal(reply.objects[i].attrs->text, "eth2");
			else
				assert_string_equal(reply.objects[i].attrs->text, "eth1");
		arena_free(arena);
	}
}

static void too_many_routes_are_told(void **state)
{
	struct arena *arena = arena_new();
	struct nl_reply reply = route_reply(arena);
	struct bytes b = { 0 };
	int rc = 0;

	(void)state;
	put_route(&b, 77, RTN_UNICAST, 1, 0);
	for (int i = 0; rc == 0 && i < 5000; i++)
		rc = nl_reply_read(&reply, b.data, b.len);
	assert_int_equal(rc, 1);
	assert_true(reply.too_many);
	assert_int_equal(reply.n, 4096);
	arena_free(arena);
}

static void answers_end_as_they_say(void **state)
{
	struct arena *arena = arena_new();
	struct nl_reply reply = route_reply(arena);
	struct bytes b = { 0 };
	size_t at;

	(void)state;
	put_done(&b, 77, -EINVAL); /* a dump that failed half-way */
	assert_int_equal(nl_reply_read(&reply, b.data, b.len), -EINVAL);
	b.len = 0;
	at = message_begin(&b, NLMSG_ERROR, 0, 77);
	put(&b, &(const int32_t){ -EOPNOTSUPP }, 4);
	message_end(&b, at);
	assert_int_equal(nl_reply_read(&reply, b.data, b.len), -EOPNOTSUPP);
	b.data[at + NLMSG_HDRLEN] = 7; /* a positive error is none */
	memset(b.data + at + NLMSG_HDRLEN + 1, 0, 3);
	assert_int_equal(nl_reply_read(&reply, b.data, b.len), -EBADMSG);
	b.len = 0;
	at = message_begin(&b, NLMSG_OVERRUN, 0, 77);
	message_end(&b, at);
	assert_int_equal(nl_reply_read(&reply, b.data, b.len), -ENOBUFS);
	b.len = 0;
	put_route(&b, 77, RTN_UNICAST, 1, 0);
	b.data[6] |= NLM_F_DUMP_INTR & 0xff;
	assert_int_equal(nl_reply_read(&reply, b.data, b.len), 0);
	assert_true(reply.interrupted);
	for (size_t len = 1; len < b.len; len++)
		assert_int_equal(nl_reply_read(&reply, b.data, len), -EBADMSG);
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes_a_link),
		cmocka_unit_test(text_survives_reading),
		cmocka_unit_test(decodes_lists_and_flags),
		cmocka_unit_test(wrong_lengths_are_refused),
		cmocka_unit_test(odd_payloads_do_not_cost_the_message),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(bad_text_names_its_line),
		cmocka_unit_test(foreign_text_is_quoted),
		cmocka_unit_test(a_dump_gives_keys),
		cmocka_unit_test(equal_keys_are_numbered_by_content),
		cmocka_unit_test(too_many_routes_are_told),
		cmocka_unit_test(answers_end_as_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
