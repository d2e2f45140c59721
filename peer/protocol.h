/* SPDX-License-Identifier: Apache-2.0 */
/* The wire between sparkfab and sparkfab-agent: docs/PROTOCOL.md. Frames over a pair of descriptors; pure encode/decode. */
#ifndef SPARKFAB_PEER_PROTOCOL_H
#define SPARKFAB_PEER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/fault.h"

#define PROTOCOL_VERSION 1
#define PROTOCOL_NOISE_MAX (64u << 10) /* bytes of login noise before the magic line */
#define PROTOCOL_FRAME_MAX (1u << 20)  /* payload of one frame */

/* What the agent writes first, on a line of its own. Everything before it is noise. */
#define PROTOCOL_MAGIC "sparkfab-agent-stream-4f1d2c"

enum frame_type {
	FRAME_HELLO = 'H', /* JSON, both ways, first */
	FRAME_REQUEST = 'Q', /* JSON: {"id":N,"do":"gather",…}; only commands of the fixed list */
	FRAME_REPLY = 'A',   /* JSON: {"id":N,"ok":true,…} or {"id":N,"ok":false,"errno":…,"error":"…"}; ends a command */
	FRAME_DATA = 'D',    /* raw bytes of the command in progress */
	FRAME_BYE = 'B',     /* empty */
};

struct frame {
	enum frame_type type;
	const char *data; /* into the buffer; not NUL-terminated */
	size_t len;
};

void frame_write(struct buf *out, enum frame_type type, const void *data, size_t len);

/* Takes one frame off the front of `in` (a view; call buf_drop(in, *ret_used) afterwards). 1: got one, 0: needs more bytes,
 * -EPROTO with a message: length over the limit, unknown type. Nothing is allocated. */
int frame_read(const struct buf *in, struct frame *ret, size_t *ret_used, struct fault *reterr);

/* Looks for the magic line. 1: found, *ret_noise bytes came before it and *ret_used are to be dropped; 0: not yet;
 * -EPROTO: more than PROTOCOL_NOISE_MAX bytes without it. */
int magic_hunt(const struct buf *in, size_t *ret_noise, size_t *ret_used);

#endif
