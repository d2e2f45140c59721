// SPDX-License-Identifier: Apache-2.0
/* The live machine: files below a root descriptor; netlink and facts are handed on. Reads only. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "facts/record_private.h"
#include "facts/source_live.h"
#include "facts/source_private.h"

#define FILE_MAX (1u << 20)
#define BLOCK 4096u /* sysfs gives no attribute more than a page */

struct source_live {
	struct source source;
	int root_fd;
	int root_err; /* errno of opening the root */
	bool is_machine; /* the root is "/": only then netlink and libraries speak of the same host */
	/* The directory read from last: attributes are read a folder at a time, and the way there is long. */
	int dir_fd;
	char *dir_path;
	struct live_nl *nl;
	struct live_facts *facts;
};

static struct source_live *live_of(struct source *source)
{
	return (struct source_live *)source;
}

/* Below the root descriptor, so without the leading slash. */
static const char *relative(const char *path)
{
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

/* A descriptor to open `path` from, and what is left of the path then. */
static int directory_of(struct source_live *live, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	*ret_name = relative(path);
	if (len == 0)
		return live->root_fd;
	if (!live->dir_path || strncmp(live->dir_path, path, len) != 0 || live->dir_path[len]) {
		if (live->dir_fd >= 0)
			close(live->dir_fd);
		free(live->dir_path);
		live->dir_path = xstrdup(path);
		live->dir_path[len] = '\0';
		live->dir_fd = openat(live->root_fd, relative(live->dir_path), O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	if (live->dir_fd < 0)
		return live->root_fd;
	*ret_name = slash + 1;
	return live->dir_fd;
}

static ssize_t read_again(int fd, void *data, size_t len)
{
	ssize_t n;

	do
		n = read(fd, data, len);
	while (n < 0 && errno == EINTR);
	return n;
}

/* What follows the first block, of a file that did not end with it. */
static int read_rest(int fd, struct buf *content)
{
	char block[16384];
	ssize_t n;

	while ((n = read_again(fd, block, sizeof(block))) > 0) {
		buf_add(content, block, (size_t)n);
		if (content->truncated)
			return -EFBIG;
	}
	return n < 0 ? -errno : 0;
}

/*
 * A stanza for each of hundreds of processors, and the kernel asks each for its clock: the first stanza says all that
 * anybody wants.
 */
static bool is_first_stanza_enough(const char *path)
{
	return strcmp(path, "/proc/cpuinfo") == 0;
}

static size_t first_stanza_len(const char *text, size_t len)
{
	const char *blank = memmem(text, len, "\n\n", 2);

	return blank ? (size_t)(blank + 1 - text) : len;
}

static int live_read(struct source *source, const char *path, struct arena *arena, const char **ret_text, size_t *ret_len)
{
	struct source_live *live = live_of(source);
	struct buf content cleanup_buf = BUF_INIT_MAX(FILE_MAX);
	char block[BLOCK], *text;
	const char *name;
	int dir = directory_of(live, path, &name);
	int fd cleanup_fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -(live->root_err ? live->root_err : errno);
	n = read_again(fd, block, sizeof(block));
	if (n < 0)
		return -errno;
	if (is_first_stanza_enough(path))
		n = (ssize_t)first_stanza_len(block, (size_t)n);
	buf_add(&content, block, (size_t)n);
	/* One read gives a whole sysfs attribute; asking for the end would double the calls. */
	if (n == (ssize_t)sizeof(block) ||
	    (n > 0 && strncmp(path, "/sys/", 5) != 0 && !is_first_stanza_enough(path))) {
		int rc = read_rest(fd, &content);

		if (rc < 0)
			return rc;
	}
	text = arena_alloc(arena, content.len + 1);
	memcpy(text, buf_str(&content), content.len);
	*ret_text = text;
	*ret_len = content.len;
	return 0;
}

static int live_link(struct source *source, const char *path, struct arena *arena, const char **ret_target)
{
	struct source_live *live = live_of(source);
	char target[PATH_MAX];
	const char *name;
	int dir = directory_of(live, path, &name);
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n < 0)
		return -(live->root_err ? live->root_err : errno);
	if (n == (ssize_t)sizeof(target))
		return -ENAMETOOLONG;
	*ret_target = arena_strndup(arena, target, (size_t)n);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return record_key_compare(*(const char *const *)a, *(const char *const *)b);
}

static int live_list(struct source *source, const char *path, struct arena *arena, const char ***ret_names, size_t *ret_n)
{
	struct source_live *live = live_of(source);
	const char **names = NULL;
	size_t n = 0;
	struct dirent *entry;
	DIR *dir;
	int err, fd = openat(live->root_fd, relative(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -(live->root_err ? live->root_err : errno);
	dir = fdopendir(fd);
	if (!dir) {
		err = errno;
		close(fd);
		return -err;
	}
	for (errno = 0; (entry = readdir(dir)); errno = 0)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			*(const char **)arena_push(arena, &names, &n) = arena_strdup(arena, entry->d_name);
	err = errno;
	closedir(dir);
	if (err)
		return -err;
	if (n)
		qsort(names, n, sizeof(*names), compare_names);
	*ret_names = names;
	*ret_n = n;
	return 0;
}

static int live_nl(struct source *source, const char *family, const char *command, const char *dev, struct arena *arena,
		   const struct nl_object **ret_objects, size_t *ret_n)
{
	struct source_live *live = live_of(source);

	if (!live->is_machine)
		return -ENODATA;
	return live_nl_ask(live->nl, family, command, dev, arena, ret_objects, ret_n);
}

static int live_fact(struct source *source, const char *key, const json_t **ret)
{
	struct source_live *live = live_of(source);

	return live->is_machine ? live_facts_ask(live->facts, key, ret) : -ENODATA;
}

static bool live_is_live(const struct source *source)
{
	return ((const struct source_live *)source)->is_machine;
}

static void live_free(struct source *source)
{
	struct source_live *live = live_of(source);

	live_facts_free(live->facts);
	live_nl_free(live->nl);
	if (live->dir_fd >= 0)
		close(live->dir_fd);
	if (live->root_fd >= 0)
		close(live->root_fd);
	free(live->dir_path);
	free(live);
}

static const struct source_ops live_ops = {
	.read = live_read, .link = live_link, .list = live_list, .nl = live_nl, .fact = live_fact,
	.is_live = live_is_live, .free = live_free,
};

struct source *source_live_new(const char *root)
{
	struct source_live *live = xcalloc(1, sizeof(*live));

	live->source.ops = &live_ops;
	live->source.sample = 1;
	live->dir_fd = -1;
	live->is_machine = strcmp(root, "/") == 0;
	live->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	live->root_err = live->root_fd < 0 ? errno : 0;
	live->nl = live_nl_new();
	live->facts = live_facts_new(&live->source, live->nl);
	return &live->source;
}
