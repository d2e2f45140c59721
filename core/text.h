/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text made safe: for terminals, for shells, for matching. */
#ifndef SPARKFAB_CORE_TEXT_H
#define SPARKFAB_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;

/* Appends `str` with every byte a terminal could act on made visible: control characters, DEL, C1, invalid UTF-8, bidi
 * overrides and other format characters become \xNN or \u{NNNN}; printable UTF-8 stays. */
void text_add_visible(struct buf *out, const char *str, size_t len);
const char *text_visible(struct arena *arena, const char *str);

/* Appends `str` as one POSIX shell word: bare if it is safe, else in single quotes. */
void text_add_shell_word(struct buf *out, const char *str);
const char *text_shell_word(struct arena *arena, const char *str);

/* Columns that valid, printable UTF-8 takes on a terminal (wcwidth of the C.UTF-8 table; never negative). */
size_t text_columns(const char *str);

/* Whole-string parsers: false (and *ret untouched) on anything but one number, base 10 or 0x…; no blanks but a final newline. */
bool text_parse_i64(const char *str, int64_t *ret);
bool text_parse_u64(const char *str, uint64_t *ret);

/* Host argument of --peer: [USER@]HOST, design 6. Only [A-Za-z0-9_] first, then [A-Za-z0-9_.:%-], at most 253 characters. */
bool text_is_host_name(const char *str);

/* How many letters to insert, drop, change or swap to make one word of the other (Damerau, optimal string alignment);
 * SIZE_MAX if one has more than 64. For "did you mean". */
size_t text_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/* Copy without white space at both ends. */
char *text_trim(struct arena *arena, const char *str);

#endif
