/* SPDX-License-Identifier: Apache-2.0 */
/* One line on stderr while peers are asked; only on a terminal, gone when the report comes. */
#ifndef SPARKFAB_CLI_PROGRESS_H
#define SPARKFAB_CLI_PROGRESS_H

#include "peer/peer.h"

/* A peers_progress_fn; ctx is not used. */
void progress_show(void *ctx, const struct peer *peer, const char *what);
void progress_say(const char *what);
void progress_clear(void);

#endif
