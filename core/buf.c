// SPDX-License-Identifier: Apache-2.0
/* The growing buffer with a ceiling. */
#include "core/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

#define SMALLEST 64u

static size_t ceiling(const struct buf *buf)
{
	return buf->max ? buf->max : BUF_DEFAULT_MAX;
}

/* Makes room for `len` more bytes and the NUL; returns how many of them may be added. */
static size_t reserve(struct buf *buf, size_t len)
{
	size_t room = ceiling(buf) > buf->len ? ceiling(buf) - buf->len : 0;
	size_t need, cap;

	if (len > room) {
		len = room;
		buf->truncated = true;
	}
	need = buf->len + len + 1;
	if (need <= buf->cap)
		return len;
	cap = buf->cap * 2 > SMALLEST ? buf->cap * 2 : SMALLEST;
	if (cap > ceiling(buf) + 1)
		cap = ceiling(buf) + 1;
	if (cap < need)
		cap = need;
	buf->data = xreallocarray(buf->data, cap, 1);
	buf->cap = cap;
	buf->data[buf->len] = '\0';
	return len;
}

void buf_release(struct buf *buf)
{
	size_t max = buf->max;

	free(buf->data);
	*buf = (struct buf){ .max = max };
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->truncated = false;
	if (buf->data)
		buf->data[0] = '\0';
}

void buf_add(struct buf *buf, const void *data, size_t len)
{
	if (!len)
		return;
	len = reserve(buf, len);
	memcpy(buf->data + buf->len, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
}

void buf_adds(struct buf *buf, const char *str)
{
	buf_add(buf, str, strlen(str));
}

void buf_addc(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_vaddf(struct buf *buf, const char *format, va_list args)
{
	va_list again;
	size_t fits;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len < 0) {
		buf->truncated = true;
		return;
	}
	fits = reserve(buf, (size_t)len);
	vsnprintf(buf->data + buf->len, fits + 1, format, args);
	buf->len += fits;
}

void buf_addf(struct buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buf_vaddf(buf, format, args);
	va_end(args);
}

void buf_drop(struct buf *buf, size_t len)
{
	if (len >= buf->len) {
		buf->len = 0;
	} else if (len) {
		memmove(buf->data, buf->data + len, buf->len - len);
		buf->len -= len;
	}
	if (buf->data)
		buf->data[buf->len] = '\0';
}

const char *buf_str(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}
