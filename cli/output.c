/* SPDX-License-Identifier: Apache-2.0 */
/* Terminal properties and careful writing: output.h. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/text.h"
#include "results/exit_codes.h"

#define DEFAULT_COLUMNS 80
#define MIN_COLUMNS 40

const char *const color_choices[] = { "auto", "always", "never", NULL };

size_t output_columns(void)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	uint64_t n;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		n = size.ws_col;
	else if (!columns || !text_parse_u64(columns, &n) || n > 10000)
		n = DEFAULT_COLUMNS;
	return n < MIN_COLUMNS ? MIN_COLUMNS : (size_t)n;
}

static const char *set_env(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* As setlocale(LC_CTYPE) would find it, without needing that locale to be installed. */
static bool locale_is_utf8(void)
{
	const char *locale = set_env("LC_ALL");

	if (!locale)
		locale = set_env("LC_CTYPE");
	if (!locale)
		locale = set_env("LANG");
	return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

static bool wants_color(enum color_choice choice)
{
	const char *term = getenv("TERM");

	if (choice != COLOR_AUTO)
		return choice == COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !set_env("NO_COLOR") && term && strcmp(term, "dumb");
}

struct report_style output_style(enum color_choice color, bool verbose)
{
	return (struct report_style){
		.columns = output_columns(),
		.color = wants_color(color),
		.unicode = locale_is_utf8(),
		.verbose = verbose,
	};
}

static int write_all(int fd, const struct buf *content)
{
	size_t done = 0;

	while (done < content->len) {
		ssize_t n = write(fd, content->data + done, content->len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			done += (size_t)n;
	}
	return 0;
}

int output_write(const char *who, const struct buf *content, int exit_code)
{
	int err = content->truncated ? -EFBIG : write_all(STDOUT_FILENO, content);

	if (!err)
		return exit_code;
	/* A reader that went away (`| head`) has what it wanted. */
	if (err != -EPIPE)
		fprintf(stderr, "sparkfab %s: standard output could not be written: %s; the report above is incomplete\n", who,
			strerror(-err));
	return EXIT_CODE_IO;
}

static int write_and_sync(int fd, const struct buf *content)
{
	int err = content->truncated ? -EFBIG : write_all(fd, content);

	if (!err && fsync(fd) && errno != EINVAL && errno != EROFS)
		err = -errno;
	return err;
}

/* A device or a pipe is written to; renaming over it would replace it. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/*
 * /dev/stdout where that is a file: renaming would replace the link in /dev, opening would begin at the file's start again.
 * The descriptor that a link leads to; -1: it leads to none of ours, or is no link.
 */
static int descriptor_of_link(const char *path)
{
	struct stat link, target, own;

	if (lstat(path, &link) || !S_ISLNK(link.st_mode) || stat(path, &target))
		return -1;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (!fstat(fd, &own) && own.st_dev == target.st_dev && own.st_ino == target.st_ino)
			return fd;
	return -1;
}

static int write_special(const char *path, const struct buf *content)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : write_all(fd, content);
}

static int write_renamed(const char *path, const struct buf *content)
{
	cleanup_free char *temporary = NULL;
	mode_t mask = umask(0);
	int fd, err;

	umask(mask);
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = write_and_sync(fd, content);
	if (!err && fchmod(fd, 0666 & ~mask))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		unlink(temporary);
	return err;
}

int output_file(const char *path, const struct buf *content, struct fault *reterr)
{
	int own = descriptor_of_link(path), err;

	if (own >= 0)
		err = write_all(own, content);
	else
		err = is_special(path) ? write_special(path, content) : write_renamed(path, content);
	if (err)
		return fault_set(reterr, -err, "%s: not written: %s", path, strerror(-err));
	return 0;
}
