// SPDX-License-Identifier: Apache-2.0
/* Foreign text for terminals, shells and matching. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <locale.h>
#include <stdbool.h>
#include <string.h>
#include <wchar.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/text.h"
#include "core/text_width.h"

static struct arena *arena;

static int make_arena(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int free_arena(void **state)
{
	(void)state;
	arena = arena_free(arena);
	return 0;
}

static const struct {
	const char *in, *out;
} visible[] = {
	{ "", "" },
	{ "plain ASCII ~", "plain ASCII ~" },
	{ "Grüße, 日本 ✓ 🙂", "Grüße, 日本 ✓ 🙂" },
	{ "e\xcc\x81", "e\xcc\x81" }, /* a combining accent is seen */
	{ "\x1b[31mred\x07\n\t\r", "\\x1b[31mred\\x07\\x0a\\x09\\x0d" },
	{ "\x7f", "\\x7f" },
	{ "\xc2\x9b" "31m", "\\u{009b}31m" }, /* C1: CSI */
	{ "a\x9b" "31m", "a\\x9b31m" }, /* the same as a bare byte */
	{ "\xc2\x85", "\\u{0085}" }, /* NEL */
	{ "a\xe2\x80\xae" "b", "a\\u{202e}b" }, /* right-to-left override */
	{ "\xe2\x81\xa6\xe2\x81\xa9", "\\u{2066}\\u{2069}" }, /* isolates */
	{ "\xd8\x9c", "\\u{061c}" }, /* Arabic letter mark */
	{ "a\xe2\x80\x8b" "b\xe2\x80\x8d", "a\\u{200b}b\\u{200d}" }, /* zero width space, joiner */
	{ "\xef\xbb\xbf", "\\u{feff}" }, /* byte order mark */
	{ "\xf3\xa0\x81\x81", "\\u{e0041}" }, /* a tag */
	{ "\xef\xb8\x8f", "\\u{fe0f}" }, /* a variation selector */
	{ "\xe2\x80\xa8\xe2\x80\xa9", "\\u{2028}\\u{2029}" }, /* line separators */
	{ "\xc2\xad", "\\u{00ad}" }, /* soft hyphen */
	{ "\xe3\x85\xa4", "\\u{3164}" }, /* Hangul filler */
	{ "\xee\x80\x80", "\\u{e000}" }, /* private use */
	{ "\xef\xbf\xbe", "\\u{fffe}" }, /* noncharacter */
	{ "\xef\xbf\xbd", "\xef\xbf\xbd" }, /* the replacement character is seen */
	{ "\xc0\xaf", "\\xc0\\xaf" }, /* too long a form */
	{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* a surrogate */
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* above U+10FFFF */
	{ "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80" },
	{ "\xe2\x82", "\\xe2\\x82" }, /* cut off */
	{ "\xe2\x82" "a", "\\xe2\\x82a" },
	{ "\xff\xfe", "\\xff\\xfe" },
};

static void test_visible(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(visible) / sizeof(visible[0]); i++)
		assert_string_equal(text_visible(arena, visible[i].in), visible[i].out);
}

static void test_visible_takes_nul_bytes_and_respects_the_length(void **state)
{
	cleanup_buf struct buf out = BUF_INIT;

	(void)state;
	text_add_visible(&out, "a\0b\xe2\x82\xac", 5);
	assert_string_equal(buf_str(&out), "a\\x00b\\xe2\\x82");
}

/* No two bytes may put a control character on the terminal. */
static void test_visible_never_leaves_a_control(void **state)
{
	cleanup_buf struct buf out = BUF_INIT;

	(void)state;
	for (unsigned int pair = 0; pair < 65536; pair++) {
		const char in[2] = { (char)(pair >> 8), (char)pair };

		buf_clear(&out);
		text_add_visible(&out, in, 2);
		for (size_t i = 0; i < out.len; i++) {
			unsigned char c = (unsigned char)out.data[i];

			if (c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)out.data[i + 1] < 0xa0))
				fail_msg("%04x leaves a control character", pair);
		}
	}
}

static void test_shell_words(void **state)
{
	static const struct {
		const char *in, *out;
	} words[] = {
		{ "", "''" },
		{ "mtu", "mtu" },
		{ "/sys/class/net/enp1s0f0np0/mtu", "/sys/class/net/enp1s0f0np0/mtu" },
		{ "user@host:1,2+3", "user@host:1,2+3" },
		{ "NCCL_IB_HCA=mlx5", "NCCL_IB_HCA=mlx5" },
		{ "=ls", "'=ls'" },
		{ "%1", "'%1'" },
		{ "~root", "'~root'" },
		{ "a b", "'a b'" },
		{ "a;b", "'a;b'" },
		{ "$(x)`y`", "'$(x)`y`'" },
		{ "it's", "'it'\\''s'" },
		{ "'", "''\\'''" },
		{ "a\nb", "'a\nb'" },
		{ "!x", "'!x'" },
		{ "{a,b}", "'{a,b}'" },
		{ "#x", "'#x'" },
		{ "grün", "'grün'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_string_equal(text_shell_word(arena, words[i].in), words[i].out);
}

static void test_columns(void **state)
{
	(void)state;
	setlocale(LC_ALL, "C"); /* must not matter */
	assert_int_equal(text_columns(""), 0);
	assert_int_equal(text_columns("abc"), 3);
	assert_int_equal(text_columns("Grüße"), 5);
	assert_int_equal(text_columns("日本"), 4);
	assert_int_equal(text_columns("e\xcc\x81"), 1);
	assert_int_equal(text_columns("🙂"), 2);
	assert_int_equal(text_columns("──►✓"), 4);
	assert_int_equal(text_columns("\xff"), 1);
}

/* The table against libc's, where that has C.UTF-8 and knows the character. Versions of Unicode differ in a few. */
static void test_columns_agree_with_libc(void **state)
{
	unsigned int differ = 0, compared = 0;

	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	for (uint32_t c = 0x20; c < 0xe0000; c++) {
		int want = wcwidth((wchar_t)c);

		if (want < 0 || (c >= 0xd800 && c <= 0xf8ff))
			continue;
		compared++;
		differ += (unsigned int)want != text_char_columns(c);
	}
	setlocale(LC_CTYPE, "C");
	assert_in_range(compared, 100000, 0xe0000);
	assert_in_range(differ, 0, 300);
}

static void test_parse_u64(void **state)
{
	static const char *const bad[] = {
		"", "\n", " 1", "1 ", "1\n\n", "+1", "-1", "0x", "0xg", "12a", "1.0", "18446744073709551616",
		"0x10000000000000000", "99999999999999999999999", "x1", "１",
	};
	uint64_t val = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(text_parse_u64(bad[i], &val));
	assert_int_equal(val, 77);
	assert_true(text_parse_u64("0", &val) && val == 0);
	assert_true(text_parse_u64("010\n", &val) && val == 10);
	assert_true(text_parse_u64("0x1F", &val) && val == 31);
	assert_true(text_parse_u64("0Xff\n", &val) && val == 255);
	assert_true(text_parse_u64("18446744073709551615", &val) && val == UINT64_MAX);
	assert_true(text_parse_u64("0xffffffffffffffff", &val) && val == UINT64_MAX);
}

static void test_parse_i64(void **state)
{
	static const char *const bad[] = {
		"", "-", "--1", "- 1", "+1", "9223372036854775808", "-9223372036854775809", "-0x",
	};
	int64_t val = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(text_parse_i64(bad[i], &val));
	assert_int_equal(val, 77);
	assert_true(text_parse_i64("-1\n", &val) && val == -1);
	assert_true(text_parse_i64("-0", &val) && val == 0);
	assert_true(text_parse_i64("-0x10", &val) && val == -16);
	assert_true(text_parse_i64("9223372036854775807", &val) && val == INT64_MAX);
	assert_true(text_parse_i64("-9223372036854775808", &val) && val == INT64_MIN);
}

static void test_host_names(void **state)
{
	static const char *const good[] = {
		"worker", "10.0.0.2", "fe80::1%eth0", "root@spark-2.local", "_gateway", "user.name@fe80::1%enp1s0f0np0",
		"a",
	};
	static const char *const bad[] = {
		"", "-oProxyCommand=x", "@host", "user@", "user@-host", "-u@host", "a;b", "a b", "a\nb", "$(x)", "a/b",
		"a@b@c", "host\t", ".host", ":22", "%h", "grün", "a'b", "a\\b", "[::1]", "a,b", "a=b",
	};
	char name[300];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(text_is_host_name(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(text_is_host_name(bad[i]));
	memset(name, 'a', sizeof(name));
	name[253] = '\0';
	assert_true(text_is_host_name(name));
	name[253] = 'a';
	name[254] = '\0';
	assert_false(text_is_host_name(name));
}

static void test_trim(void **state)
{
	(void)state;
	assert_string_equal(text_trim(arena, " \t a b \r\n"), "a b");
	assert_string_equal(text_trim(arena, ""), "");
	assert_string_equal(text_trim(arena, " \n"), "");
	assert_string_equal(text_trim(arena, "x"), "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visible),
		cmocka_unit_test(test_visible_takes_nul_bytes_and_respects_the_length),
		cmocka_unit_test(test_visible_never_leaves_a_control),
		cmocka_unit_test(test_shell_words),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_columns_agree_with_libc),
		cmocka_unit_test(test_parse_u64),
		cmocka_unit_test(test_parse_i64),
		cmocka_unit_test(test_host_names),
		cmocka_unit_test(test_trim),
	};

	return cmocka_run_group_tests(tests, make_arena, free_arena);
}
