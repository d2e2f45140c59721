/* SPDX-License-Identifier: Apache-2.0 */
/* /etc/sparkfab/sparkfab.conf: what this site wants by default. The command line wins. */
#ifndef SPARKFAB_CLI_CONFIG_H
#define SPARKFAB_CLI_CONFIG_H

#include "core/arena.h"
#include "core/fault.h"

struct config {
	const char *profile; /* [check] profile; NULL: detect */
	const char *via;     /* [peers] via; NULL: ssh */
};

#define CONFIG_PATH "/etc/sparkfab/sparkfab.conf"

/* No such file is no error. Unknown sections and keys are: -EINVAL with FILE:LINE. */
int config_read(const char *path, struct arena *arena, struct config *ret, struct fault *reterr);

#endif
