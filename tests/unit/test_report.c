// SPDX-License-Identifier: Apache-2.0
/*
 * The reports. Golden files under tests/unit/golden; BLESS=1 rewrites them for review in the diff. With arguments it prints a
 * sample to look at: test_report healthy|broken COLUMNS [color] [ascii] [verbose] [json].
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text.h"
#include "report/report.h"
#include "report/terminal.h"
#include "results_sample.h"
#include "schema_check.h"

static void read_file(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "r");
	char chunk[4096];
	size_t len;

	if (!file)
		return;
	while ((len = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_add(out, chunk, len);
	fclose(file);
}

static void golden(const char *name, const struct buf *got)
{
	cleanup_buf struct buf want = BUF_INIT;
	char path[512];

	snprintf(path, sizeof(path), "%s/tests/unit/golden/%s", TEST_TOP, name);
	if (getenv("BLESS")) {
		FILE *file = fopen(path, "w");

		assert_non_null(file);
		assert_int_equal(fwrite(got->data, 1, got->len, file), got->len);
		assert_int_equal(fclose(file), 0);
		return;
	}
	read_file(path, &want);
	assert_string_equal(buf_str(got), buf_str(&want));
}

/* Widest line on the screen, escape sequences not counted; and no control character but newline and our SGR codes. */
static size_t widest_line(const char *text)
{
	cleanup_buf struct buf line = BUF_INIT;
	size_t widest = 0;

	for (; *text; text++) {
		if (*text == '\033') {
			assert_int_equal(text[1], '[');
			text += 2 + strspn(text + 2, "0123456789;");
			assert_int_equal(*text, 'm');
			continue;
		}
		if (*text != '\n') {
			assert_true((unsigned char)*text >= 0x20 && *text != 0x7f);
			buf_addc(&line, *text);
			continue;
		}
		if (text_columns(buf_str(&line)) > widest)
			widest = text_columns(buf_str(&line));
		buf_clear(&line);
	}
	assert_int_equal(line.len, 0); /* ends with a newline */
	return widest;
}

static const struct {
	const char *name;
	struct report_style style;
} golden_styles[] = {
	{ "80", { .columns = 80, .unicode = true } },
	{ "80-color", { .columns = 80, .unicode = true, .color = true } },
	{ "50", { .columns = 50, .unicode = true } },
	{ "50-color", { .columns = 50, .unicode = true, .color = true } },
	{ "80-ascii", { .columns = 80 } },
	{ "132", { .columns = 132, .unicode = true } },
	{ "80-verbose", { .columns = 80, .unicode = true, .verbose = true } },
};

static void each_golden(const char *what, struct results *results)
{
	for (size_t i = 0; i < sizeof(golden_styles) / sizeof(golden_styles[0]); i++) {
		cleanup_buf struct buf out = BUF_INIT;
		char name[128];

		report_terminal(results, &golden_styles[i].style, &out);
		assert_in_range(widest_line(buf_str(&out)), 20, golden_styles[i].style.columns);
		snprintf(name, sizeof(name), "%s-%s.txt", what, golden_styles[i].name);
		golden(name, &out);
	}
	results_free(results);
}

static void test_golden_healthy(void **state)
{
	(void)state;
	each_golden("healthy", sample_healthy());
}

static void test_golden_broken(void **state)
{
	(void)state;
	each_golden("broken", sample_broken());
}

/* Colour never carries meaning: without the codes both are the same text. */
static void test_color_adds_nothing(void **state)
{
	struct results *results = sample_broken();
	cleanup_buf struct buf plain = BUF_INIT, color = BUF_INIT, stripped = BUF_INIT;

	(void)state;
	report_terminal(results, &(struct report_style){ .columns = 72, .unicode = true }, &plain);
	report_terminal(results, &(struct report_style){ .columns = 72, .unicode = true, .color = true }, &color);
	assert_true(color.len > plain.len);
	for (const char *pos = buf_str(&color); *pos; pos++) {
		if (*pos == '\033')
			pos += strcspn(pos, "m");
		else
			buf_addc(&stripped, *pos);
	}
	assert_string_equal(buf_str(&stripped), buf_str(&plain));
	results_free(results);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void test_healthy_is_short(void **state)
{
	static const size_t widths[] = { 80, 132 };
	struct results *results = sample_healthy();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		cleanup_buf struct buf out = BUF_INIT;

		report_terminal(results, &(struct report_style){ .columns = widths[i], .unicode = true }, &out);
		assert_in_range(count_lines(buf_str(&out)), 8, 20);
		assert_memory_equal(buf_str(&out), "PASS  ", 6);
	}
	results_free(results);
}

/* Long, wide, combining, broken and malicious text in every place that takes foreign text. */
static const char *const nasty[] = {
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"日本語のホスト名はとても長いので端末の幅を超えてしまうことがある日本語のホスト名はとても長い 端末",
	"e\xcc\x81\xcc\x81\xcc\x81 o\xcc\x88\xcc\x88 combining e\xcc\x81 marks that go on and on and on until the line is full",
	"\033[31mred\033[0m\r\n\tbell\a \x9b\xff\xc3(\xe2\x80\xae reversed",
	"",
	"%s%n %d\\",
};

static struct results *nasty_results(const char *text)
{
	struct results *results = sample_new();
	struct finding *f;

	results->profile = text;
	results->profile_why = text;
	results->hosts[1].name = text;
	for (size_t i = 0; i < 2; i++) {
		struct rail_picture *rail = arena_push(results->arena, &results->rails, &results->n_rails);

		rail->name = text;
		rail->note = text;
		rail->is_broken = i;
		for (size_t e = 0; e < 2 + i; e++)
			*arena_push(results->arena, &rail->ends, &rail->n_ends) = (struct rail_picture_end){
				.host = e ? text : "head", .port = text, .netdev = text, .addr = text, .rate = text,
				.mtu = e ? "1500" : text, .active = true,
			};
	}
	for (int v = VERDICT_PASS; v <= VERDICT_FAIL; v++) {
		f = finding_add(results, "mtu.parity", (enum verdict)v, text, "%s", text);
		finding_host(results, f, text);
		finding_text(results, f, text, text, text_of(text, text));
		finding_num(results, f, text, text, num_err(EINVAL, text), text);
		finding_expect(results, f, text, "%s", text);
		finding_remedy(results, f, (struct remedy){ .host = text, .command = text, .disturbs = text });
		finding_remedy(results, f, (struct remedy){ .host = text, .advice = text, .is_persistent = true });
	}
	*arena_push(results->arena, &results->not_run, &results->n_not_run) = "perf.tcp";
	results_finish(results, NULL, NULL);
	return results;
}

static void test_never_wider(void **state)
{
	static const size_t widths[] = { 0, 40, 41, 47, 60, 80, 132, 1000 };

	(void)state;
	for (size_t t = 0; t < sizeof(nasty) / sizeof(nasty[0]); t++) {
		struct results *results = nasty_results(nasty[t]);

		for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
			for (unsigned int flags = 0; flags < 8; flags++) {
				struct report_style style = { .columns = widths[w], .color = flags & 1, .unicode = flags & 2,
							      .verbose = flags & 4 };
				cleanup_buf struct buf out = BUF_INIT;

				report_terminal(results, &style, &out);
				assert_in_range(widest_line(buf_str(&out)), 1, widths[w] < 40 ? 40 : widths[w]);
				if (!style.color)
					assert_null(strchr(buf_str(&out), '\033'));
				for (size_t i = 0; !style.unicode && i < out.len; i++)
					assert_true((unsigned char)out.data[i] < 0x80);
			}
		results_free(results);
	}
}

/* What the shell makes of a command, as one line a word. */
static void shell_words(const char *command, struct buf *out)
{
	char path[] = "/tmp/test_report.XXXXXX", run[64];
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w"), *pipe;
	int c;

	assert_non_null(file);
	fprintf(file, "show() { printf '<%%s>\\n' \"$@\"; }\nA=1\nshow %s\n", command);
	fclose(file);
	snprintf(run, sizeof(run), "sh %s 2>&1", path);
	pipe = popen(run, "r"); /* a test of what shells do needs one */
	assert_non_null(pipe);
	while ((c = getc(pipe)) != EOF)
		buf_addc(out, (char)c);
	assert_int_equal(pclose(pipe), 0);
	unlink(path);
}

static void test_commands_paste(void **state)
{
	static const char *const commands[] = {
		"ip link set dev enp1s0f0np0 mtu 9000 && echo a very long line that has to be broken somewhere in its middle",
		"nmcli connection modify 'a name with blanks that is longer than any line of forty columns could ever be' mtu 9000",
		"printf '[Link]\\nMTUBytes=9000\\n' aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"x'it'\\''s quoted, and goes on with that for longer than a line'\\'' can be' \"double $A \\\" quotes that go on and on and on\"",
		"escaped\\ blanks\\ are\\ no\\ place\\ to\\ break\\ a\\ line\\ that\\ is\\ long\\ \\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\ end",
		"'日本語のホスト名はとても長いので端末の幅を超えてしまうことがある' 日本語のホスト名はとても長いので端末の幅を超えてしまう",
		"a  two  blanks   'and  inside   quotes    they     stay      as       they        are         exactly'",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		cleanup_buf struct buf want = BUF_INIT;

		shell_words(commands[i], &want);
		assert_true(want.len > 10);
		for (size_t columns = 40; columns < 90; columns++) {
			struct report_style style = { .columns = columns, .unicode = true };
			cleanup_buf struct buf out = BUF_INIT;
			cleanup_buf struct buf got = BUF_INIT;
			struct pen pen = { .style = &style, .out = &out, .arena = arena_new(), .columns = columns };

			pen_command(&pen, 4, commands[i]);
			arena_free(pen.arena);
			assert_in_range(widest_line(buf_str(&out)), 1, columns);
			if (columns % 7 == 0 || columns < 44) /* a shell for each is slow */
				shell_words(buf_str(&out), &got);
			if (got.len)
				assert_string_equal(buf_str(&got), buf_str(&want));
		}
	}
}

static void test_folding(void **state)
{
	struct results *results = sample_new();
	struct report_style style = { .columns = 80 };
	cleanup_buf struct buf out = BUF_INIT;
	const char *text;

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct finding *f;
		char port[32], command[64];

		snprintf(port, sizeof(port), "mlx5_%d/1", i);
		snprintf(command, sizeof(command), "ip link set dev eth%d up", i);
		f = finding_add(results, "link.state", VERDICT_FAIL, port, "mlx5_%d is DOWN", i);
		finding_host(results, f, i < 4 ? "head" : "worker");
		finding_remedy(results, f, (struct remedy){ .host = i < 4 ? "head" : "worker", .command = command });
		finding_remedy(results, f, (struct remedy){ .host = i < 4 ? "head" : "worker", .advice = "plug it in" });
	}
	finding_host(results, finding_add(results, "link.state", VERDICT_FAIL, "mlx5_8/1", "mlx5_8 waits for a subnet manager"),
		     "head");
	results_finish(results, NULL, NULL);
	report_terminal(results, &style, &out);
	text = buf_str(&out);
	assert_non_null(strstr(text, "and 7 more ports: mlx5_1/1 on head, mlx5_2/1 on head,"));
	assert_null(strstr(text, "mlx5_3 is DOWN"));
	assert_non_null(strstr(text, "mlx5_8 waits for a subnet manager")); /* another cause is not folded away */
	for (int i = 0; i < 8; i++) {
		char command[64];

		snprintf(command, sizeof(command), "    ip link set dev eth%d up\n", i);
		assert_non_null(strstr(text, command)); /* each command is needed */
	}
	assert_non_null(strstr(text, "on head and worker: plug it in\n"));
	buf_clear(&out);
	style.verbose = true;
	report_terminal(results, &style, &out);
	assert_non_null(strstr(buf_str(&out), "mlx5_3 is DOWN"));
	results_free(results);
}

static void test_many_hosts(void **state)
{
	struct results *results = results_new();
	struct report_style style = { .columns = 100, .unicode = true };
	cleanup_buf struct buf out = BUF_INIT;
	struct rail_picture *rail = arena_push(results->arena, &results->rails, &results->n_rails);

	(void)state;
	rail->name = "rail 0";
	for (int i = 0; i < 64; i++) {
		const char *name = arena_printf(results->arena, "node%02d", i);

		*arena_push(results->arena, &results->hosts, &results->n_hosts) =
			(struct results_host){ .name = name, .role = i ? "worker" : "head", .answered = i != 5 };
		*arena_push(results->arena, &rail->ends, &rail->n_ends) = (struct rail_picture_end){
			.host = name, .port = "mlx5_0/1", .netdev = "eth2", .addr = "10.0.0.1", .rate = "400G",
			.mtu = i == 9 ? "1500/1024" : "9000/4096", .active = true,
		};
	}
	finding_add(results, "link.fabric", VERDICT_PASS, "", "fine");
	results_finish(results, NULL, NULL);
	report_terminal(results, &style, &out);
	assert_non_null(strstr(buf_str(&out), "node00 ↔ 63 hosts (1 did not answer)"));
	assert_non_null(strstr(buf_str(&out), "node00, node01 and 61 more  mlx5_0/1  eth2              400G  9000/4096\n"));
	assert_non_null(strstr(buf_str(&out), "? unproven  node09                      mlx5_0/1  eth2    10.0.0.1  400G  1500/1024 ≠\n"));
	assert_in_range(count_lines(buf_str(&out)), 6, 14);
	results_free(results);
}

static void test_eight_rails_stay_short(void **state)
{
	static const char *const mtus[] = { "9000/4096", "9000/4096" };
	struct results *results = sample_new();
	cleanup_buf struct buf out = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		sample_rail(results, 0, mtus);
	sample_common(results);
	results_finish(results, NULL, NULL);
	report_terminal(results, &(struct report_style){ .columns = 80, .unicode = true }, &out);
	assert_non_null(strstr(buf_str(&out), "rail 0  ✓ proven  rocep1s0f0/1  ──── 200G, MTU 9000/4096 ────  rocep1s0f0/1\n"));
	assert_in_range(count_lines(buf_str(&out)), 12, 20);
	results_free(results);
}

static void test_no_rail(void **state)
{
	struct results *results = sample_new();
	cleanup_buf struct buf out = BUF_INIT;

	(void)state;
	results->hosts[1].answered = false;
	results_finish(results, sample_require, NULL);
	report_terminal(results, &(struct report_style){ .columns = 80 }, &out);
	assert_non_null(strstr(buf_str(&out), "UNKNOWN  3 required checks could not be decided: link.fabric, mtu.parity and"));
	assert_non_null(strstr(buf_str(&out), "head <-> worker (no answer)"));
	assert_non_null(strstr(buf_str(&out), "No rail"));
	assert_non_null(strstr(buf_str(&out), "Exit 3: not decided"));
	results_free(results);
}

static json_t *load_schema(void)
{
	json_error_t error;
	json_t *schema = json_load_file(TEST_TOP "/docs/results.schema.json", JSON_REJECT_DUPLICATES, &error);

	if (!schema)
		fail_msg("docs/results.schema.json:%d: %s", error.line, error.text);
	return schema;
}

static json_t *json_of(struct results *results)
{
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_buf struct buf again = BUF_INIT;
	struct schema_check check;
	json_t *schema = load_schema(), *root;
	json_error_t error;

	report_json(results, &out);
	report_json(results, &again);
	assert_false(out.truncated);
	assert_string_equal(buf_str(&out), buf_str(&again));
	assert_int_equal(out.data[out.len - 1], '\n');
	for (size_t i = 0; i < out.len; i++)
		assert_true(out.data[i] == '\n' || ((unsigned char)out.data[i] >= 0x20 && (unsigned char)out.data[i] < 0x80));
	root = json_loads(buf_str(&out), JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("%d: %s", error.line, error.text);
	if (schema_check(&check, schema, root))
		fail_msg("%s", check.reason);
	json_decref(schema);
	return root;
}

static const char *string_at(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void test_json_broken(void **state)
{
	struct results *results = sample_broken();
	json_t *root = json_of(results), *finding, *part;

	(void)state;
	assert_string_equal(string_at(root, "format"), "sparkfab.results/1");
	assert_string_equal(string_at(root, "started"), "2026-09-21T14:13:20.123Z");
	assert_string_equal(string_at(root, "verdict"), "fail");
	assert_string_equal(string_at(root, "verdict_why"), "mtu.parity failed on worker and head");
	assert_true(json_real_value(json_object_get(root, "duration_s")) == 3.210);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "counts"), "fail")), 2);
	assert_string_equal(json_string_value(json_array_get(json_object_get(root, "not_run"), 0)), "perf.verbs_bw");
	finding = json_array_get(json_object_get(root, "findings"), 0);
	assert_string_equal(string_at(finding, "check"), "mtu.parity");
	assert_true(json_is_true(json_object_get(finding, "required")));
	part = json_array_get(json_object_get(finding, "evidence"), 1);
	assert_int_equal(json_integer_value(json_object_get(part, "value")), 1500);
	assert_null(json_object_get(part, "error"));
	part = json_object_get(finding, "remedy");
	assert_string_equal(json_string_value(json_array_get(part, 0)),
			    "worker: ip link set dev enp1s0f0np0 mtu 9000  # now; RDMA connections over it are renegotiated");
	assert_string_equal(json_string_value(json_array_get(part, 1)),
			    "worker: netplan set ethernets.enp1s0f0np0.mtu=9000 && netplan apply  # survives a reboot; "
			    "applies whatever else changed under /etc/netplan, may bounce links");
	finding = json_array_get(json_object_get(root, "findings"), 2);
	part = json_array_get(json_object_get(finding, "evidence"), 0);
	assert_true(json_is_null(json_object_get(part, "value")));
	assert_string_equal(string_at(part, "error"), "EIO");
	json_decref(root);
	results_free(results);
}

/* Kernel and drivers count in units of their own; the format has base units only. */
static void test_json_base_units(void **state)
{
	struct results *results = results_new();
	struct finding *finding = finding_add(results, "link.rate", VERDICT_PASS, "rocep1s0f0/1", "fine");
	json_t *root, *evidence;

	(void)state;
	finding_num(results, finding, "head", "rate", num_of(200000, "here"), "Mbit/s");
	finding_num(results, finding, "head", "cable length", num_of(50, "here"), "cm");
	finding_num(results, finding, "head", "MTU", num_of(9000, "here"), "bytes");
	results_finish(results, NULL, NULL);
	root = json_of(results);
	evidence = json_object_get(json_array_get(json_object_get(root, "findings"), 0), "evidence");
	assert_true(json_integer_value(json_object_get(json_array_get(evidence, 0), "value")) == 200000000000);
	assert_string_equal(string_at(json_array_get(evidence, 0), "unit"), "bits/s");
	assert_true(json_real_value(json_object_get(json_array_get(evidence, 1), "value")) == 0.5);
	assert_string_equal(string_at(json_array_get(evidence, 1), "unit"), "m");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(evidence, 2), "value")), 9000);
	assert_string_equal(string_at(json_array_get(evidence, 2), "unit"), "bytes");
	json_decref(root);
	results_free(results);
}

static void test_json_nasty(void **state)
{
	(void)state;
	for (size_t t = 0; t < sizeof(nasty) / sizeof(nasty[0]); t++) {
		struct results *results = nasty_results(nasty[t]);
		json_t *root = json_of(results);

		if (t == 1)
			assert_string_equal(string_at(json_object_get(root, "profile"), "name"), nasty[t]);
		if (t == 3)
			assert_non_null(strstr(string_at(json_object_get(root, "profile"), "name"), "\\x9b\\xff\\xc3("));
		json_decref(root);
		results_free(results);
	}
}

static void test_json_empty(void **state)
{
	struct results *results = results_new();

	(void)state;
	results_finish(results, NULL, NULL);
	json_decref(json_of(results));
	results_free(results);
}

static void test_json_full(void **state)
{
	struct results *results = sample_healthy();
	cleanup_buf struct buf out = BUF_INIT_MAX(100);

	(void)state;
	report_json(results, &out);
	assert_true(out.truncated);
	results_free(results);
}

/* The schema is strict: what it does not name, it refuses. */
static void test_schema_refuses(void **state)
{
	static const char *const changes[] = {
		"{\"verdict\": \"FAIL\"}", "{\"extra\": 1}", "{\"started\": \"2026-09-21 14:13:20\"}", "{\"duration_s\": -1}",
		"{\"format\": \"sparkfab.results/2\"}", "{\"counts\": {\"pass\": 1}}", "{\"not_run\": [\"Mtu\"]}",
		"{\"findings\": [{}]}", "{\"rails\": [{\"name\": \"r\", \"proven\": true, \"broken\": false, \"note\": null, \"ends\": []}]}",
		"{\"measurements\": [{\"name\": \"x\", \"from\": {\"host\": null, \"port\": null}, \"to\": {\"host\": null, \"port\": null}, "
		"\"value\": null, \"unit\": null, \"origin\": null}]}",
		"{\"measurements\": [{\"name\": \"x\", \"from\": {\"host\": null, \"port\": null}, \"to\": {\"host\": null, \"port\": null}, "
		"\"value\": 1, \"error\": \"EIO\", \"unit\": null, \"origin\": null}]}",
	};
	struct results *results = sample_healthy();
	json_t *root = json_of(results), *schema = load_schema();

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		json_t *changed = json_deep_copy(root), *change = json_loads(changes[i], 0, NULL);
		struct schema_check check;

		assert_non_null(change);
		json_object_update(changed, change);
		if (!schema_check(&check, schema, changed))
			fail_msg("accepted: %s", changes[i]);
		json_decref(change);
		json_decref(changed);
	}
	json_decref(schema);
	json_decref(root);
	results_free(results);
}

static int print_sample(int argc, char **argv)
{
	struct results *results = strcmp(argv[1], "healthy") == 0 ? sample_healthy() : sample_broken();
	struct report_style style = { .columns = argc > 2 ? strtoul(argv[2], NULL, 10) : 80, .unicode = true };
	cleanup_buf struct buf out = BUF_INIT;
	bool json = false;

	for (int i = 3; i < argc; i++) {
		style.color |= strcmp(argv[i], "color") == 0;
		style.unicode &= strcmp(argv[i], "ascii") != 0;
		style.verbose |= strcmp(argv[i], "verbose") == 0;
		json |= strcmp(argv[i], "json") == 0;
	}
	if (json)
		report_json(results, &out);
	else
		report_terminal(results, &style, &out);
	fwrite(buf_str(&out), 1, out.len, stdout);
	results_free(results);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_healthy), cmocka_unit_test(test_golden_broken),
		cmocka_unit_test(test_color_adds_nothing), cmocka_unit_test(test_healthy_is_short), cmocka_unit_test(test_never_wider),
		cmocka_unit_test(test_commands_paste), cmocka_unit_test(test_folding),
		cmocka_unit_test(test_many_hosts), cmocka_unit_test(test_eight_rails_stay_short), cmocka_unit_test(test_no_rail),
		cmocka_unit_test(test_json_broken), cmocka_unit_test(test_json_nasty),
		cmocka_unit_test(test_json_base_units),
		cmocka_unit_test(test_json_empty), cmocka_unit_test(test_json_full),
		cmocka_unit_test(test_schema_refuses),
	};

	if (argc > 1)
		return print_sample(argc, argv);
	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
