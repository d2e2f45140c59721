/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 as lower-case hex: names of agents in a peer's cache, hashed machine ids, files of a bundle. */
#ifndef SPARKFAB_CORE_SHA256_H
#define SPARKFAB_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX_SIZE 65 /* 64 digits and the NUL */

struct sha256 {
	uint64_t state[16]; /* of the library; not to be looked at */
};

void sha256_hex(const void *data, size_t len, char out[SHA256_HEX_SIZE]);

/* For what comes in parts: start, add …, finish (once). */
void sha256_start(struct sha256 *sum);
void sha256_add(struct sha256 *sum, const void *data, size_t len);
void sha256_finish(struct sha256 *sum, char out[SHA256_HEX_SIZE]);

#endif
