// SPDX-License-Identifier: Apache-2.0
/* INI files: entries, and the line in every complaint. */
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
#include "core/ini.h"

/* Writes what it is handed as "LINE [SECTION] KEY=VALUE;"; refuses the key "bad" with a message and "mute" without. */
static int take(void *ctx, const char *section, const char *key, const char *value, int line, struct fault *reterr)
{
	if (!strcmp(key, "bad"))
		return fault_set(reterr, ERANGE, "\"%s\" is not good", value);
	if (!strcmp(key, "mute"))
		return -EINVAL;
	buf_addf(ctx, "%d [%s] %s=%s;", line, section, key, value);
	return 0;
}

static void assert_read(const char *text, const char *want)
{
	cleanup_buf struct buf got = BUF_INIT;
	struct fault fault = { 0 };
	int r = ini_read_text("t.ini", text, take, &got, &fault);

	assert_string_equal(fault.msg, "");
	assert_int_equal(r, 0);
	assert_string_equal(buf_str(&got), want);
}

static void assert_refused(const char *text, const char *want_taken, const char *want_msg)
{
	cleanup_buf struct buf got = BUF_INIT;
	struct fault fault = { 0 };

	assert_int_equal(ini_read_text("t.ini", text, take, &got, &fault), -EINVAL);
	assert_string_equal(fault.msg, want_msg);
	assert_int_equal(fault.err, EINVAL);
	assert_string_equal(buf_str(&got), want_taken);
	assert_int_equal(ini_read_text("t.ini", text, take, &got, NULL), -EINVAL);
}

static void test_entries_with_their_lines(void **state)
{
	(void)state;
	assert_read("", "");
	assert_read("\n\n# only comments\n; of both kinds\n", "");
	assert_read("top = 1\n[a]\n\nx = one two \n# c\ny=2\n[b b]\nz : 3",
		    "1 [] top=1;4 [a] x=one two;6 [a] y=2;8 [b b] z=3;");
	assert_read("[a]\r\nx = 1\r\n", "2 [a] x=1;");
	assert_read("\xef\xbb\xbf[a]\nx=1\n", "2 [a] x=1;");
	assert_read("[a]\nx =\ny = \n", "2 [a] x=;3 [a] y=;");
	assert_read("[a]\nx = 1 ; why\ny = https://h/;q#f\n", "2 [a] x=1;3 [a] y=https://h/;q#f;");
	assert_read("[a]\nx = a = b\n", "2 [a] x=a = b;");
}

static void test_indented_lines_go_on(void **state)
{
	(void)state;
	assert_read("[a]\nx = one\n  two\n\tthree\ny = 1\n", "2 [a] x=one two three;5 [a] y=1;");
	assert_read("[a]\nx =\n  two\n", "2 [a] x=two;");
	assert_read("[a]\nx = one\n  # a comment\n\n  k = v\n[b]\ny = 1\n", "2 [a] x=one k = v;7 [b] y=1;");
	/* Before any key there is nothing to go on with. */
	assert_read("[a]\n  x = 1\n", "2 [a] x=1;");
	/* The same key twice is two entries: whether that is allowed is the reader's matter. */
	assert_read("[a]\nx = 1\nx = 2\n", "2 [a] x=1;3 [a] x=2;");
	assert_read("[a]\nx = one ; c\n  two ; d\n", "2 [a] x=one two;");
}

static void test_syntax_errors_name_the_line_and_nothing_is_taken(void **state)
{
	(void)state;
	assert_refused("[a]\nx = 1\n\nwhat is this\ny = 2\n", "", "t.ini:4: neither a [section] nor key = value");
	assert_refused("x = 1\n[a\ny = 2\n", "", "t.ini:2: neither a [section] nor key = value");
	assert_refused("# c\n\n = 1\n", "", "t.ini:3: a key is missing before the value");
	assert_refused("[abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz]\n# c\nx = 1\n", "",
		       "t.ini:3: the section's name is longer than 48 bytes");
}

static void test_entries_that_are_refused(void **state)
{
	(void)state;
	assert_refused("[a]\nx = 1\nbad = 7\ny = 2\n", "2 [a] x=1;", "t.ini:3: \"7\" is not good");
	/* The last one is handed over after the end of the text, with its own line all the same. */
	assert_refused("[a]\n\nbad = 7\n\n\n# end\n", "", "t.ini:3: \"7\" is not good");
	assert_refused("[a]\nmute = 1\n", "", "t.ini:2: \"mute\" cannot be used here");
	assert_refused("bad = 1\nbad = 2\n", "", "t.ini:1: \"1\" is not good");
}

/* libinih would cut these without a word and take the rest for a line of its own. */
static void test_long_lines(void **state)
{
	cleanup_buf struct buf text = BUF_INIT, want = BUF_INIT;

	(void)state;
	buf_addf(&text, "# %0*d\nx = %0*d\ny = 1\n", 500, 0, 194, 0);
	buf_addf(&want, "2 [] x=%0*d;3 [] y=1;", 194, 0);
	assert_read(buf_str(&text), buf_str(&want));
	buf_clear(&text);
	buf_addf(&text, "y = 1\nx = %0*d\n", 195, 0);
	assert_refused(buf_str(&text), "",
		       "t.ini:2: the line is longer than 198 bytes: go on in the next one, indented");
}

static char *temporary(const char *content, size_t len)
{
	char *path = xstrdup("/tmp/sparkfab-ini-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, len), len);
	close(fd);
	return path;
}

static void test_files(void **state)
{
	cleanup_free char *good = temporary("[a]\nx = 1\n", 10);
	cleanup_free char *binary = temporary("[a]\nx = 1\n\0y = 2\n", 17);
	cleanup_buf struct buf got = BUF_INIT, want = BUF_INIT;
	struct fault fault = { 0 };

	(void)state;
	assert_int_equal(ini_read_file(good, take, &got, &fault), 0);
	assert_string_equal(buf_str(&got), "2 [a] x=1;");
	assert_int_equal(ini_read_file(binary, take, &got, &fault), -EINVAL);
	buf_addf(&want, "%s:3: a NUL byte, this is no text", binary);
	assert_string_equal(fault.msg, buf_str(&want));
	unlink(good);
	unlink(binary);
	assert_int_equal(ini_read_file("/nonexistent/x.conf", take, &got, &fault), -ENOENT);
	assert_string_equal(fault.msg, "/nonexistent/x.conf: No such file or directory");
	assert_int_equal(ini_read_file("/", take, &got, &fault), -EISDIR);
	assert_int_equal(ini_read_file("/dev/zero", take, &got, &fault), -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries_with_their_lines),
		cmocka_unit_test(test_indented_lines_go_on),
		cmocka_unit_test(test_syntax_errors_name_the_line_and_nothing_is_taken),
		cmocka_unit_test(test_entries_that_are_refused),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
