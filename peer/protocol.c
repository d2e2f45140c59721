// SPDX-License-Identifier: Apache-2.0
/* Frames, the lines before them, and HELLO: docs/PROTOCOL.md in code. Nothing here reads or writes a descriptor. */
#include "peer/protocol.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void put_be32(unsigned char *out, uint32_t val)
{
	out[0] = (unsigned char)(val >> 24);
	out[1] = (unsigned char)(val >> 16);
	out[2] = (unsigned char)(val >> 8);
	out[3] = (unsigned char)val;
}

static uint32_t get_be32(const unsigned char *in)
{
	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

/* CRC-32 (IEEE 802.3) by half bytes. It is there for what a login script's background job writes into our stream. */
static uint32_t crc32_of(uint32_t crc, const void *data, size_t len)
{
	static const uint32_t table[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const unsigned char *byte = data;

	crc = ~crc;
	for (size_t i = 0; i < len; i++) {
		crc ^= byte[i];
		crc = table[crc & 15] ^ (crc >> 4);
		crc = table[crc & 15] ^ (crc >> 4);
	}
	return ~crc;
}

/* The length is covered too: a changed length would otherwise only show after waiting for bytes that never come. */
static uint32_t frame_crc(const unsigned char header[5], const void *data, size_t len)
{
	return crc32_of(crc32_of(0, header, 5), data, len);
}

void frame_write(struct buf *out, enum frame_type type, const void *data, size_t len)
{
	unsigned char header[PROTOCOL_HEADER_LEN];

	put_be32(header, (uint32_t)len);
	header[4] = (unsigned char)type;
	put_be32(header + 5, frame_crc(header, data, len));
	buf_add(out, header, sizeof(header));
	if (len > 0)
		buf_add(out, data, len);
}

void frame_write_json(struct buf *out, enum frame_type type, json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII);

	if (text)
		frame_write(out, type, text, strlen(text));
	free(text);
	json_decref(json);
}

static bool type_is_known(unsigned char type)
{
	return type != 0 && strchr("HQADB", type) != NULL;
}

int frame_read(const struct buf *in, struct frame *ret, size_t *ret_used, struct fault *reterr)
{
	const unsigned char *header = (const unsigned char *)in->data;
	uint32_t len;

	/* The type is looked at as soon as it is there, so that a short burst of garbage is not waited upon. */
	if (in->len < 5)
		return 0;
	len = get_be32(header);
	if (!type_is_known(header[4]))
		return fault_set(reterr, EPROTO, "not a frame of the protocol (type byte 0x%02x)", header[4]);
	if (len > PROTOCOL_FRAME_MAX)
		return fault_set(reterr, EPROTO, "a frame of %lu bytes was announced, the limit is %u",
				 (unsigned long)len, PROTOCOL_FRAME_MAX);
	if (in->len < PROTOCOL_HEADER_LEN || in->len - PROTOCOL_HEADER_LEN < len)
		return 0;
	if (frame_crc(header, header + PROTOCOL_HEADER_LEN, len) != get_be32(header + 5))
		return fault_set(reterr, EPROTO, "a frame's checksum is wrong: other bytes got into the stream");
	ret->type = (enum frame_type)header[4];
	ret->data = in->data + PROTOCOL_HEADER_LEN;
	ret->len = len;
	*ret_used = PROTOCOL_HEADER_LEN + len;
	return 1;
}

/* Deep nesting is refused before the parser, which recurses, sees it. */
static bool json_is_shallow(const char *text, size_t len)
{
	bool in_string = false;
	unsigned depth = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '[' || c == '{') {
			if (++depth > PROTOCOL_JSON_DEPTH)
				return false;
		} else if ((c == ']' || c == '}') && depth > 0) {
			depth--;
		}
	}
	return true;
}

int frame_json(const struct frame *frame, json_t **ret, struct fault *reterr)
{
	json_error_t error;
	json_t *json;

	if (frame->len > PROTOCOL_JSON_MAX)
		return fault_set(reterr, EPROTO, "%zu bytes of JSON in one frame, the limit is %u", frame->len,
				 PROTOCOL_JSON_MAX);
	if (!json_is_shallow(frame->data, frame->len))
		return fault_set(reterr, EPROTO, "JSON nested deeper than %u levels", PROTOCOL_JSON_DEPTH);
	json = json_loadb(frame->data, frame->len, JSON_REJECT_DUPLICATES, &error);
	if (!json) /* the parser's own text quotes the input, so it is not repeated */
		return fault_set(reterr, EPROTO, "malformed JSON at byte %d of a frame of type '%c'", error.position,
				 frame->type);
	if (!json_is_object(json)) {
		json_decref(json);
		return fault_set(reterr, EPROTO, "JSON that is no object in a frame of type '%c'", frame->type);
	}
	*ret = json;
	return 0;
}

/* A marker counts wherever it stands, as long as its line ends: noise need not have ended with a newline. */
static const char *marker_find(const char *text, size_t len, const char *marker)
{
	return len == 0 ? NULL : memmem(text, len, marker, strlen(marker));
}

static bool noise_is_too_much(size_t len)
{
	/* The marker itself may still be on its way. */
	return len > PROTOCOL_NOISE_MAX + 128;
}

int magic_hunt(const struct buf *in, size_t *ret_noise, size_t *ret_used)
{
	const char *found = marker_find(in->data, in->len, PROTOCOL_MAGIC "\n");

	if (found && (size_t)(found - in->data) <= PROTOCOL_NOISE_MAX) {
		*ret_noise = (size_t)(found - in->data);
		*ret_used = *ret_noise + strlen(PROTOCOL_MAGIC) + 1;
		return 1;
	}
	return found || noise_is_too_much(in->len) ? -EPROTO : 0;
}

static bool char_is_safe(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != 0 && strchr("_.+~-", c));
}

/* Copies a word of safe characters; "" if there is another character in it or it does not fit. */
static bool copy_safe(char *out, size_t size, const char *text, size_t len)
{
	out[0] = 0;
	if (len >= size)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!char_is_safe(text[i]))
			return false;
	memcpy(out, text, len);
	out[len] = 0;
	return true;
}

/* The marker's line up to its end; false if the end is not there yet or what stands in it is not a marker's. */
static bool marker_line(const struct buf *in, const char *at, const char *marker, struct marker *ret)
{
	const char *arg = at + strlen(marker), *end = in->data + in->len,
		   *newline = memchr(arg, '\n', (size_t)(end - arg));

	if (!newline)
		return false;
	if (arg < newline && *arg == ' ')
		arg++;
	copy_safe(ret->arg, sizeof(ret->arg), arg, (size_t)(newline - arg));
	ret->noise = (size_t)(at - in->data);
	ret->used = (size_t)(newline + 1 - in->data);
	return true;
}

int marker_hunt(const struct buf *in, struct marker *ret)
{
	static const char *const words[] = {
		[MARKER_NEED] = PROTOCOL_NEED,
		[MARKER_NONE] = PROTOCOL_NONE,
		[MARKER_FAIL] = PROTOCOL_FAIL,
	};
	struct marker best = { 0 };
	bool have = false;
	int r = magic_hunt(in, &best.noise, &best.used);

	have = r == 1;
	for (size_t i = MARKER_NEED; i <= MARKER_FAIL; i++) {
		struct marker marker = { .kind = (enum marker_kind)i };
		const char *at = marker_find(in->data, in->len, words[i]);

		if (at && marker_line(in, at, words[i], &marker) && (!have || marker.noise < best.noise)) {
			best = marker;
			have = true;
		}
	}
	if (!have || best.noise > PROTOCOL_NOISE_MAX)
		return r < 0 || have ? -EPROTO : 0;
	*ret = best;
	return 1;
}

json_t *hello_json(void)
{
	struct utsname uts = { 0 };

	uname(&uts);
	return json_pack("{s:i,s:i,s:s,s:s,s:I,s:[s,s,s]}", "protocol", PROTOCOL_VERSION, "protocol_min",
			 PROTOCOL_VERSION_MIN, "version", SPARKFAB_VERSION, "arch", uts.machine, "uid",
			 (json_int_t)geteuid(), "features", "gather", "sample", "probe");
}

static bool hello_string(const json_t *json, const char *key, char *out, size_t size)
{
	const json_t *value = json_object_get(json, key);

	return json_is_string(value) && copy_safe(out, size, json_string_value(value), json_string_length(value)) &&
	       out[0];
}

static bool hello_version(const json_t *json, const char *key, int *ret)
{
	json_int_t val = json_integer_value(json_object_get(json, key));

	if (val < 1 || val > 65535)
		return false;
	*ret = (int)val;
	return true;
}

int hello_read(const json_t *json, struct hello *ret, struct fault *reterr)
{
	struct hello hello = { .uid = -1 };

	if (!hello_version(json, "protocol", &hello.protocol) ||
	    !hello_string(json, "version", hello.version, sizeof(hello.version)))
		return fault_set(reterr, EPROTO, "a HELLO without a protocol number or a version");
	if (!hello_version(json, "protocol_min", &hello.protocol_min))
		hello.protocol_min = hello.protocol;
	if (!hello_string(json, "arch", hello.arch, sizeof(hello.arch)))
		memcpy(hello.arch, "unknown", sizeof("unknown"));
	if (json_is_integer(json_object_get(json, "uid")))
		hello.uid = json_integer_value(json_object_get(json, "uid"));
	*ret = hello;
	if (hello.protocol_min > PROTOCOL_VERSION || hello.protocol < PROTOCOL_VERSION_MIN)
		return fault_set(reterr, EPROTONOSUPPORT,
				 "sparkfab-agent %s speaks protocol %d to %d, this sparkfab (%s) speaks %d to %d",
				 hello.version, hello.protocol_min, hello.protocol, SPARKFAB_VERSION,
				 PROTOCOL_VERSION_MIN, PROTOCOL_VERSION);
	return 0;
}
