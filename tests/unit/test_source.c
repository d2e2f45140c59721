// SPDX-License-Identifier: Apache-2.0
/* The door: records answer as they say, a recording of this machine answers as the machine did, modules are read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/buf.h"
#include "facts/source.h"
#include "facts/source_live.h"

#define HEAD "sparkfab-snapshot 1\n"

static struct records *parse(const char *text)
{
	struct records *records = records_new();
	struct fault fault = { 0 };

	if (records_parse(records, "t.snap", text, strlen(text), NULL, NULL, &fault) < 0)
		fail_msg("%s", fault.msg);
	return records;
}

static void records_answer(void **state)
{
	struct records *records = parse(HEAD
					"file /n\n| 42\nfile /hex\n| 0x15b3\nfile /odd\n| 4 2\nerror /e EINVAL\nerror dir /d EACCES\n"
					"file@2 /n\n| 43\nlink /l -> ../x\nnl rtnl link eth1\n  mtu 9000\nnl rtnl link eth10\n  mtu 1\n"
					"nl rtnl rule\nerror nl rtnl route E2BIG\nnl rtnl route 254 10.0.0.0/8 eth1\n  oif 3\n"
					"error nl ethtool fec eth1 EOPNOTSUPP\nfact a {\"b\":1}\nfact@2 a {\"b\":2}\nend\n");
	struct source *source = source_memory_new(records);
	struct arena *arena = arena_new();
	const struct nl_object *objects;
	const char **names, *text;
	const json_t *json;
	size_t n;

	(void)state;
	assert_false(source_is_live(source));
	assert_int_equal(source_num(source, arena, "/n").val, 42);
	assert_string_equal(source_num(source, arena, "/n").origin, "/n");
	assert_int_equal(source_num(source, arena, "/hex").val, 0x15b3);
	assert_int_equal(source_num(source, arena, "/odd").err, VALUE_MALFORMED);
	assert_string_equal(source_text(source, arena, "/odd").val, "4 2");
	assert_int_equal(source_num(source, arena, "/e").err, EINVAL);
	assert_int_equal(source_num(source, arena, "/none").err, ENOENT);
	assert_int_equal(source_link(source, "/l", arena, &text), 0);
	assert_string_equal(text, "../x");
	assert_int_equal(source_link(source, "/e", arena, &text), -EINVAL);
	assert_int_equal(source_list(source, "/d", arena, &names, &n), -EACCES);
	assert_int_equal(source_list(source, "/e", arena, &names, &n), -EINVAL);
	assert_int_equal(source_nl(source, "rtnl", "link", NULL, arena, &objects, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(source_nl(source, "rtnl", "link", "eth1", arena, &objects, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(objects[0].key, "eth1");
	assert_int_equal(source_nl(source, "rtnl", "rule", NULL, arena, &objects, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(source_nl(source, "rtnl", "route", NULL, arena, &objects, &n), -E2BIG);
	assert_int_equal(n, 1);
	assert_int_equal(source_nl(source, "rtnl", "neigh", NULL, arena, &objects, &n), -ENODATA);
	assert_int_equal(source_nl(source, "ethtool", "fec", "eth1", arena, &objects, &n), -EOPNOTSUPP);
	assert_int_equal(source_nl(source, "ethtool", "fec", "eth10", arena, &objects, &n), -ENODATA);
	assert_int_equal(source_fact(source, "a", &json), 0);
	assert_int_equal(json_integer_value(json_object_get(json, "b")), 1);
	assert_int_equal(source_fact(source, "b", &json), -ENODATA);
	source_set_sample(source, 2);
	assert_int_equal(source_num(source, arena, "/n").val, 43);
	assert_int_equal(source_num(source, arena, "/hex").err, ENOENT);
	assert_int_equal(source_nl(source, "rtnl", "link", NULL, arena, &objects, &n), -ENODATA);
	assert_int_equal(source_fact(source, "a", &json), 0);
	assert_int_equal(json_integer_value(json_object_get(json, "b")), 2);
	arena_free(arena);
	source_free(source);
	records_free(records);
}

/* ---- the machine that the test runs on ---- */

static const char *const live_files[] = {
	"/proc/cpuinfo", "/proc/sys/kernel/hostname", "/sys/class/net/lo/mtu", "/sys/class/net/lo/speed",
	"/sys/class/net/lo/nosuch", "/sys/class/net", "/etc/os-release", "/proc/cmdline",
};
static const char *const live_links[] = { "/sys/class/net/lo", "/sys/class/net/lo/mtu", "/proc/self/ns/net", "/nosuch" };
static const char *const live_lists[] = { "/sys/class/net", "/sys/class/net/lo", "/sys/class/infiniband", "/etc/os-release" };
static const struct {
	const char *family, *command, *dev;
} live_dumps[] = {
	{ "rtnl", "address", NULL },  { "rtnl", "link", NULL },	    { "rtnl", "link", "lo" },
	{ "rtnl", "route", NULL },    { "rtnl", "rule", NULL },	    { "rtnl", "link", "nosuch0" },
	{ "rdma", "device", NULL },   { "rdma", "link", NULL },	    { "ethtool", "linkstate", "lo" },
	{ "ethtool", "fec", "lo" },   { "ethtool", "pause", "lo" }, { "ethtool", "linkmodes", "nosuch0" },
	{ "ethtool", "linkmodes", "lo" }, { "nosuch", "link", NULL },
};
static const char *const live_facts[] = {
	"uname", "user", "netns", "machine-id", "time/1", "ethtool/drvinfo/lo", "ethtool/stats/lo", "ethtool/module/lo",
	"verbs", "verbs/nosuch/1", "rdma/uverbs/nosuch", "nosuch",
};

/* Asks all questions and writes every answer into one text. */
static void ask_files(struct source *source, struct arena *arena, struct buf *out)
{
	const char **names, *text;
	size_t n;
	int rc;

	for (size_t i = 0; i < sizeof(live_files) / sizeof(live_files[0]); i++) {
		rc = source_read(source, live_files[i], arena, &text, &n);
		buf_addf(out, "file %s %d\n", live_files[i], rc);
		if (rc == 0)
			buf_add(out, text, n);
	}
	for (size_t i = 0; i < sizeof(live_links) / sizeof(live_links[0]); i++) {
		rc = source_link(source, live_links[i], arena, &text);
		buf_addf(out, "link %s %d %s\n", live_links[i], rc, rc == 0 ? text : "");
	}
	for (size_t i = 0; i < sizeof(live_lists) / sizeof(live_lists[0]); i++) {
		rc = source_list(source, live_lists[i], arena, &names, &n);
		buf_addf(out, "list %s %d", live_lists[i], rc);
		for (size_t j = 0; rc == 0 && j < n; j++)
			buf_addf(out, " %s", names[j]);
		buf_addc(out, '\n');
	}
}

static int compare_objects(const void *a, const void *b)
{
	return strcmp(((const struct nl_object *)a)->key, ((const struct nl_object *)b)->key);
}

static void ask_others(struct source *source, struct arena *arena, struct buf *out)
{
	const struct nl_object *objects;
	const json_t *json;
	size_t n;
	int rc;

	for (size_t i = 0; i < sizeof(live_dumps) / sizeof(live_dumps[0]); i++) {
		rc = source_nl(source, live_dumps[i].family, live_dumps[i].command, live_dumps[i].dev, arena, &objects, &n);
		buf_addf(out, "nl %s %s %d\n", live_dumps[i].family, live_dumps[i].command, rc);
		if (rc < 0 || n == 0)
			continue;
		qsort((void *)objects, n, sizeof(*objects), compare_objects);
		for (size_t j = 0; j < n; j++) {
			buf_addf(out, "%s\n", objects[j].key);
			attr_write(objects[j].attrs, 1, out);
		}
	}
	for (size_t i = 0; i < sizeof(live_facts) / sizeof(live_facts[0]); i++) {
		char *text = NULL;

		rc = source_fact(source, live_facts[i], &json);
		if (rc == 0)
			text = json_dumps(json, JSON_SORT_KEYS);
		buf_addf(out, "fact %s %d %s\n", live_facts[i], rc, text ? text : "");
		free(text);
	}
}

static void ask_all(struct source *source, struct arena *arena, struct buf *out)
{
	for (int sample = 1; sample <= 2; sample++) {
		source_set_sample(source, sample);
		ask_files(source, arena, out);
		ask_others(source, arena, out);
	}
	source_set_sample(source, 1);
}

/* Says the first line that differs: the texts are too long to be shown whole. */
static void assert_same_text(const struct buf *a, const struct buf *b)
{
	const char *x = buf_str(a), *y = buf_str(b), *line_x = x, *line_y = y;

	for (; *x && *x == *y; x++, y++)
		if (*x == '\n') {
			line_x = x + 1;
			line_y = y + 1;
		}
	if (*x != *y)
		fail_msg("'%.*s' != '%.*s'", (int)strcspn(line_x, "\n"), line_x, (int)strcspn(line_y, "\n"), line_y);
}

static void a_recording_answers_as_the_machine_did(void **state)
{
	struct records *records = records_new(), *copy = records_new();
	struct source *recorder = source_recorder_new(source_live_new("/"), records), *replay;
	struct arena *arena = arena_new();
	struct buf live = BUF_INIT, again = BUF_INIT, replayed = BUF_INIT, text = BUF_INIT, twice = BUF_INIT;
	struct fault fault = { 0 };

	(void)state;
	assert_true(source_is_live(recorder));
	ask_all(recorder, arena, &live);
	ask_all(recorder, arena, &again);
	assert_same_text(&live, &again);
	records_set_header(records, "host", "here");
	records_write(records, false, &text);
	if (records_parse(copy, "recorded", text.data, text.len, NULL, NULL, &fault) < 0)
		fail_msg("%s", fault.msg);
	records_write(copy, false, &twice);
	assert_same_text(&text, &twice);
	replay = source_memory_new(copy);
	ask_all(replay, arena, &replayed);
	assert_same_text(&live, &replayed);
	assert_non_null(strstr(buf_str(&text), "\nnl rtnl link lo\n  index 1\n  type 772\n"));
	source_free(replay);
	source_free(recorder);
	buf_release(&live);
	buf_release(&again);
	buf_release(&replayed);
	buf_release(&text);
	buf_release(&twice);
	arena_free(arena);
	records_free(records);
	records_free(copy);
}

static void live_values_are_those_of_the_machine(void **state)
{
	struct source *source = source_live_new("/");
	struct arena *arena = arena_new();
	const struct nl_object *objects;
	const json_t *json;
	char hostname[128] = "";
	size_t n;

	(void)state;
	gethostname(hostname, sizeof(hostname) - 1);
	assert_string_equal(source_text(source, arena, "/proc/sys/kernel/hostname").val, hostname);
	assert_int_equal(source_nl(source, "rtnl", "link", "lo", arena, &objects, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(attr_num(objects[0].attrs, "mtu", "x").val, source_num(source, arena, "/sys/class/net/lo/mtu").val);
	assert_int_equal(source_nl(source, "rtnl", "link", "nosuch0", arena, &objects, &n), -ENODEV);
	assert_int_equal(source_nl(source, "ethtool", "linkstate", "nosuch0", arena, &objects, &n), -ENODEV);
	assert_int_equal(source_fact(source, "user", &json), 0);
	assert_int_equal(json_integer_value(json_object_get(json, "uid")), geteuid());
	assert_int_equal(source_fact(source, "verbs/", &json), -ENODATA);
	assert_int_equal(source_fact(source, "time/3", &json), -ENODATA);
	arena_free(arena);
	source_free(source);
}

static void another_root_is_another_host(void **state)
{
	char root[] = "/tmp/sparkfab-source-XXXXXX", path[64];
	struct arena *arena = arena_new();
	const struct nl_object *objects;
	const char **names, *text;
	const json_t *json;
	struct source *source;
	size_t n, len;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(root));
	for (int i = 9; i < 11; i++) {
		snprintf(path, sizeof(path), "%s/%d", root, i);
		file = fopen(path, "w");
		fprintf(file, "%d\n", i);
		fclose(file);
	}
	source = source_live_new(root);
	assert_false(source_is_live(source));
	assert_int_equal(source_num(source, arena, "/10").val, 10);
	assert_int_equal(source_list(source, "/", arena, &names, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "9");
	assert_string_equal(names[1], "10");
	assert_int_equal(source_read(source, "/", arena, &text, &len), -EISDIR);
	assert_int_equal(source_nl(source, "rtnl", "link", NULL, arena, &objects, &n), -ENODATA);
	assert_int_equal(source_fact(source, "uname", &json), -ENODATA);
	source_free(source);
	for (int i = 9; i < 11; i++) {
		snprintf(path, sizeof(path), "%s/%d", root, i);
		if (i == 10) {
			assert_int_equal(truncate(path, (1 << 20) + 1), 0);
			source = source_live_new(root);
			assert_int_equal(source_read(source, "/10", arena, &text, &len), -EFBIG);
			source_free(source);
		}
		unlink(path);
	}
	rmdir(root);
	source = source_live_new("/nosuch");
	assert_int_equal(source_read(source, "/10", arena, &text, &len), -ENOENT);
	source_free(source);
	arena_free(arena);
}

static void listed_names_come_back(void **state)
{
	struct records *host = parse(HEAD "file /d/a\n| 1\nfile /d/b/c\n| 1\nlink /d/l -> x\ndir /d/e\nend\n");
	struct records *records = records_new();
	struct source *recorder = source_recorder_new(source_memory_new(host), records), *replay;
	struct arena *arena = arena_new();
	struct buf text = BUF_INIT;
	const char **names;
	size_t n;

	(void)state;
	assert_int_equal(source_list(recorder, "/d", arena, &names, &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(source_num(recorder, arena, "/d/b/c").val, 1);
	records_write(records, false, &text);
	assert_string_equal(buf_str(&text), HEAD "dir /d/a\nfile /d/b/c\n| 1\ndir /d/e\ndir /d/l\nend\n");
	replay = source_memory_new(records);
	assert_int_equal(source_list(replay, "/d", arena, &names, &n), 0);
	assert_int_equal(n, 4);
	/* A listing of /d/a was never asked for, so it is asked now although /d/a is known to be there. */
	assert_int_equal(source_list(recorder, "/d/b", arena, &names, &n), 0);
	assert_int_equal(n, 1);
	source_free(replay);
	source_free(recorder);
	buf_release(&text);
	arena_free(arena);
	records_free(records);
	records_free(host);
}

static void own_facts_are_found_again(void **state)
{
	struct records *host = parse(HEAD "end\n"), *records = records_new();
	struct source *recorder = source_recorder_new(source_memory_new(host), records);
	json_t *fact = json_pack("{s:s}", "state", "reachable");
	const json_t *json;

	(void)state;
	source_put_fact(recorder, "probe/neigh/eth1/10.0.0.2", fact);
	json_decref(fact);
	assert_int_equal(source_fact(recorder, "probe/neigh/eth1/10.0.0.2", &json), 0);
	assert_string_equal(json_string_value(json_object_get(json, "state")), "reachable");
	source_free(recorder);
	records_free(records);
	records_free(host);
}

/* ---- modules ---- */

static const char *field(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text ? text : "";
}

static void modules_are_read(void **state)
{
	uint8_t page[256] = { 0 };
	json_t *json;

	(void)state;
	page[0] = 0x11;
	page[146] = 1;
	page[147] = 0xa0;
	memcpy(page + 148, "Amphenol        ", 16);
	memcpy(page + 168, "NJAAKK-N911     ", 16);
	memcpy(page + 196, "SN\x1b[1m1          ", 16);
	json = module_eeprom_decode(page);
	assert_string_equal(field(json, "form"), "QSFP28");
	assert_string_equal(field(json, "vendor"), "Amphenol");
	assert_string_equal(field(json, "part"), "NJAAKK-N911");
	assert_string_equal(field(json, "serial"), "SN?[1m1");
	assert_string_equal(field(json, "kind"), "passive copper");
	assert_int_equal(json_integer_value(json_object_get(json, "length_cm")), 100);
	json_decref(json);

	memset(page, 0, sizeof(page));
	page[0] = 0x18;
	page[85] = 3;
	page[202] = 0x40 | 2; /* 2 times 1 m */
	memcpy(page + 129, "NVIDIA          ", 16);
	json = module_eeprom_decode(page);
	assert_string_equal(field(json, "form"), "QSFP-DD");
	assert_string_equal(field(json, "vendor"), "NVIDIA");
	assert_int_equal(json_integer_value(json_object_get(json, "length_cm")), 200);
	page[202] = 5; /* 5 times 0.1 m */
	json_decref(json);
	json = module_eeprom_decode(page);
	assert_int_equal(json_integer_value(json_object_get(json, "length_cm")), 50);
	json_decref(json);

	memset(page, 0, sizeof(page));
	page[0] = 0x03;
	page[8] = 0x04;
	page[18] = 3;
	memcpy(page + 20, "Mellanox        ", 16);
	json = module_eeprom_decode(page);
	assert_string_equal(field(json, "form"), "SFP");
	assert_string_equal(field(json, "vendor"), "Mellanox");
	assert_int_equal(json_integer_value(json_object_get(json, "length_cm")), 300);
	json_decref(json);

	page[0] = 0xff;
	assert_null(module_eeprom_decode(page));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_answer),
		cmocka_unit_test(a_recording_answers_as_the_machine_did),
		cmocka_unit_test(live_values_are_those_of_the_machine),
		cmocka_unit_test(another_root_is_another_host),
		cmocka_unit_test(listed_names_come_back),
		cmocka_unit_test(own_facts_are_found_again),
		cmocka_unit_test(modules_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
