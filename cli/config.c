/* SPDX-License-Identifier: Apache-2.0 */
/* The site's configuration: config.h. */
#include "cli/config.h"

#include <errno.h>
#include <string.h>

#include "core/ini.h"

struct reading {
	struct arena *arena;
	struct config config;
};

static int entry(void *ctx, const char *section, const char *key, const char *value, int line, struct fault *reterr)
{
	struct reading *reading = ctx;

	(void)line;
	if (!strcmp(section, "check") && !strcmp(key, "profile"))
		reading->config.profile = arena_strdup(reading->arena, value);
	else if (!strcmp(section, "peers") && !strcmp(key, "via"))
		reading->config.via = arena_strdup(reading->arena, value);
	else
		return fault_set(reterr, EINVAL, "[%s] %s is not known here; known: [check] profile, [peers] via", section, key);
	return 0;
}

int config_read(const char *path, struct arena *arena, struct config *ret, struct fault *reterr)
{
	struct reading reading = { .arena = arena };
	int err = ini_read_file(path, entry, &reading, reterr);

	if (err && err != -ENOENT)
		return err;
	*ret = reading.config;
	return 0;
}
