/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every check against its fixtures, and whole machines against all checks.
 *
 * fixtures/CHECK/NAME.snap is one host, fixtures/CHECK/NAME.a.snap, NAME.b.snap, … are the hosts of one case (a is the
 * head). NAME.want beside it holds what that check must say. fixtures/machines/ is judged by all checks: what is not PASS or
 * SKIP is listed, then the counts. BLESS=1 in the environment rewrites the .want files, CHECK=name limits the run.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/buf.h"
#include "facts/hosts.h"
#include "judge/judge.h"
#include "results/results.h"

#include <cmocka.h> /* last: its macros fail() and skip() have the names of check.h's functions */

#define FIXTURES TEST_TOP "/fixtures"
#define CASE_HOSTS_MAX 26

struct tally {
	size_t cases, differ;
	bool bless;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted names in `dir`; the caller frees the arena. */
static const char **dir_names(struct arena *arena, const char *dir, size_t *ret_n)
{
	const char **names = NULL;
	DIR *handle = opendir(dir);
	struct dirent *entry;

	*ret_n = 0;
	while (handle && (entry = readdir(handle)))
		if (entry->d_name[0] != '.')
			*arena_push(arena, &names, ret_n) = arena_strdup(arena, entry->d_name);
	if (handle)
		closedir(handle);
	if (*ret_n)
		qsort(names, *ret_n, sizeof(*names), by_name);
	return names;
}

static void read_file(const char *path, struct buf *out)
{
	cleanup_file FILE *file = fopen(path, "re");
	char chunk[4096];
	size_t n;

	while (file && (n = fread(chunk, 1, sizeof(chunk), file)) > 0)
		buf_add(out, chunk, n);
}

static void write_file(const char *path, const struct buf *content)
{
	cleanup_file FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(buf_str(content), 1, content->len, file), content->len);
}

static void write_finding(const struct finding *f, struct buf *out)
{
	buf_addf(out, "%s %s ", verdict_name(f->verdict), f->check);
	for (size_t i = 0; i < f->n_hosts; i++)
		buf_addf(out, "%s%s", i ? "," : "", f->hosts[i]);
	buf_addf(out, "%s%s :: %s\n", f->n_hosts ? " " : "- ", *f->subject ? f->subject : "-", f->message);
	for (size_t i = 0; i < f->n_remedies; i++) {
		const struct remedy *remedy = &f->remedies[i];

		buf_addf(out, "    %s %s: %s%s%s\n", remedy->is_persistent ? "later" : "now", remedy->host,
			 remedy->command ? remedy->command : remedy->advice, remedy->disturbs ? "  # " : "",
			 remedy->disturbs ? remedy->disturbs : "");
	}
}

static void write_counts(const struct results *results, struct buf *out)
{
	buf_addf(out, "profile %s, verdict %s:", results->profile, verdict_name(results->verdict));
	for (int v = VERDICT_FAIL; v >= VERDICT_PASS; v--)
		buf_addf(out, " %zu %s", results->counts[v], verdict_name((enum verdict)v));
	buf_adds(out, "\n");
}

/* What the wanted text should be: `id` NULL for all checks. */
static void judge_case(struct hosts *hosts, const char *id, struct buf *out)
{
	const char *only[] = { id, NULL };
	const struct fabric *fabric = hosts_fabric(hosts, NULL);
	struct profile *profile = profile_detect(fabric);
	struct results *results = results_new();
	struct judge_options options = { .level = LEVEL_FULL, .only = id ? only : NULL };

	judge_fabric(results, fabric, profile, &options);
	for (size_t i = 0; i < results->n_findings; i++) {
		const struct finding *f = &results->findings[i];

		if (id ? !strcmp(f->check, id) : f->verdict != VERDICT_PASS && f->verdict != VERDICT_SKIP)
			write_finding(f, out);
	}
	if (!id)
		write_counts(results, out);
	results_free(results);
	profile_free(profile);
}

static bool compare_want(struct tally *tally, const char *want_path, const struct buf *got)
{
	cleanup_buf struct buf want = BUF_INIT;

	tally->cases++;
	read_file(want_path, &want);
	if (!strcmp(buf_str(&want), buf_str(got)) && got->len > 0)
		return true;
	if (tally->bless && got->len > 0) {
		write_file(want_path, got);
		printf("blessed %s\n", want_path + strlen(FIXTURES) + 1);
		return true;
	}
	tally->differ++;
	printf("differs: %s\n--- wanted\n%s--- got\n%s---\n", want_path + strlen(FIXTURES) + 1, buf_str(&want),
	       buf_str(got));
	return false;
}

/* NAME.snap alone, or NAME.a.snap with NAME.b.snap, … behind it. */
static void run_case(struct tally *tally, const char *folder, const char *file, const char *id)
{
	struct hosts *hosts = hosts_new();
	cleanup_buf struct buf got = BUF_INIT;
	size_t stem = strlen(file) - strlen(".snap");
	bool many = stem > 2 && !strcmp(file + stem - 2, ".a.snap");
	struct fault fault = { 0 };
	char path[512];

	if (many)
		stem -= 2;
	for (int i = 0; i < (many ? CASE_HOSTS_MAX : 1); i++) {
		snprintf(path, sizeof(path), "%s/%s/%.*s%s", FIXTURES, folder, (int)stem, file,
			 many ? (char[]){ '.', (char)('a' + i), '.', 's', 'n', 'a', 'p', 0 } : ".snap");
		if (i > 0 && access(path, F_OK))
			break;
		if (hosts_add_file(hosts, path, &fault))
			fail_msg("%s", fault.msg);
	}
	judge_case(hosts, id, &got);
	snprintf(path, sizeof(path), "%s/%s/%.*s.want", FIXTURES, folder, (int)stem, file);
	compare_want(tally, path, &got);
	hosts_free(hosts);
}

static bool is_case_file(const char *file)
{
	size_t len = strlen(file);

	if (len < 6 || strcmp(file + len - 5, ".snap"))
		return false;
	/* .b.snap and later are the further hosts of the .a.snap before them */
	return !(len > 7 && file[len - 7] == '.' && file[len - 6] >= 'b' && file[len - 6] <= 'z');
}

/* Runs the cases of one folder; returns how many of them are good… and bad… by their names. */
static void run_folder(struct tally *tally, const char *folder, const char *id, size_t *ret_good, size_t *ret_bad)
{
	struct arena *arena = arena_new();
	size_t n;
	const char **files = dir_names(arena, arena_printf(arena, "%s/%s", FIXTURES, folder), &n);

	for (size_t i = 0; i < n; i++) {
		if (!is_case_file(files[i]))
			continue;
		*ret_good += !strncmp(files[i], "good", 4);
		*ret_bad += !strncmp(files[i], "bad", 3);
		run_case(tally, folder, files[i], id);
	}
	arena_free(arena);
}

/* The folder of a check is its file's name: "mtu.parity" → mtu_parity. */
static const char *check_folder(struct arena *arena, const char *id)
{
	char *folder = arena_strdup(arena, id);

	for (char *c = folder; *c; c++)
		if (*c == '.')
			*c = '_';
	return folder;
}

static void every_check_says_what_its_fixtures_want(void **state)
{
	struct arena *arena = arena_new();
	struct tally tally = { .bless = getenv("BLESS") != NULL };
	const char *only = getenv("CHECK");

	(void)state;
	for (const struct check *const *check = check_registry; *check; check++) {
		const char *folder = check_folder(arena, (*check)->id);
		size_t good = 0, bad = 0;

		if (only && strcmp(only, folder) && strcmp(only, (*check)->id))
			continue;
		run_folder(&tally, folder, (*check)->id, &good, &bad);
		if (good == 0 || bad == 0) {
			printf("fixtures/%s: needs at least one good*.snap and one bad*.snap\n", folder);
			tally.differ++;
		}
	}
	printf("%zu fixture cases, %zu differ\n", tally.cases, tally.differ);
	arena_free(arena);
	assert_int_equal(tally.differ, 0);
}

static void whole_machines_are_as_healthy_as_their_owners_say(void **state)
{
	struct tally tally = { .bless = getenv("BLESS") != NULL };
	size_t good = 0, bad = 0;

	(void)state;
	if (getenv("CHECK"))
		skip();
	run_folder(&tally, "machines", NULL, &good, &bad);
	printf("%zu machine cases, %zu differ\n", tally.cases, tally.differ);
	assert_int_equal(tally.differ, 0);
	assert_true(good > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_check_says_what_its_fixtures_want),
		cmocka_unit_test(whole_machines_are_as_healthy_as_their_owners_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
