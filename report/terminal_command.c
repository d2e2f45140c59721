// SPDX-License-Identifier: Apache-2.0
/*
 * Shell lines in the report. They are there to be pasted, so a line too long for the terminal is not wrapped as prose is:
 * it gets the shell's own continuation, a backslash before the newline, and means the same when it comes back.
 */
#include "report/terminal.h"

#include <string.h>

#include "core/text.h"

/* Where a line ends: after `len` bytes, in that quote ('\0': none). */
struct cut {
	size_t len;
	char quote;
	bool at_blank;
};

/* State of the shell's quoting after one more byte. */
static char quote_after(char quote, char c)
{
	if (quote)
		return c == quote ? '\0' : quote;
	return c == '\'' || c == '"' ? c : '\0';
}

static size_t char_width(const char *str, size_t *ret_len)
{
	char one[5] = "";
	size_t len = 1;

	while (len < 4 && ((unsigned char)str[len] & 0xc0) == 0x80)
		len++;
	memcpy(one, str, len);
	*ret_len = len;
	return text_columns(one);
}

/* The last blank outside quotes within `room` columns; if there is none, as many characters as fit. A backslash and what it
 * escapes are not parted. */
static struct cut find_cut(const char *str, char quote, size_t room)
{
	struct cut blank = { 0 }, hard = { 0 };
	bool escaped = false;
	size_t at = 0, len;

	for (size_t i = 0; str[i]; i += len) {
		size_t width = char_width(str + i, &len);

		if (at + width > room)
			break;
		if (str[i] == ' ' && i && !quote && !escaped)
			blank = (struct cut){ i, '\0', true };
		if (escaped) {
			escaped = false;
		} else if (str[i] == '\\' && quote != '\'') {
			escaped = true;
		} else {
			quote = quote_after(quote, str[i]);
		}
		at += width;
		if (!escaped)
			hard = (struct cut){ i + len, quote, false };
	}
	return blank.len ? blank : hard;
}

void pen_command(struct pen *pen, size_t indent, const char *command)
{
	const char *str = pen_text(pen, command);
	size_t at = indent;
	char quote = '\0';

	buf_addf(pen->out, "%*s", (int)indent, "");
	while (at + text_columns(str) > pen->columns) {
		/* Room for the longest ending, a closing quote and the backslash. */
		struct cut cut = find_cut(str, quote, pen->columns - at - 2);

		buf_add(pen->out, str, cut.len);
		str += cut.len;
		quote = cut.quote;
		if (cut.at_blank) {
			str += strspn(str, " ");
			at = indent + 4;
			buf_addf(pen->out, " \\\n%*s", (int)at, "");
			continue;
		}
		/* Inside a word nothing may stand before the rest of it; single quotes know no backslash. */
		at = quote == '\'' ? 1 : 0;
		buf_adds(pen->out, at ? "'\\\n'" : "\\\n");
	}
	buf_adds(pen->out, str);
	buf_addc(pen->out, '\n');
}
