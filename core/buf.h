/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer with a ceiling, so that foreign input cannot grow it without end.
 * Always NUL-terminated behind `len`, so data is a C string as long as nobody added a NUL.
 */
#ifndef SPARKFAB_CORE_BUF_H
#define SPARKFAB_CORE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *data; /* NULL until the first byte; use buf_str() for a string */
	size_t len;
	size_t cap;
	size_t max;	/* most bytes; 0 means BUF_DEFAULT_MAX */
	bool truncated; /* something did not fit; what fitted is kept */
};

#define BUF_DEFAULT_MAX (64u << 20)
#define BUF_INIT { 0 }
#define BUF_INIT_MAX(most) { .max = (most) }

void buf_release(struct buf *buf); /* frees and zeroes, keeps max */
void buf_clear(struct buf *buf);   /* len = 0, keeps the memory */
void buf_add(struct buf *buf, const void *data, size_t len);
void buf_adds(struct buf *buf, const char *str);
void buf_addc(struct buf *buf, char c);
void buf_addf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *buf, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
void buf_drop(struct buf *buf, size_t len); /* removes the first len bytes */
const char *buf_str(const struct buf *buf); /* never NULL */

#define cleanup_buf __attribute__((cleanup(buf_release)))

#endif
