// SPDX-License-Identifier: Apache-2.0
/* Frames, the lines before them, and HELLO: what is accepted, what is not, and that every border holds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "peer/protocol.h"

/* The bytes of one frame are a contract with every released version. */
static void frame_bytes_are_as_documented(void **state)
{
	static const unsigned char want[] = { 0, 0, 0, 2, 'Q', 0xb8, 0x64, 0xfe, 0xce, '{', '}' };
	cleanup_buf struct buf out = BUF_INIT;

	(void)state;
	frame_write(&out, FRAME_REQUEST, "{}", 2);
	assert_int_equal(out.len, sizeof(want));
	assert_memory_equal(out.data, want, sizeof(want));
}

static void frames_come_back_at_every_split(void **state)
{
	cleanup_buf struct buf all = BUF_INIT;

	(void)state;
	frame_write(&all, FRAME_DATA, "a\0b", 3);
	frame_write(&all, FRAME_BYE, NULL, 0);
	for (size_t cut = 0; cut <= all.len; cut++) {
		cleanup_buf struct buf in = BUF_INIT;
		struct frame frame;
		size_t used = 0;
		int r;

		buf_add(&in, all.data, cut);
		r = frame_read(&in, &frame, &used, NULL);
		assert_int_equal(r, cut >= 12 ? 1 : 0);
		buf_add(&in, all.data + cut, all.len - cut);
		assert_int_equal(frame_read(&in, &frame, &used, NULL), 1);
		assert_int_equal(frame.type, FRAME_DATA);
		assert_int_equal(frame.len, 3);
		assert_memory_equal(frame.data, "a\0b", 3);
		buf_drop(&in, used);
		assert_int_equal(frame_read(&in, &frame, &used, NULL), 1);
		assert_int_equal(frame.type, FRAME_BYE);
		assert_int_equal(frame.len, 0);
		assert_int_equal(used, PROTOCOL_HEADER_LEN);
	}
}

static int read_bytes(const void *bytes, size_t len, struct fault *reterr)
{
	cleanup_buf struct buf in = BUF_INIT;
	struct frame frame;
	size_t used;

	buf_add(&in, bytes, len);
	return frame_read(&in, &frame, &used, reterr);
}

static void bad_frames_are_refused(void **state)
{
	cleanup_buf struct buf good = BUF_INIT;
	struct fault fault = { 0 };

	(void)state;
	assert_int_equal(read_bytes("\x80\0\0\0D", 5, &fault), -EPROTO);
	assert_non_null(strstr(fault.msg, "2147483648 bytes"));
	assert_int_equal(read_bytes("\0\x10\0\1D", 5, &fault), -EPROTO);
	assert_int_equal(read_bytes("\0\x10\0\0D", 5, &fault), 0);
	assert_int_equal(read_bytes("\0\0\0\0Z", 5, &fault), -EPROTO);
	assert_int_equal(read_bytes("\0\0\0\0\0", 5, &fault), -EPROTO);
	assert_int_equal(read_bytes("hello, world", 12, &fault), -EPROTO);
	frame_write(&good, FRAME_REPLY, "{\"ok\":true}", 11);
	for (size_t i = 0; i < good.len; i++) {
		good.data[i] ^= 0x20;
		/* A longer length only waits for more; anything else is seen. */
		assert_true(read_bytes(good.data, good.len, NULL) <= 0);
		good.data[i] ^= 0x20;
	}
}

static int json_of(enum frame_type type, const char *text, size_t len, struct fault *reterr)
{
	struct frame frame = { .type = type, .data = text, .len = len };
	json_t *json = NULL;
	int r = frame_json(&frame, &json, reterr);

	json_decref(json);
	return r;
}

static void json_is_bounded(void **state)
{
	struct fault fault = { 0 };
	char deep[200];
	char *big = calloc(1, PROTOCOL_JSON_MAX + 1);

	(void)state;
	assert_int_equal(json_of(FRAME_REPLY, "{\"a\":[1]}", 9, &fault), 0);
	assert_int_equal(json_of(FRAME_REPLY, "[1]", 3, &fault), -EPROTO);
	assert_int_equal(json_of(FRAME_REPLY, "{\"a\":", 5, &fault), -EPROTO);
	assert_int_equal(json_of(FRAME_REPLY, "{\"a\":1,\"a\":2}", 13, &fault), -EPROTO);
	assert_int_equal(json_of(FRAME_REPLY, "{\"a\":\"\xff\"}", 9, &fault), -EPROTO);
	assert_int_equal(json_of(FRAME_REPLY, "{\"a\":1} x", 9, &fault), -EPROTO);
	memset(deep, '[', sizeof(deep));
	assert_int_equal(json_of(FRAME_REPLY, deep, sizeof(deep), &fault), -EPROTO);
	assert_non_null(strstr(fault.msg, "deeper than 32"));
	/* Brackets in strings are no depth, also behind an escaped quote. */
	assert_int_equal(json_of(FRAME_REPLY, "{\"a\":\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"}", 50, &fault),
			 0);
	memset(big, ' ', PROTOCOL_JSON_MAX + 1);
	memcpy(big, "{}", 2);
	assert_int_equal(json_of(FRAME_REPLY, big, PROTOCOL_JSON_MAX, &fault), 0);
	assert_int_equal(json_of(FRAME_REPLY, big, PROTOCOL_JSON_MAX + 1, &fault), -EPROTO);
	free(big);
}

static void magic_is_found_behind_noise(void **state)
{
	static const char noise[] = "Welcome!\nno newline at its end:";

	(void)state;
	for (size_t extra = 0; extra < 3; extra++) {
		cleanup_buf struct buf in = BUF_INIT;
		size_t n = 99, used = 99;

		buf_adds(&in, noise);
		buf_adds(&in, PROTOCOL_MAGIC);
		assert_int_equal(magic_hunt(&in, &n, &used), 0);
		buf_addc(&in, '\n');
		buf_add(&in, "xyz", extra);
		assert_int_equal(magic_hunt(&in, &n, &used), 1);
		assert_int_equal(n, sizeof(noise) - 1);
		assert_int_equal(used, sizeof(noise) - 1 + strlen(PROTOCOL_MAGIC) + 1);
	}
}

static void noise_has_a_limit(void **state)
{
	static char noise[PROTOCOL_NOISE_MAX + 200];
	cleanup_buf struct buf most = BUF_INIT, more = BUF_INIT;
	size_t n, used;

	(void)state;
	memset(noise, 'n', sizeof(noise));
	buf_add(&most, noise, PROTOCOL_NOISE_MAX);
	assert_int_equal(magic_hunt(&most, &n, &used), 0);
	buf_adds(&most, PROTOCOL_MAGIC "\n");
	assert_int_equal(magic_hunt(&most, &n, &used), 1);
	assert_int_equal(n, PROTOCOL_NOISE_MAX);
	buf_add(&more, noise, PROTOCOL_NOISE_MAX + 1);
	buf_adds(&more, PROTOCOL_MAGIC "\n");
	assert_int_equal(magic_hunt(&more, &n, &used), -EPROTO);
	buf_clear(&more);
	buf_add(&more, noise, sizeof(noise));
	assert_int_equal(magic_hunt(&more, &n, &used), -EPROTO);
}

static int hunt(const char *text, struct marker *ret)
{
	cleanup_buf struct buf in = BUF_INIT;

	buf_adds(&in, text);
	return marker_hunt(&in, ret);
}

static void markers_are_told_apart(void **state)
{
	struct marker marker;

	(void)state;
	assert_int_equal(hunt("", &marker), 0);
	assert_int_equal(hunt("hi\n" PROTOCOL_NEED " aarch64", &marker), 0);
	assert_int_equal(hunt("hi\n" PROTOCOL_NEED " aarch64\nrest", &marker), 1);
	assert_int_equal(marker.kind, MARKER_NEED);
	assert_string_equal(marker.arg, "aarch64");
	assert_int_equal(marker.noise, 3);
	assert_int_equal(marker.used, 3 + strlen(PROTOCOL_NEED) + 9);
	assert_int_equal(hunt(PROTOCOL_NONE " x86_64\n" PROTOCOL_MAGIC "\n", &marker), 1);
	assert_int_equal(marker.kind, MARKER_NONE);
	assert_int_equal(hunt("a" PROTOCOL_MAGIC "\n" PROTOCOL_NEED " x\n", &marker), 1);
	assert_int_equal(marker.kind, MARKER_STREAM);
	assert_int_equal(marker.noise, 1);
	assert_int_equal(hunt(PROTOCOL_FAIL " noexec\n", &marker), 1);
	assert_int_equal(marker.kind, MARKER_FAIL);
	assert_string_equal(marker.arg, "noexec");
	assert_int_equal(hunt(PROTOCOL_FAIL " \033]0;x\a\n", &marker), 1);
	assert_string_equal(marker.arg, "");
	assert_int_equal(hunt(PROTOCOL_NEED "\n", &marker), 1);
	assert_string_equal(marker.arg, "");
}

static int hello(const char *text, struct hello *ret, struct fault *reterr)
{
	json_t *json = json_loads(text, 0, NULL);
	int r;

	assert_non_null(json);
	r = hello_read(json, ret, reterr);
	json_decref(json);
	return r;
}

static void hello_versions_overlap_or_not(void **state)
{
	struct hello got;
	struct fault fault = { 0 };
	json_t *own = hello_json();

	(void)state;
	assert_int_equal(hello_read(own, &got, &fault), 0);
	assert_string_equal(got.version, SPARKFAB_VERSION);
	json_decref(own);
	assert_int_equal(hello("{\"protocol\":1,\"version\":\"0.1\",\"arch\":\"aarch64\",\"uid\":1000}", &got, &fault),
			 0);
	assert_string_equal(got.arch, "aarch64");
	assert_int_equal(got.uid, 1000);
	/* A newer one that still speaks ours. */
	assert_int_equal(hello("{\"protocol\":7,\"protocol_min\":1,\"version\":\"9\"}", &got, &fault), 0);
	assert_int_equal(hello("{\"protocol\":7,\"protocol_min\":2,\"version\":\"9\"}", &got, &fault),
			 -EPROTONOSUPPORT);
	assert_string_equal(got.version, "9");
	assert_non_null(strstr(fault.msg, "speaks protocol 2 to 7"));
	assert_int_equal(hello("{\"protocol\":2,\"version\":\"9\"}", &got, &fault), -EPROTONOSUPPORT);
	assert_int_equal(hello("{\"protocol\":0,\"version\":\"9\"}", &got, &fault), -EPROTO);
	assert_int_equal(hello("{\"protocol\":\"1\",\"version\":\"9\"}", &got, &fault), -EPROTO);
	assert_int_equal(hello("{\"protocol\":1}", &got, &fault), -EPROTO);
	assert_int_equal(hello("{\"protocol\":1,\"version\":\"\\u001b[2J\"}", &got, &fault), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frame_bytes_are_as_documented), cmocka_unit_test(frames_come_back_at_every_split),
		cmocka_unit_test(bad_frames_are_refused),        cmocka_unit_test(json_is_bounded),
		cmocka_unit_test(magic_is_found_behind_noise),   cmocka_unit_test(noise_has_a_limit),
		cmocka_unit_test(markers_are_told_apart),        cmocka_unit_test(hello_versions_overlap_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
