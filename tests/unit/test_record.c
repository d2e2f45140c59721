// SPDX-License-Identifier: Apache-2.0
/* Snapshots as text: what is written is read back the same, and what is wrong is refused with file and line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/buf.h"
#include "facts/record.h"
#include "facts/record_private.h"

#define HEAD "sparkfab-snapshot 1\n"

static struct records *parse(const char *text)
{
	struct records *records = records_new();
	struct fault fault = { 0 };

	if (records_parse(records, "t.snap", text, strlen(text), NULL, NULL, &fault) < 0)
		fail_msg("%s", fault.msg);
	return records;
}

static char *written(struct records *records)
{
	struct buf text = BUF_INIT;

	records_write(records, false, &text);
	return text.data;
}

/* The canonical form of everything there is. */
static const char whole[] = HEAD
	"host head\n"
	"arch x86_64\n"
	"tool sparkfab 0.1.0\n"
	"dir /sys/class/infiniband/rocep1s0f0/hw_counters\n"
	"error dir /sys/class/infiniband/rocep1s0f0/ports EACCES\n"
	"file /sys/class/infiniband/rocep1s0f0/ports/1/gid_attrs/types/{0..2}\n"
	"| RoCE v2\n"
	"error /sys/class/infiniband/rocep1s0f0/ports/1/gid_attrs/types/{3..1023} EINVAL\n"
	"file /sys/class/infiniband/rocep1s0f0/ports/1/rate\n"
	"| 200 Gb/sec (4X NDR)\n"
	"file /sys/class/net/eth1/carrier_changes\n"
	"| 1\n"
	"file@2 /sys/class/net/eth1/carrier_changes\n"
	"| 3\n"
	"link /sys/class/net/eth1/device -> ../../../0000:01:00.0\n"
	"error link /sys/class/net/lo/device EIO\n"
	"file /t/a\\x20blank\n"
	"file /t/empty-line\n"
	"|\n"
	"| x\n"
	"file /t/hex\n"
	"x 00ff0a\n"
	"file /t/no-newline\n"
	"| a\n"
	"| b\n"
	"\\\n"
	"file /t/{9..11}\n"
	"| same\n"
	"nl rtnl link eth1\n"
	"  index 3\n"
	"  ifname eth1\n"
	"  linkinfo\n"
	"    kind vlan\n"
	"    data\n"
	"      id 5\n"
	"nl@2 rtnl link eth1\n"
	"  index 3\n"
	"nl rtnl rule\n"
	"error nl ethtool fec eth1 EOPNOTSUPP\n"
	"fact time/1 {\"boot_ns\":1,\"real_ns\":2}\n"
	"fact@2 time/2 {\"boot_ns\":3}\n"
	"error fact verbs ENOENT\n"
	"end\n";

/* The same in the order of kinds that a writer has: paths, nl, facts; each by key. */
static void writing_is_stable(void **state)
{
	struct records *first = parse(whole), *second;
	char *once = written(first), *twice;

	(void)state;
	second = parse(once);
	twice = written(second);
	assert_string_equal(once, twice);
	assert_non_null(strstr(once, "types/{3..1023} EINVAL\n"));
	assert_non_null(strstr(once, "file /t/{9..11}\n| same\n"));
	assert_null(records_find(second, RECORD_FILE, "/sys/class/infiniband/rocep1s0f0/ports/1/gid_attrs/types/1024", 1));
	free(once);
	free(twice);
	records_free(first);
	records_free(second);
}

static bool count_records(void *ctx, const struct record *record)
{
	(void)record;
	++*(size_t *)ctx;
	return true;
}

struct comparison {
	const struct records *other;
	size_t n;
};

static bool compare_record(void *ctx, const struct record *a)
{
	struct comparison *c = ctx;
	const struct record *b = records_find(c->other, a->kind, a->key, a->sample);
	struct buf x = BUF_INIT, y = BUF_INIT;

	assert_non_null(b);
	assert_int_equal(a->err, b->err);
	assert_int_equal(a->text_len, b->text_len);
	if (a->text_len)
		assert_memory_equal(a->text, b->text, a->text_len);
	attr_write(a->attrs, 0, &x);
	attr_write(b->attrs, 0, &y);
	assert_string_equal(buf_str(&x), buf_str(&y));
	assert_int_equal(a->json == NULL, b->json == NULL);
	assert_true(!a->json || json_equal(a->json, b->json));
	buf_release(&x);
	buf_release(&y);
	c->n++;
	return true;
}

static void reading_gives_what_was_written(void **state)
{
	struct records *first = parse(whole), *second;
	char *text = written(first);

	(void)state;
	second = parse(text);
	for (enum record_kind kind = RECORD_FILE; kind <= RECORD_FACT; kind++) {
		struct comparison c = { .other = second };
		size_t n = 0;

		records_each(first, kind, compare_record, &c);
		records_each(second, kind, count_records, &n);
		assert_int_equal(c.n, n);
	}
	assert_string_equal(records_header(second, "tool"), "sparkfab 0.1.0");
	assert_string_equal(records_find(second, RECORD_FILE, "/t/no-newline", 1)->text, "a\nb");
	assert_string_equal(records_find(second, RECORD_FILE, "/t/empty-line", 1)->text, "\nx\n");
	assert_int_equal(records_find(second, RECORD_FILE, "/t/a blank", 1)->text_len, 0);
	assert_memory_equal(records_find(second, RECORD_FILE, "/t/hex", 1)->text, "\x00\xff\n", 3);
	assert_int_equal(records_find(second, RECORD_FACT, "verbs", 1)->err, ENOENT);
	assert_int_equal(records_find(second, RECORD_NL, "ethtool fec eth1", 1)->err, EOPNOTSUPP);
	assert_string_equal(records_find(second, RECORD_FILE, "/sys/class/net/eth1/carrier_changes", 2)->text, "3\n");
	free(text);
	records_free(first);
	records_free(second);
}

/* Content of any bytes comes back as it was. */
static void any_content_survives(void **state)
{
	static const struct {
		const char *text;
		size_t len;
	} contents[] = {
		{ "", 0 }, { "\n", 1 }, { "\n\n", 2 }, { "a", 1 }, { "a\n\nb", 4 }, { " a \n", 4 }, { "x 00\n", 5 }, { "\\\n", 2 },
		{ "| a\n", 4 }, { "# a\n", 4 }, { "end\n", 4 }, { "\t1\n", 3 }, { "a\r\n", 3 }, { "\0", 1 }, { "\x1b[0m", 4 },
		{ "\xc3\xa9\n", 3 }, { "\xc2\x9b\n", 3 }, { "\xff", 1 }, { "\xed\xa0\x80", 3 }, { "\xf0\x9f\x98\x80", 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		struct records *records = records_new(), *again;
		struct record record = { .kind = RECORD_FILE, .key = "/f", .sample = 1 };
		char *text;

		record.text = contents[i].text;
		record.text_len = contents[i].len;
		records_put(records, &record);
		text = written(records);
		again = parse(text);
		assert_int_equal(records_find(again, RECORD_FILE, "/f", 1)->text_len, contents[i].len);
		assert_memory_equal(records_find(again, RECORD_FILE, "/f", 1)->text, contents[i].text, contents[i].len + 1);
		free(text);
		records_free(records);
		records_free(again);
	}
}

static void listing_is_made_of_paths(void **state)
{
	struct records *records = parse(HEAD
					"file /a/b/10/x\nfile /a/b/9/x\nfile /a/b/9/y\nlink /a/b/l -> /a\ndir /a/b/c\n"
					"error /a/b/e EINVAL\nerror /a/b/f ENOENT\nfile@2 /a/b/9/x\nfile /a/bb\ndir /a/c\nend\n");
	struct arena *arena = arena_new();
	static const char *const want[] = { "9", "10", "c", "e", "l" };
	const char **names;
	size_t n;

	(void)state;
	assert_true(records_list(records, "/a/b", arena, &names, &n));
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(names[i], want[i]);
	assert_true(records_list(records, "/a/c", arena, &names, &n));
	assert_int_equal(n, 0);
	assert_false(records_list(records, "/a/b/f", arena, &names, &n));
	assert_false(records_list(records, "/z", arena, &names, &n));
	assert_true(records_list(records, "/", arena, &names, &n));
	assert_int_equal(n, 1);
	arena_free(arena);
	records_free(records);
}

static int sign(int order)
{
	return (order > 0) - (order < 0);
}

/* The order that searching relies on: total, "/" first, numbers by value. */
static void keys_have_one_order(void **state)
{
	static const char *const sorted[] = {
		"", "/", "/a", "/a/", "/a/x", "/a x", "/a0", "/a00", "/a1", "/a1/", "/a1/y", "/a1b", "/a01", "/a01/y", "/a9", "/a10",
		"/a010", "/a010b", "/a99", "/ab", "/\xff",
	};
	const int n = sizeof(sorted) / sizeof(sorted[0]);

	(void)state;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			if (sign(record_key_compare(sorted[i], sorted[j])) != sign(i - j))
				fail_msg("'%s' and '%s'", sorted[i], sorted[j]);
}

static void only_what_is_new_is_sent_again(void **state)
{
	struct records *records = parse(HEAD "host a\nfile /a\n| 1\nfile /b\n| 1\nend\n");
	struct buf text = BUF_INIT;
	struct record record = { .kind = RECORD_FILE, .key = "/a", .sample = 1, .text = "2\n", .text_len = 2 };

	(void)state;
	records_write(records, true, &text);
	assert_string_equal(text.data, HEAD "host a\nfile /a\n| 1\nfile /b\n| 1\nend\n");
	records_put(records, &record);
	record.sample = 2;
	records_put(records, &record);
	buf_clear(&text);
	records_write(records, true, &text);
	assert_string_equal(text.data, HEAD "host a\nfile /a\n| 2\nfile@2 /a\n| 2\nend\n");
	buf_clear(&text);
	records_write(records, true, &text);
	assert_string_equal(text.data, HEAD "host a\nend\n");
	buf_release(&text);
	records_free(records);
}

/* "dir" lines say nothing where another line says it too. */
static void implied_directories_are_not_written(void **state)
{
	struct records *records = parse(HEAD "dir /a\ndir /a/b\nfile /a/b\n| 1\ndir /a/c\ndir /a/d\nerror /a/d ENOENT\nend\n");
	char *text = written(records);

	(void)state;
	assert_string_equal(text, HEAD "file /a/b\n| 1\ndir /a/c\nerror /a/d ENOENT\ndir /a/d\nend\n");
	free(text);
	records_free(records);
}

/* ---- bases ---- */

struct base_file {
	const char *name, *text;
};

static int load_from_table(void *ctx, const char *file, struct buf *ret_text, char **ret_name, struct fault *reterr)
{
	for (const struct base_file *base = ctx; base->name; base++) {
		if (strcmp(base->name, file) != 0)
			continue;
		buf_adds(ret_text, base->text);
		*ret_name = xstrdup(file);
		return 0;
	}
	return fault_set(reterr, ENOENT, "No such file or directory");
}

static const struct base_file bases[] = {
	{ "hosts/good.snap", HEAD "host good\narch x86_64\nfile /m/mtu\n| 9000\nfile /m/x/y\n| 1\n"
				  "nl rtnl link eth1\n  index 3\n  mtu 9000\n  carrier 1\nfact a/b {\"x\":1}\nfact a/bc {}\nend\n" },
	{ "hosts/middle.snap", HEAD "base good.snap\nfile /m/mtu\n| 4200\nend\n" },
	{ "loop1", HEAD "base loop2\nend\n" },
	{ "loop2", HEAD "base loop1\nend\n" },
	{ "broken", HEAD "file x\nend\n" },
	{ NULL, NULL },
};

static void a_variant_says_only_what_differs(void **state)
{
	static const char text[] = HEAD "host bad\nbase hosts/middle.snap\nnl rtnl link eth1\n  mtu 1500\n  carrier -\n  txqlen 7\n"
					"gone /m/x\ngone fact a/b\nend\n";
	struct records *records = records_new();
	struct fault fault = { 0 };
	char *result;

	(void)state;
	if (records_parse(records, "t.snap", text, strlen(text), load_from_table, (void *)bases, &fault) < 0)
		fail_msg("%s", fault.msg);
	result = written(records);
	assert_string_equal(result, HEAD "host bad\narch x86_64\nfile /m/mtu\n| 4200\nnl rtnl link eth1\n  index 3\n  mtu 1500\n"
					  "  txqlen 7\nfact a/bc {}\nend\n");
	free(result);
	records_free(records);
}

static void gone_removes_by_words_and_slashes(void **state)
{
	static const char text[] = HEAD "base hosts/good.snap\ngone nl rtnl link\ngone /m\ngone fact a/b\nend\n";
	struct records *records = records_new();
	struct fault fault = { 0 };
	char *result;

	(void)state;
	if (records_parse(records, "t.snap", text, strlen(text), load_from_table, (void *)bases, &fault) < 0)
		fail_msg("%s", fault.msg);
	result = written(records);
	assert_string_equal(result, HEAD "host good\narch x86_64\nfact a/bc {}\nend\n");
	free(result);
	records_free(records);
}

/* ---- what is wrong ---- */

struct bad {
	const char *text;
	int err;
	const char *message;
};

static void check_bad(const struct bad *bad, size_t n, record_base_fn *load_base)
{
	for (size_t i = 0; i < n; i++) {
		struct records *records = records_new();
		struct fault fault = { 0 };
		int rc = records_parse(records, "t.snap", bad[i].text, strlen(bad[i].text), load_base, (void *)bases, &fault);

		assert_string_equal(fault.msg, bad[i].message);
		assert_int_equal(rc, -bad[i].err);
		assert_int_equal(fault.err, bad[i].err);
		records_free(records);
	}
}

static void bad_text_is_refused(void **state)
{
	static const struct bad bad[] = {
		{ "", EBADMSG, "t.snap:1: not a snapshot: the first line must be 'sparkfab-snapshot 1'" },
		{ "hello\n", EBADMSG, "t.snap:1: not a snapshot: the first line must be 'sparkfab-snapshot 1'" },
		{ "sparkfab-snapshot 2\nend\n", EPROTONOSUPPORT,
		  "t.snap:1: snapshot of version 2; this program reads version 1" },
		{ HEAD, EBADMSG, "t.snap:1: truncated: the last line must be 'end'" },
		{ HEAD "file /a\n| 1\n", EBADMSG, "t.snap:3: truncated: the last line must be 'end'" },
		{ HEAD "end\nfile /a\n", EBADMSG, "t.snap:2: there is more text behind 'end'" },
		{ HEAD "fiel /a\nend\n", EBADMSG, "t.snap:2: unknown keyword 'fiel /a'" },
		{ HEAD "file@3 /a\nend\n", EBADMSG, "t.snap:2: unknown keyword 'file@3 /a'" },
		{ HEAD "link@2 /a -> b\nend\n", EBADMSG, "t.snap:2: link has no second sample" },
		{ HEAD "| 1\nend\n", EBADMSG, "t.snap:2: unknown keyword '| 1'" },
		{ HEAD "file /a\nhost x\nend\n", EBADMSG, "t.snap:3: header 'host' must stand before all records" },
		{ HEAD "file a\nend\n", EBADMSG, "t.snap:2: 'a' is no absolute path" },
		{ HEAD "file /a b\nend\n", EBADMSG, "t.snap:2: expected one path (a blank in it is written \\x20)" },
		{ HEAD "file\nend\n", EBADMSG, "t.snap:2: expected one path (a blank in it is written \\x20)" },
		{ HEAD "file /a/../b\nend\n", EBADMSG,
		  "t.snap:2: path has an empty, too long, '.' or '..' component" },
		{ HEAD "file /a//b\nend\n", EBADMSG, "t.snap:2: path has an empty, too long, '.' or '..' component" },
		{ HEAD "file /a/\nend\n", EBADMSG, "t.snap:2: path has an empty, too long, '.' or '..' component" },
		{ HEAD "file /a\\x00\nend\n", EBADMSG, "t.snap:2: '\\' must be followed by x and two hex digits, not 00" },
		{ HEAD "file /a/{0..}\nend\n", EBADMSG,
		  "t.snap:2: a range is the whole last part of a path, as in /dir/{0..7}" },
		{ HEAD "file /a/x{0..1}\nend\n", EBADMSG,
		  "t.snap:2: a range is the whole last part of a path, as in /dir/{0..7}" },
		{ HEAD "file /a/{0..1}/b\nend\n", EBADMSG,
		  "t.snap:2: a range is the whole last part of a path, as in /dir/{0..7}" },
		{ HEAD "file /a/{5..4}\nend\n", EBADMSG,
		  "t.snap:2: a range has the form {FIRST..LAST}, with LAST not below FIRST" },
		{ HEAD "file /a/{0..65536}\nend\n", E2BIG, "t.snap:2: a range has at most 65536 members" },
		{ HEAD "file /a/{0..9999999999999}\nend\n", E2BIG, "t.snap:2: a range ends at 999999999 at most" },
		{ HEAD "file /a\n|1\nend\n", EBADMSG, "t.snap:3: '|' must be followed by a blank" },
		{ HEAD "file /a\nx 0\nend\n", EBADMSG, "t.snap:3: x is followed by an even number of hex digits" },
		{ HEAD "file /a\nx 0g\nend\n", EBADMSG, "t.snap:3: x is followed by hex digits in lower case" },
		{ HEAD "file /a\nx 00\n| a\nend\n", EBADMSG, "t.snap:4: a file's content is either text or hex" },
		{ HEAD "file /a\n\\\nend\n", EBADMSG,
		  "t.snap:3: '\\' stands alone, after a line of text that is not empty" },
		{ HEAD "file /a\n| a\n\\\n| b\nend\n", EBADMSG, "t.snap:5: nothing can follow '\\'" },
		{ HEAD "file /a\n| a\x01\nend\n", EBADMSG,
		  "t.snap:3: control character or invalid UTF-8; is this a snapshot?" },
		{ HEAD "file /a\n| a\xff\nend\n", EBADMSG,
		  "t.snap:3: control character or invalid UTF-8; is this a snapshot?" },
		{ HEAD "link /a b\nend\n", EBADMSG, "t.snap:2: a link has the form PATH -> TARGET" },
		{ HEAD "error /a\nend\n", EBADMSG, "t.snap:2: expected a path or key, and an error name" },
		{ HEAD "error /a EWRONG\nend\n", EBADMSG,
		  "t.snap:2: unknown error 'EWRONG'; expected a name such as EINVAL" },
		{ HEAD "error EINVAL\nend\n", EBADMSG, "t.snap:2: expected a path or key, and an error name" },
		{ HEAD "error nl EINVAL\nend\n", EBADMSG, "t.snap:2: expected FAMILY COMMAND [KEY]" },
		{ HEAD "error fact EINVAL\nend\n", EBADMSG, "t.snap:2: expected the key of a fact" },
		{ HEAD "nl rtnl\nend\n", EBADMSG, "t.snap:2: expected FAMILY COMMAND [KEY]" },
		{ HEAD "nl rtnl foo eth0\nend\n", EBADMSG,
		  "t.snap:2: unknown netlink family and command 'rtnl foo eth0'" },
		{ HEAD "nl rtnl link eth0\n# c\n\n  mtu 1\n  nosuch 5\nend\n", EBADMSG,
		  "t.snap:6: unknown attribute 'nosuch'" },
		{ HEAD "nl rtnl link eth0\n  mtu -\nend\n", EBADMSG, "t.snap:3: '-' is no value for attribute mtu" },
		{ HEAD "fact a\nend\n", EBADMSG, "t.snap:2: JSON, column 0: '[' or '{' expected near end of file" },
		{ HEAD "fact a {\"b\":1,\"b\":2}\nend\n", EBADMSG,
		  "t.snap:2: JSON, column 10: duplicate object key near '\"b\"'" },
		{ HEAD "base x\nend\n", EBADMSG, "t.snap:2: a base is allowed in files only, not in what a peer sends" },
		{ HEAD "gone /a\nend\n", EBADMSG, "t.snap:2: 'gone' needs a 'base' line before it" },
	};

	(void)state;
	check_bad(bad, sizeof(bad) / sizeof(bad[0]), NULL);
}

static void bad_bases_are_refused(void **state)
{
	static const struct bad bad[] = {
		{ HEAD "base nosuch\nend\n", ENOENT, "t.snap:2: base 'nosuch': No such file or directory" },
		{ HEAD "base broken\nend\n", EBADMSG, "broken:2: 'x' is no absolute path" },
		{ HEAD "base loop1\nend\n", ELOOP, "loop2:2: base 'loop1' leads back to itself" },
		{ HEAD "base t.snap\nend\n", ELOOP, "t.snap:2: base 't.snap' leads back to itself" },
		{ HEAD "base\nend\n", EBADMSG, "t.snap:2: expected the name of a file" },
		{ HEAD "file /a\nbase broken\nend\n", EBADMSG,
		  "t.snap:3: there is one base, and it stands before all records" },
		{ HEAD "base hosts/good.snap\ngone /nosuch\nend\n", EBADMSG,
		  "t.snap:3: nothing to remove: the base has no '/nosuch'" },
		{ HEAD "base hosts/good.snap\nnl rtnl link eth1\n  mut 3\nend\n", EBADMSG,
		  "t.snap:4: unknown attribute 'mut'" },
	};

	(void)state;
	check_bad(bad, sizeof(bad) / sizeof(bad[0]), load_from_table);
}

static int load_next(void *ctx, const char *file, struct buf *ret_text, char **ret_name, struct fault *reterr)
{
	int *depth = ctx;

	(void)reterr;
	buf_addf(ret_text, HEAD "base b%d\nend\n", ++*depth);
	*ret_name = xstrdup(file);
	return 0;
}

static void bases_do_not_go_on_forever(void **state)
{
	static const char text[] = HEAD "base b0\nend\n";
	struct records *records = records_new();
	struct fault fault = { 0 };
	int depth = 0;

	(void)state;
	assert_int_equal(records_parse(records, "t", text, strlen(text), load_next, &depth, &fault), -ELOOP);
	assert_string_equal(fault.msg, "b7:2: bases lie deeper than 8");
	records_free(records);
}

static void nul_bytes_are_refused(void **state)
{
	static const char text[] = HEAD "file /a\n| a\0b\nend\n";
	struct records *records = records_new();
	struct fault fault = { 0 };

	(void)state;
	assert_int_equal(records_parse(records, "t", text, sizeof(text) - 1, NULL, NULL, &fault), -EBADMSG);
	assert_string_equal(fault.msg, "t:3: control character or invalid UTF-8; is this a snapshot?");
	records_free(records);
}

/* Parses HEAD, `start`, `n` times `unit`, `stop`. */
static void check_big(const char *start, const char *unit, size_t n, const char *stop, int err, const char *message)
{
	struct buf text = BUF_INIT;
	struct records *records = records_new();
	struct fault fault = { 0 };

	buf_adds(&text, HEAD);
	buf_adds(&text, start);
	for (size_t i = 0; i < n; i++)
		buf_adds(&text, unit);
	buf_adds(&text, stop);
	assert_int_equal(records_parse(records, "t", text.data, text.len, NULL, NULL, &fault), -err);
	assert_string_equal(fault.msg, message);
	buf_release(&text);
	records_free(records);
}

static void limits_hold(void **state)
{
	(void)state;
	check_big("file /a\n| ", "0123456789abcdef", 65536, "\nend\n", E2BIG, "t:3: line is longer than 655360 bytes");
	check_big("file /a\n", "| 0123456789abcdef0123456789abcdef\n", 32768, "end\n", E2BIG,
		  "t:32770: content is longer than 1048576 bytes");
	check_big("fact a [", "1,", 300000, "1]\nend\n", E2BIG,
		  "t:2: facts are too long (at most 524288 bytes each, 16777216 in all)");
	check_big("fact a ", "[", 33, "\nend\n", E2BIG, "t:2: JSON is nested deeper than 32");
	check_big("file ", "/a", 33, "\nend\n", E2BIG, "t:2: path has more than 32 components");
	check_big("file /", "0123456789abcdef", 17, "\nend\n", EBADMSG,
		  "t:2: path has an empty, too long, '.' or '..' component");
	check_big("file ", "/0123456789abcde", 65, "\nend\n", E2BIG, "t:2: a path or key is longer than 1024 bytes");
	check_big("nl rtnl link a\n", "  prop_list\n", 100000, "end\n", E2BIG,
		  "t:87384: attributes are longer than 1048576 bytes");
	check_big("file /a/{0..65535}\nfile /b/{0..65535}\nfile /c/{0..65535}\nfile /d/{0..65535}\n", "file /e\n", 1, "end\n",
		  E2BIG, "t:6: too many records (at most 262144, and 256 MiB)");
}

static void a_file_finds_its_base_beside_it(void **state)
{
	char dir[] = "/tmp/sparkfab-record-XXXXXX", base[64], variant[64];
	struct records *records = records_new();
	struct fault fault = { 0 };
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(base, sizeof(base), "%s/base.snap", dir);
	snprintf(variant, sizeof(variant), "%s/variant.snap", dir);
	file = fopen(base, "w");
	fputs(HEAD "file /a\n| 1\nend\n", file);
	fclose(file);
	file = fopen(variant, "w");
	fputs(HEAD "base base.snap\nfile /b\n| 2\nend\n", file);
	fclose(file);
	if (records_load(records, variant, &fault) < 0)
		fail_msg("%s", fault.msg);
	assert_string_equal(records_find(records, RECORD_FILE, "/a", 1)->text, "1\n");
	assert_string_equal(records_find(records, RECORD_FILE, "/b", 1)->text, "2\n");
	file = fopen(variant, "w");
	fputs(HEAD "base /dev/zero\nend\n", file);
	fclose(file);
	assert_int_equal(records_load(records, variant, &fault), -EINVAL);
	assert_non_null(strstr(fault.msg, "variant.snap:2: base '/dev/zero': not a regular file"));
	unlink(base);
	unlink(variant);
	rmdir(dir);
	assert_int_equal(records_load(records, variant, &fault), -ENOENT);
	records_free(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_is_stable),
		cmocka_unit_test(reading_gives_what_was_written),
		cmocka_unit_test(any_content_survives),
		cmocka_unit_test(listing_is_made_of_paths),
		cmocka_unit_test(keys_have_one_order),
		cmocka_unit_test(only_what_is_new_is_sent_again),
		cmocka_unit_test(implied_directories_are_not_written),
		cmocka_unit_test(a_variant_says_only_what_differs),
		cmocka_unit_test(gone_removes_by_words_and_slashes),
		cmocka_unit_test(bad_text_is_refused),
		cmocka_unit_test(bad_bases_are_refused),
		cmocka_unit_test(bases_do_not_go_on_forever),
		cmocka_unit_test(nul_bytes_are_refused),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(a_file_finds_its_base_beside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
