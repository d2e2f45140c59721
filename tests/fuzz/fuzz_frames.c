// SPDX-License-Identifier: Apache-2.0
/*
 * Whatever a peer sends: the hunt for the first line, then frames, HELLO, JSON and snapshot text, in the order in which
 * a session takes them. The bytes arrive in pieces whose size the first byte chooses.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/buf.h"
#include "facts/record.h"
#include "peer/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_frame(const struct frame *frame, struct buf *text)
{
	struct fault fault;
	struct hello hello;
	json_t *json;

	if (frame->len > PROTOCOL_FRAME_MAX)
		abort();
	if (frame->type == FRAME_DATA) {
		buf_add(text, frame->data, frame->len);
		return;
	}
	if (frame->type == FRAME_BYE || frame_json(frame, &json, &fault) < 0)
		return;
	if (!json_is_object(json))
		abort();
	if (frame->type == FRAME_HELLO)
		hello_read(json, &hello, &fault);
	json_decref(json);
}

/* Frames from `in` as long as there are whole ones; false after a broken one. */
static bool take_frames(struct buf *in, struct buf *text)
{
	struct fault fault;
	struct frame frame;
	size_t used;
	int r;

	while ((r = frame_read(in, &frame, &used, &fault)) == 1) {
		if (used > in->len || used < PROTOCOL_HEADER_LEN)
			abort();
		take_frame(&frame, text);
		buf_drop(in, used);
	}
	return r == 0;
}

/* The checksum is no secret: without help the fuzzer would never get behind it. Each byte string is also taken as
 * payload. */
static void as_payload(const uint8_t *data, size_t size, struct buf *text)
{
	static const enum frame_type types[] = { FRAME_HELLO, FRAME_REQUEST, FRAME_REPLY, FRAME_DATA, FRAME_BYE };
	cleanup_buf struct buf in = BUF_INIT;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		frame_write(&in, types[i], data, size);
	if (!take_frames(&in, text) || in.len != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_buf struct buf in = BUF_INIT, text = BUF_INIT;
	struct records *records = records_new();
	struct marker marker;
	bool streaming = false;
	size_t piece = size > 0 ? (size_t)data[0] + 1 : 1;

	for (size_t at = 1; at < size; at += piece) {
		buf_add(&in, data + at, size - at < piece ? size - at : piece);
		if (!streaming && marker_hunt(&in, &marker) == 1) {
			if (marker.used > in.len || marker.noise >= marker.used)
				abort();
			streaming = marker.kind == MARKER_STREAM;
			buf_drop(&in, marker.used);
		}
		if (streaming && !take_frames(&in, &text))
			break;
	}
	if (size < PROTOCOL_FRAME_MAX)
		as_payload(data, size, &text);
	if (text.len > 0)
		records_parse(records, "peer", text.data, text.len, NULL, NULL, NULL);
	records_free(records);
	return 0;
}
