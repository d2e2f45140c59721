// SPDX-License-Identifier: Apache-2.0
/*
 * SHA-256 by OpenSSL's low-level functions. OpenSSL 3 calls them deprecated in favour of EVP, but EVP pulls the whole
 * provider machinery into a static link (megabytes), and the agent has to stay small enough to be copied at first
 * contact.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "core/sha256.h"

#include <openssl/sha.h>
#include <string.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct sha256), "the state of the library fits");

void sha256_start(struct sha256 *sum)
{
	SHA256_CTX ctx;

	*sum = (struct sha256){ 0 };
	SHA256_Init(&ctx);
	memcpy(sum->state, &ctx, sizeof(ctx));
}

void sha256_add(struct sha256 *sum, const void *data, size_t len)
{
	SHA256_CTX ctx;

	if (!len)
		return;
	memcpy(&ctx, sum->state, sizeof(ctx));
	SHA256_Update(&ctx, data, len);
	memcpy(sum->state, &ctx, sizeof(ctx));
}

void sha256_finish(struct sha256 *sum, char out[SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char raw[SHA256_DIGEST_LENGTH];
	SHA256_CTX ctx;

	memcpy(&ctx, sum->state, sizeof(ctx));
	SHA256_Final(raw, &ctx);
	for (size_t i = 0; i < sizeof(raw); i++) {
		out[2 * i] = digits[raw[i] >> 4];
		out[2 * i + 1] = digits[raw[i] & 15];
	}
	out[2 * sizeof(raw)] = '\0';
}

void sha256_hex(const void *data, size_t len, char out[SHA256_HEX_SIZE])
{
	struct sha256 sum;

	sha256_start(&sum);
	sha256_add(&sum, data, len);
	sha256_finish(&sum, out);
}
