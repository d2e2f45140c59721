/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line: progress.h. */
#include "cli/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/text.h"

#define LINE_MAX_COLUMNS 78

static bool is_wanted(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
}

static void show_line(const char *line)
{
	cleanup_buf struct buf visible = BUF_INIT;

	if (!is_wanted())
		return;
	text_add_visible(&visible, line, strlen(line));
	/* Cut by bytes: longer than any honest line, and never wider than that many columns. */
	fprintf(stderr, "\r\033[K%.*s", LINE_MAX_COLUMNS, buf_str(&visible));
	fflush(stderr);
}

void progress_show(void *ctx, const struct peer *peer, const char *what)
{
	cleanup_buf struct buf line = BUF_INIT;

	(void)ctx;
	buf_addf(&line, "%s: %s", peer->name, what);
	show_line(buf_str(&line));
}

void progress_say(const char *what)
{
	show_line(what);
}

void progress_clear(void)
{
	if (is_wanted()) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
}
