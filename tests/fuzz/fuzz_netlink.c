// SPDX-License-Identifier: Apache-2.0
/*
 * Netlink datagrams of any content, and the trees they give: their text must read back as the same text. The first byte
 * chooses the command.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "facts/attr_table.h"
#include "facts/nl_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const commands[][2] = {
	{ "rtnl", "link" }, { "rtnl", "address" }, { "rtnl", "route" }, { "rtnl", "rule" }, { "rtnl", "neigh" },
	{ "ethtool", "linkinfo" }, { "ethtool", "linkmodes" }, { "ethtool", "linkstate" }, { "ethtool", "fec" },
	{ "ethtool", "pause" }, { "ethtool", "channels" }, { "ethtool", "module-eeprom" }, { "rdma", "device" },
	{ "rdma", "link" },
};

static void check_text(const struct attr_table *table, const struct attr *attrs, struct arena *arena)
{
	struct buf once = BUF_INIT, twice = BUF_INIT;
	const struct attr *again = NULL;
	struct fault fault;

	attr_write(attrs, 1, &once);
	if (attr_parse(table, buf_str(&once), once.len, arena, &again, &fault) < 0)
		abort();
	attr_write(again, 1, &twice);
	if (strcmp(buf_str(&once), buf_str(&twice)) != 0)
		abort();
	buf_release(&once);
	buf_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t types[] = { 16, 20, 24, 32, 28 }; /* RTM_NEW… of the first five */
	struct arena *arena = arena_new();
	const struct attr *attrs;
	const struct attr_table *table;
	struct nl_reply reply = { .seq = 0, .type = 16, .arena = arena };
	size_t which;

	if (size == 0 || size > 65536) {
		arena_free(arena);
		return 0;
	}
	which = data[0] % (sizeof(commands) / sizeof(commands[0]));
	table = attr_table_find(commands[which][0], commands[which][1]);
	if (attr_decode(table, data + 1, size - 1, arena, &attrs) == 0)
		check_text(table, attrs, arena);
	reply.command = nl_command_find(commands[which][0], commands[which][1]);
	reply.type = which < 5 ? types[which] : 16;
	nl_reply_read(&reply, data + 1, size - 1);
	nl_reply_finish(&reply);
	for (size_t i = 0; i < reply.n; i++)
		check_text(table, reply.objects[i].attrs, arena);
	arena_free(arena);
	return 0;
}
