// SPDX-License-Identifier: Apache-2.0
/* SHA-256 against the published vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/sha256.h"

static void test_vectors(void **state)
{
	char out[SHA256_HEX_SIZE];

	(void)state;
	sha256_hex("", 0, out);
	assert_string_equal(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_hex(NULL, 0, out);
	assert_string_equal(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_hex("abc", 3, out);
	assert_string_equal(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, out);
	assert_string_equal(out, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void test_parts_give_the_same(void **state)
{
	char whole[SHA256_HEX_SIZE], parts[SHA256_HEX_SIZE];
	unsigned char data[1000];
	struct sha256 sum;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 31);
	sha256_hex(data, sizeof(data), whole);
	sha256_start(&sum);
	for (size_t at = 0, n = 1; at < sizeof(data); n = n * 2 + 1) {
		if (n > sizeof(data) - at)
			n = sizeof(data) - at;
		sha256_add(&sum, data + at, n);
		sha256_add(&sum, data, 0);
		at += n;
	}
	sha256_finish(&sum, parts);
	assert_string_equal(parts, whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_parts_give_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
