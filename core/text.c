// SPDX-License-Identifier: Apache-2.0
/* Foreign text: what a terminal may see, what a shell may get, which host names may go to ssh. */
#include "core/text.h"

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/text_width.h"

#define LONGEST_GUESS 64 /* letters of a word that is compared: nobody mistypes longer ones */

#define HOST_NAME_MAX_LEN 253

/* Decodes one character; returns its length, or 0 for what is not UTF-8 (too long forms, surrogates, over U+10FFFF). */
static size_t decode(const unsigned char *s, size_t len, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c = s[0];
	size_t n;

	if (c < 0x80)
		n = 1;
	else if ((c & 0xe0) == 0xc0)
		n = 2, c &= 0x1f;
	else if ((c & 0xf0) == 0xe0)
		n = 3, c &= 0x0f;
	else if ((c & 0xf8) == 0xf0)
		n = 4, c &= 0x07;
	else
		return 0;
	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return n;
}

/*
 * Characters that act on their neighbours or that nobody sees: format characters (bidi controls, joiners, tags,
 * annotations), fillers, variation selectors, line separators, private use (no one knows how they look) and
 * noncharacters. Two texts that differ must not look the same. Combining marks are seen, and stay.
 */
static bool is_unseen(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x0000, 0x001f }, { 0x007f, 0x009f }, { 0x00ad, 0x00ad }, { 0x034f, 0x034f }, { 0x0600, 0x0605 },
		{ 0x061c, 0x061c }, { 0x06dd, 0x06dd }, { 0x070f, 0x070f }, { 0x0890, 0x0891 }, { 0x08e2, 0x08e2 },
		{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x200b, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x206f }, { 0x3164, 0x3164 }, { 0xe000, 0xf8ff }, { 0xfdd0, 0xfdef }, { 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb }, { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd },
		{ 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0x10ffff },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && c >= ranges[i].first; i++)
		if (c <= ranges[i].last)
			return true;
	return (c & 0xfffe) == 0xfffe;
}

void text_add_visible(struct buf *out, const char *str, size_t len)
{
	const unsigned char *s = (const unsigned char *)str;

	while (len) {
		uint32_t c = 0;
		size_t n = decode(s, len, &c);

		if (!n)
			buf_addf(out, "\\x%02x", s[0]);
		else if (!is_unseen(c))
			buf_add(out, s, n);
		else if (c < 0x80)
			buf_addf(out, "\\x%02x", (unsigned int)c);
		else
			buf_addf(out, "\\u{%04x}", (unsigned int)c);
		n = n ? n : 1;
		s += n;
		len -= n;
	}
}

const char *text_visible(struct arena *arena, const char *str)
{
	cleanup_buf struct buf buf = BUF_INIT;

	text_add_visible(&buf, str, strlen(str));
	return arena_strndup(arena, buf_str(&buf), buf.len);
}

static bool is_ascii_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* '=' is no danger inside a word, but zsh expands a leading one, and so is '%' at the front (job names in fish). */
static bool is_bare_word(const char *str)
{
	if (!*str || *str == '=' || *str == '%')
		return false;
	for (; *str; str++)
		if (!is_ascii_alnum(*str) && !strchr("_@%+=:,./-", *str))
			return false;
	return true;
}

void text_add_shell_word(struct buf *out, const char *str)
{
	if (is_bare_word(str)) {
		buf_adds(out, str);
		return;
	}
	buf_addc(out, '\'');
	for (; *str; str++) {
		if (*str == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *str);
	}
	buf_addc(out, '\'');
}

const char *text_shell_word(struct arena *arena, const char *str)
{
	cleanup_buf struct buf buf = BUF_INIT;

	text_add_shell_word(&buf, str);
	return arena_strndup(arena, buf_str(&buf), buf.len);
}

size_t text_columns(const char *str)
{
	const unsigned char *s = (const unsigned char *)str;
	size_t len = strlen(str), columns = 0;

	while (len) {
		uint32_t c = 0;
		size_t n = decode(s, len, &c);

		columns += n ? text_char_columns(c) : 1;
		n = n ? n : 1;
		s += n;
		len -= n;
	}
	return columns;
}

/* Value of a digit in any base up to 16, else 255. */
static unsigned int digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned int)(c - 'A') + 10;
	return 255;
}

/* Not strtoull(): it takes blanks, signs and octal, and "010" in a sysfs file is ten. */
bool text_parse_u64(const char *str, uint64_t *ret)
{
	unsigned int base = 10;
	uint64_t val = 0;

	if (str[0] == '0' && (str[1] == 'x' || str[1] == 'X')) {
		base = 16;
		str += 2;
	}
	if (digit(*str) >= base)
		return false;
	for (; digit(*str) < base; str++)
		if (__builtin_mul_overflow(val, (uint64_t)base, &val) ||
		    __builtin_add_overflow(val, (uint64_t)digit(*str), &val))
			return false;
	if (*str == '\n')
		str++;
	if (*str)
		return false;
	*ret = val;
	return true;
}

bool text_parse_i64(const char *str, int64_t *ret)
{
	bool negative = *str == '-';
	uint64_t val;

	if (!text_parse_u64(str + negative, &val) || val > (uint64_t)INT64_MAX + negative)
		return false;
	*ret = negative ? (int64_t)(0 - val) : (int64_t)val;
	return true;
}

/* One side of the '@': nothing that ssh could take for an option, or any shell for more than a word. */
static bool is_name_part(const char *str, size_t len)
{
	if (!len || !(is_ascii_alnum(*str) || *str == '_'))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_ascii_alnum(str[i]) && (!str[i] || !strchr("_.:%-", str[i])))
			return false;
	return true;
}

bool text_is_host_name(const char *str)
{
	size_t len = strlen(str);
	const char *at = memchr(str, '@', len);

	if (len > HOST_NAME_MAX_LEN)
		return false;
	if (!at)
		return is_name_part(str, len);
	return is_name_part(str, (size_t)(at - str)) && is_name_part(at + 1, len - (size_t)(at + 1 - str));
}

char *text_trim(struct arena *arena, const char *str)
{
	static const char blanks[] = " \t\n\v\f\r";
	size_t len;

	str += strspn(str, blanks);
	len = strlen(str);
	while (len && strchr(blanks, str[len - 1]))
		len--;
	return arena_strndup(arena, str, len);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t text_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][LONGEST_GUESS + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	if (a_len > LONGEST_GUESS || b_len > LONGEST_GUESS)
		return SIZE_MAX;
	for (size_t j = 0; j <= b_len; j++)
		above[j] = before[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *spare = before;

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = spare;
	}
	return above[b_len];
}
