/* SPDX-License-Identifier: Apache-2.0 */
/* The wire between sparkfab and sparkfab-agent: docs/PROTOCOL.md. Frames over a pair of descriptors; pure encode/decode. */
#ifndef SPARKFAB_PEER_PROTOCOL_H
#define SPARKFAB_PEER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>

#include "core/buf.h"
#include "core/fault.h"

#define PROTOCOL_VERSION 1
#define PROTOCOL_VERSION_MIN 1	       /* the oldest that this build still speaks */
#define PROTOCOL_NOISE_MAX (64u << 10) /* bytes of login noise before the magic line */
#define PROTOCOL_FRAME_MAX (1u << 20)  /* payload of one frame */
#define PROTOCOL_HEADER_LEN 9u	       /* length (4), type (1), CRC (4) */
#define PROTOCOL_JSON_MAX (256u << 10) /* payload of a frame that holds JSON */
#define PROTOCOL_JSON_DEPTH 32u
#define PROTOCOL_DATA_CHUNK (256u << 10) /* what a sender puts into one FRAME_DATA at most */

/* What the agent writes first, on a line of its own. Everything before it is noise. */
#define PROTOCOL_MAGIC "sparkfab-agent-stream-4f1d2c"

/* What the start line on the other host says when there is no agent to start (its own words, not the agent's). */
#define PROTOCOL_NEED "sparkfab-agent-need-4f1d2c" /* "… ARCH": send the agent for it */
#define PROTOCOL_NONE "sparkfab-agent-none-4f1d2c" /* "… ARCH": none there, and none may be sent */
#define PROTOCOL_FAIL "sparkfab-agent-fail-4f1d2c" /* "… REASON": the one sent cannot be used */

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

/* len must be at most PROTOCOL_FRAME_MAX. */
void frame_write(struct buf *out, enum frame_type type, const void *data, size_t len);

/* The same with a JSON object as payload; takes the reference. */
void frame_write_json(struct buf *out, enum frame_type type, json_t *json);

/* Takes one frame off the front of `in` (a view; call buf_drop(in, *ret_used) afterwards). 1: got one, 0: needs more bytes,
 * -EPROTO with a message: length over the limit, unknown type, wrong checksum. Nothing is allocated. */
int frame_read(const struct buf *in, struct frame *ret, size_t *ret_used, struct fault *reterr);

/* The payload as a JSON object (new reference). -EPROTO: not JSON, not an object, too long or nested too deeply. */
int frame_json(const struct frame *frame, json_t **ret, struct fault *reterr);

/* Looks for the magic line. 1: found, *ret_noise bytes came before it and *ret_used are to be dropped; 0: not yet;
 * -EPROTO: more than PROTOCOL_NOISE_MAX bytes without it. */
int magic_hunt(const struct buf *in, size_t *ret_noise, size_t *ret_used);

enum marker_kind { MARKER_STREAM, MARKER_NEED, MARKER_NONE, MARKER_FAIL };

struct marker {
	enum marker_kind kind;
	char arg[64]; /* ARCH or REASON, letters, digits and _ . - only; "" if there is none that is fit to be used */
	size_t noise; /* bytes before it */
	size_t used;  /* bytes up to and including its line's end */
};

/* Looks for the first of the four lines; results as magic_hunt. */
int marker_hunt(const struct buf *in, struct marker *ret);

/* What one end says of itself. */
struct hello {
	int protocol, protocol_min;
	char version[64], arch[32]; /* safe characters only */
	int64_t uid;
};

/* Our HELLO payload (new reference). */
json_t *hello_json(void);

/* Reads the other end's. -EPROTO: not a HELLO; -EPROTONOSUPPORT: no version that both speak. Both with a message; in the
 * second case *ret is filled. */
int hello_read(const json_t *json, struct hello *ret, struct fault *reterr);

#endif
