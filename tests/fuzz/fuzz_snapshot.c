// SPDX-License-Identifier: Apache-2.0
/*
 * Snapshot text from a stranger. Whatever is accepted must come out of the writer as text that reads as the same records:
 * written twice it is the same bytes. The first byte chooses whether bases are allowed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "facts/record.h"
#include "facts/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char base_text[] = "sparkfab-snapshot 1\nhost base\nfile /a/{0..3}\n| 1\nlink /a/l -> b\nerror /e EINVAL\n"
				"nl rtnl link eth1\n  mtu 9000\n  linkinfo\n    kind vlan\nfact a/b {\"c\":1}\nend\n";

static int load_base(void *ctx, const char *file, struct buf *ret_text, char **ret_name, struct fault *reterr)
{
	(void)reterr;
	buf_adds(ret_text, strcmp(file, "self") == 0 ? ctx : base_text);
	*ret_name = xstrdup(file);
	return 0;
}

static void ask(const struct records *records)
{
	struct source *source = source_memory_new(records);
	struct arena *arena = arena_new();
	const struct nl_object *objects;
	const char **names;
	size_t n;

	source_num(source, arena, "/a/0");
	source_list(source, "/", arena, &names, &n);
	source_list(source, "/a", arena, &names, &n);
	source_nl(source, "rtnl", "link", NULL, arena, &objects, &n);
	source_nl(source, "rtnl", "link", "eth1", arena, &objects, &n);
	arena_free(arena);
	source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct records *first = records_new(), *second = records_new();
	struct buf once = BUF_INIT, twice = BUF_INIT;
	struct fault fault = { 0 };
	bool with_base = size > 0 && data[0] == '+';
	char *text;

	/* A fixture as it stands is a seed; '+' in front lets it have bases. */
	data += with_base;
	size -= with_base;
	text = xcalloc(size + 1, 1);
	memcpy(text, data, size);
	if (records_parse(first, "fuzz", text, size, with_base ? load_base : NULL, text, &fault) == 0) {
		ask(first);
		records_write(first, false, &once);
		if (!once.truncated) {
			if (records_parse(second, "again", buf_str(&once), once.len, NULL, NULL, &fault) < 0)
				abort();
			records_write(second, false, &twice);
			if (once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
				abort();
		}
	}
	buf_release(&once);
	buf_release(&twice);
	records_free(first);
	records_free(second);
	free(text);
	return 0;
}
