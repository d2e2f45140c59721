/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the live source: files (source_live.c), netlink (source_live_nl.c), everything else (source_live_facts.c). */
#ifndef SPARKFAB_FACTS_SOURCE_LIVE_H
#define SPARKFAB_FACTS_SOURCE_LIVE_H

#include <jansson.h>
#include <stdint.h>

#include "facts/source.h"

struct live_nl;

/* Sockets are opened when first needed and kept until free. */
struct live_nl *live_nl_new(void);
void live_nl_free(struct live_nl *nl);
int live_nl_ask(struct live_nl *nl, const char *family, const char *command, const char *dev, struct arena *arena,
		const struct nl_object **ret_objects, size_t *ret_n);

/* 128 bytes of a module's EEPROM, page 0, from `offset` (0 or 128). -EOPNOTSUPP where kernel or driver cannot. */
int live_nl_module_read(struct live_nl *nl, const char *dev, unsigned offset, struct arena *arena, uint8_t ret[128]);

struct live_facts;

/* `files` and `nl` answer what a fact needs of them; both must outlive it. */
struct live_facts *live_facts_new(struct source *files, struct live_nl *nl);
void live_facts_free(struct live_facts *facts);
int live_facts_ask(struct live_facts *facts, const char *key, const json_t **ret);

/* The EEPROM's first 256 bytes (lower memory and upper page 0) as the fact "ethtool/module/DEV". NULL: no known layout. */
json_t *module_eeprom_decode(const uint8_t page[256]);

struct live_verbs;

/* The library is opened when first needed; its list of devices is kept until free. */
struct live_verbs *live_verbs_new(void);
void live_verbs_free(struct live_verbs *verbs);

/* The fact "verbs", and "verbs/DEV/PORT"; new references, or NULL and -errno in *ret_err. */
json_t *live_verbs_available(struct live_verbs *verbs);
json_t *live_verbs_port(struct live_verbs *verbs, const char *dev, unsigned port, int *ret_err);

#endif
