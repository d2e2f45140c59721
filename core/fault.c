// SPDX-License-Identifier: Apache-2.0
/* Messages about what could not be done. */
#include "core/fault.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Marks a message that was cut, at the border of a character. */
static void mark_cut(char *msg, size_t size)
{
	static const char mark[] = "…";
	size_t at = size - sizeof(mark);

	while (at && ((unsigned char)msg[at] & 0xc0) == 0x80)
		at--;
	memcpy(msg + at, mark, sizeof(mark));
}

/* Formats into a copy first: the arguments may point into the message that is being replaced. */
static void set_msg(struct fault *fault, const char *format, va_list args)
{
	char msg[sizeof(fault->msg)];
	int len = vsnprintf(msg, sizeof(msg), format, args);

	if (len < 0)
		msg[0] = '\0';
	else if ((size_t)len >= sizeof(msg))
		mark_cut(msg, sizeof(msg));
	memcpy(fault->msg, msg, sizeof(msg));
}

int fault_set(struct fault *reterr, int err, const char *format, ...)
{
	va_list args;

	if (!reterr)
		return -err;
	va_start(args, format);
	set_msg(reterr, format, args);
	va_end(args);
	reterr->err = err;
	return -err;
}

static void set_pair(struct fault *fault, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_msg(fault, format, args);
	va_end(args);
}

void fault_prefix(struct fault *fault, const char *format, ...)
{
	struct fault context = { 0 };
	va_list args;

	if (!fault)
		return;
	va_start(args, format);
	set_msg(&context, format, args);
	va_end(args);
	set_pair(fault, "%s: %s", context.msg, fault->msg);
}
