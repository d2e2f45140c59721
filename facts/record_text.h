/* SPDX-License-Identifier: Apache-2.0 */
/* Small rules of the text form that its reader and its writer must agree on. */
#ifndef SPARKFAB_FACTS_RECORD_TEXT_H
#define SPARKFAB_FACTS_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"

#define RECORD_RANGE_MAX 65536u	       /* records of one {A..B} */
#define RECORD_LINE_MAX (640u << 10)   /* bytes of one line: a fact and its key */
#define RECORD_CONTENT_LINE_MAX 65536u /* bytes of one line of a file's content; a longer one makes it hex */

/* Appends a path, key or link target: what is not printable ASCII, and "\", "{" and "}", as \xNN. Blanks between words are
 * kept where the keyword has several words. */
void record_write_key(struct buf *out, const char *key, size_t len, bool with_blanks);

/* Bytes that may stand in a line: no control characters but tab, valid UTF-8 without C1. */
bool record_is_line(const char *line, size_t len);

/* True if `text` can be written as lines behind "| ". */
bool record_is_text(const char *text, size_t len);

#endif
