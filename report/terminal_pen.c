// SPDX-License-Identifier: Apache-2.0
/* The pen: paragraphs that break at words and never pass the right edge, whatever the text; colour; the ASCII spelling. */
#include "report/terminal.h"

#include <stdint.h>
#include <string.h>

#include "core/text.h"

/* One character as it stands on the screen. Combining marks have width 0 and so stay with the one before. */
struct glyph {
	char text[5];
	uint8_t width;
	uint8_t ink;
};

/* Our own signs in ASCII; a foreign character without an entry is written as its number. */
static const struct {
	const char *sign, *ascii;
} spellings[] = {
	{ "↔", "<->" }, { "→", "->" }, { "←", "<-" }, { "─", "-" }, { "╌", "." },  { "✗", "x" },  { "✓", "ok" },
	{ "≠", "!=" },  { "≥", ">=" }, { "≤", "<=" }, { "…", "..." }, { "×", "x" }, { "–", "-" }, { "µ", "u" },
};

static size_t char_len(const char *str)
{
	unsigned char lead = (unsigned char)str[0];
	size_t want = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;

	return strnlen(str, want);
}

static void add_ascii(struct buf *out, const char *c, size_t len)
{
	uint32_t code = (unsigned char)c[0] & (0xffu >> (len + 1));

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		if (strlen(spellings[i].sign) == len && memcmp(spellings[i].sign, c, len) == 0) {
			buf_adds(out, spellings[i].ascii);
			return;
		}
	}
	for (size_t i = 1; i < len; i++)
		code = code << 6 | ((unsigned char)c[i] & 0x3f);
	buf_addf(out, "\\u{%04x}", (unsigned int)code);
}

static void add_safe(const struct pen *pen, struct buf *out, const char *text)
{
	cleanup_buf struct buf visible = BUF_INIT;
	const char *str;

	if (pen->style->unicode) {
		text_add_visible(out, text, strlen(text));
		return;
	}
	text_add_visible(&visible, text, strlen(text));
	for (str = buf_str(&visible); *str;) {
		size_t len = char_len(str);

		if (len == 1)
			buf_addc(out, *str);
		else
			add_ascii(out, str, len);
		str += len;
	}
}

const char *pen_text(struct pen *pen, const char *text)
{
	cleanup_buf struct buf safe = BUF_INIT;

	add_safe(pen, &safe, text);
	return arena_strdup(pen->arena, buf_str(&safe));
}

void pen_begin(struct pen *pen, size_t indent)
{
	buf_clear(&pen->glyphs);
	pen->indent = indent;
}

void pen_put(struct pen *pen, enum ink ink, const char *format, ...)
{
	cleanup_buf struct buf raw = BUF_INIT;
	cleanup_buf struct buf safe = BUF_INIT;
	va_list args;

	va_start(args, format);
	buf_vaddf(&raw, format, args);
	va_end(args);
	add_safe(pen, &safe, buf_str(&raw));
	for (const char *str = buf_str(&safe); *str;) {
		struct glyph glyph = { .ink = (uint8_t)ink };
		size_t len = char_len(str);

		memcpy(glyph.text, str, len);
		glyph.width = (uint8_t)text_columns(glyph.text);
		buf_add(&pen->glyphs, &glyph, sizeof(glyph));
		str += len;
	}
}

static const struct glyph *glyphs_of(const struct pen *pen, size_t *ret_n)
{
	*ret_n = pen->glyphs.len / sizeof(struct glyph);
	return (const struct glyph *)(const void *)pen->glyphs.data;
}

size_t pen_width(const struct pen *pen)
{
	size_t n, width = 0;
	const struct glyph *glyphs = glyphs_of(pen, &n);

	for (size_t i = 0; i < n; i++)
		width += glyphs[i].width;
	return width;
}

void pen_pad(struct pen *pen, size_t width)
{
	size_t have = pen_width(pen);

	pen_put(pen, INK_PLAIN, "%*s", have < width ? (int)(width - have) : 0, "");
}

/* The sixteen-colour codes only: the terminal's own theme decides how they look, light or dark. */
static void set_ink(struct pen *pen, enum ink ink)
{
	static const char *const codes[] = {
		[INK_PLAIN] = "",	[INK_BOLD] = "\033[1m",	   [INK_DIM] = "\033[2m",	 [INK_PASS] = "\033[32m",
		[INK_WARN] = "\033[33m", [INK_FAIL] = "\033[1;31m", [INK_UNKNOWN] = "\033[1;35m",
	};

	if (!pen->style->color || ink == pen->ink)
		return;
	if (pen->ink != INK_PLAIN)
		buf_adds(pen->out, "\033[0m");
	buf_adds(pen->out, codes[ink]);
	pen->ink = ink;
}

void pen_newline(struct pen *pen)
{
	set_ink(pen, INK_PLAIN);
	buf_addc(pen->out, '\n');
}

/* In whatever ink: blanks look the same in all of them. */
static void blanks(struct pen *pen, size_t n)
{
	buf_addf(pen->out, "%*s", (int)n, "");
}

static void glyph_out(struct pen *pen, const struct glyph *glyph)
{
	set_ink(pen, glyph->ink);
	buf_adds(pen->out, glyph->text);
}

/* How many of the glyphs fit into `room`; of a path the last whole part, where that is not a mere crumb. */
static size_t fitting(const struct glyph *glyphs, size_t n, size_t room)
{
	size_t fit = 0, slash = 0, width = 0;

	while (fit < n && width + glyphs[fit].width <= room) {
		width += glyphs[fit++].width;
		if (glyphs[fit - 1].text[0] == '/')
			slash = fit;
	}
	return fit < n && slash > fit / 2 ? slash : fit;
}

/* A word, from column `at` on; one that is longer than a line goes on in the next. Returns the column behind it. */
static size_t word_out(struct pen *pen, const struct glyph *glyphs, size_t n, size_t rest, size_t at)
{
	for (;;) {
		size_t fit = fitting(glyphs, n, pen->columns - at);

		for (size_t i = 0; i < fit; i++) {
			glyph_out(pen, &glyphs[i]);
			at += glyphs[i].width;
		}
		glyphs += fit;
		n -= fit;
		if (!n)
			return at;
		pen_newline(pen);
		blanks(pen, rest);
		at = rest;
	}
}

void pen_end(struct pen *pen, size_t rest)
{
	size_t n, at = pen->indent;
	const struct glyph *glyphs = glyphs_of(pen, &n);
	bool line_empty = true;

	if (rest > pen->columns / 2)
		rest = pen->columns / 2;
	for (size_t i = 0; i < n;) {
		size_t gap = 0, word = 0, width = 0;

		while (i < n && glyphs[i].text[0] == ' ')
			i++, gap++;
		while (i + word < n && glyphs[i + word].text[0] != ' ')
			width += glyphs[i + word++].width;
		if (!word)
			break;
		if (at + gap + width <= pen->columns) {
			blanks(pen, line_empty ? at + gap : gap);
			at += gap;
		} else {
			if (!line_empty)
				pen_newline(pen);
			blanks(pen, rest);
			at = rest;
		}
		line_empty = false;
		at = word_out(pen, &glyphs[i], word, rest, at);
		i += word;
	}
	pen_newline(pen);
	buf_clear(&pen->glyphs);
}

enum ink verdict_ink(enum verdict verdict)
{
	static const enum ink inks[] = {
		[VERDICT_PASS] = INK_PASS,	 [VERDICT_SKIP] = INK_DIM,  [VERDICT_WARN] = INK_WARN,
		[VERDICT_UNKNOWN] = INK_UNKNOWN, [VERDICT_FAIL] = INK_FAIL,
	};

	return inks[verdict];
}

const char *verdict_word(enum verdict verdict)
{
	static const char *const words[] = {
		[VERDICT_PASS] = "PASS",       [VERDICT_SKIP] = "SKIP", [VERDICT_WARN] = "WARN",
		[VERDICT_UNKNOWN] = "UNKNOWN", [VERDICT_FAIL] = "FAIL",
	};

	return words[verdict];
}
