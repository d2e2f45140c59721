// SPDX-License-Identifier: Apache-2.0
/* The agent's files on this side, and the line that starts or receives one on the other. */
#include "peer/bootstrap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/sha256.h"
#include "peer/protocol.h"

static const char *const known_archs[] = { "x86_64", "aarch64" };

/* The architecture that an ELF header says; NULL for another one or another kind of file. */
static const char *elf_arch(const unsigned char *head, size_t len)
{
	unsigned machine;

	if (len < 20 || memcmp(head, "\177ELF", 4) != 0)
		return NULL;
	machine = head[5] == 2 ? (unsigned)head[18] << 8 | head[19] : (unsigned)head[19] << 8 | head[18];
	if (machine == 62)
		return "x86_64";
	return machine == 183 ? "aarch64" : NULL;
}

static bool is_elf(const unsigned char *head, size_t len)
{
	return len >= 4 && memcmp(head, "\177ELF", 4) == 0;
}

/* Opens a regular file; -errno. */
static int open_regular(const char *path, struct stat *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return -errno;
	if (fstat(fd, ret) < 0)
		err = errno;
	else if (!S_ISREG(ret->st_mode))
		err = EINVAL;
	else if (ret->st_size <= 0 || ret->st_size > (off_t)AGENT_FILE_MAX)
		err = EFBIG;
	else
		return fd;
	close(fd);
	return -err;
}

static ssize_t read_some(int fd, void *out, size_t len)
{
	ssize_t n;

	do
		n = read(fd, out, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* Content hash and architecture of the file at `path`. */
static int describe(const char *path, struct agent_file *ret)
{
	unsigned char chunk[16384];
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;
	struct stat st;
	cleanup_fd int fd = open_regular(path, &st);
	bool first = true;
	ssize_t n;

	if (fd < 0)
		return fd;
	ret->arch = NULL;
	sha256_start(&sum);
	while ((n = read_some(fd, chunk, sizeof(chunk))) > 0) {
		if (first && is_elf(chunk, (size_t)n)) {
			ret->arch = elf_arch(chunk, (size_t)n);
			if (!ret->arch)
				return -ENOEXEC;
		}
		first = false;
		sha256_add(&sum, chunk, (size_t)n);
	}
	if (n < 0)
		return (int)n;
	sha256_finish(&sum, hex);
	memcpy(ret->id, hex, sizeof(ret->id) - 1);
	ret->id[sizeof(ret->id) - 1] = 0;
	return 0;
}

const struct agent_file *agent_files_for(const struct agent_files *files, const char *arch)
{
	for (size_t i = 0; i < files->n; i++)
		if (strcmp(files->items[i].arch, arch) == 0)
			return &files->items[i];
	return NULL;
}

/* Adds the file if it is an agent for an architecture that there is none for yet. */
static int add_file(struct arena *arena, struct agent_files *files, const char *path)
{
	struct agent_file file = { .path = arena_strdup(arena, path) };
	struct utsname uts = { 0 };
	int r = describe(path, &file);

	if (r < 0)
		return r;
	uname(&uts);
	if (!file.arch) /* a wrapper script: taken for this architecture's */
		file.arch = arena_strdup(arena, uts.machine);
	if (!agent_files_for(files, file.arch)) {
		struct agent_file *added = arena_push(arena, &files->items, &files->n);

		*added = file;
	}
	return 0;
}

static void add_from_dir(struct arena *arena, struct agent_files *files, const char *dir)
{
	add_file(arena, files, arena_printf(arena, "%s/sparkfab-agent", dir));
	for (size_t i = 0; i < sizeof(known_archs) / sizeof(known_archs[0]); i++)
		add_file(arena, files, arena_printf(arena, "%s/sparkfab-agent-%s", dir, known_archs[i]));
}

int agent_files_find(struct arena *arena, const char *path, struct agent_files *ret, struct fault *reterr)
{
	static const char *const dirs[] = { "", "/../lib/sparkfab", "/../libexec/sparkfab" };
	char exe[4096];
	ssize_t len;
	char *slash;
	int r;

	*ret = (struct agent_files){ .looked_in = path ? path : "/proc/self/exe" };
	if (path) {
		r = add_file(arena, ret, path);
		return r < 0 ? fault_set(reterr, -r, "the agent's file %s: %s", path, strerror(-r)) : 0;
	}
	len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (len <= 0)
		return 0;
	exe[len] = 0;
	slash = strrchr(exe, '/');
	if (!slash)
		return 0;
	*slash = 0;
	ret->looked_in = arena_strdup(arena, *exe ? exe : "/");
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		add_from_dir(arena, ret, arena_printf(arena, "%s%s", exe, dirs[i]));
	return 0;
}

int agent_file_read(const struct agent_file *file, struct buf *out, struct fault *reterr)
{
	char chunk[65536];
	struct stat st = { 0 };
	cleanup_fd int fd = open_regular(file->path, &st);
	size_t left;
	ssize_t n = 0;

	if (fd < 0)
		return fault_set(reterr, -fd, "the agent's file %s: %s", file->path, strerror(-fd));
	buf_addf(out, "%lld\n", (long long)st.st_size);
	for (left = (size_t)st.st_size; left > 0; left -= (size_t)n) {
		n = read_some(fd, chunk, left < sizeof(chunk) ? left : sizeof(chunk));
		if (n <= 0)
			return fault_set(reterr, n < 0 ? (int)-n : EIO, "the agent's file %s changed while it was read",
					 file->path);
		buf_add(out, chunk, (size_t)n);
	}
	return out->truncated ? fault_set(reterr, EFBIG, "the agent's file %s is too long", file->path) : 0;
}

/*
 * The line in pieces, for sh of any kind (dash, bash, busybox). Everything ends in exec, so that no shell stays between
 * the transport and the agent. Where it may be put: the cache, else a folder that is gone again before the agent runs
 * (started through its descriptor). A folder serves if a file in it may be executed: mounts with noexec are found out
 * before anything is sent. `test -O`: a cache that somebody else can write is no cache.
 */
static const char line_start[] =
	"p=sparkfab-agent; umask 077; c=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/sparkfab; a=$c/agent-$i; t=; "
	"r=nodir; "
	"if [ -n \"$i\" ] && [ -s \"$a\" ] && [ -O \"$a\" ] && [ -O \"$c\" ] && [ -x \"$a\" ]; then exec \"$a\"; fi; "
	"v=$(sparkfab-agent --version </dev/null 2>/dev/null); "
	"if [ \"$v\" = \"sparkfab-agent " SPARKFAB_VERSION "\" ]; then exec sparkfab-agent; fi; "
	"if [ -n \"$v\" ] && { [ $y = 0 ] || [ -z \"$i\" ]; }; then exec sparkfab-agent; fi; "
	"if [ $y = 0 ]; then echo \"$p-none-4f1d2c $m\"; exit 0; fi; ";

static const char line_folder[] =
	"f() { [ -n \"$t\" ] && rm -rf \"$t\"; echo \"$p-fail-4f1d2c $1\"; exit 0; }; "
	"if [ -n \"$i\" ]; then mkdir -p \"$c\" 2>/dev/null; for d in \"$c\" \"${TMPDIR:-/tmp}\" /dev/shm; do "
	"t=$(mktemp -d \"$d/.sparkfab-XXXXXX\" 2>/dev/null) || continue; r=noexec; "
	"{ echo : >\"$t/x\" && chmod 700 \"$t/x\" && \"$t/x\"; } 2>/dev/null && break; rm -rf \"$t\"; t=; done; "
	"[ -n \"$t\" ] || f $r; fi; ";

static const char line_receive[] =
	"echo \"$p-need-4f1d2c $m\"; read -r n || f closed; [ -n \"$t\" ] || f arch; "
	"head -c \"$n\" >\"$t/f\" || f space; [ \"$(wc -c <\"$t/f\")\" -eq \"$n\" ] || f short; "
	"h=$(sha256sum <\"$t/f\" 2>/dev/null); case $h in $i*|\"\") ;; *) f hash;; esac; "
	"chmod 700 \"$t/f\"; \"$t/f\" --version </dev/null >/dev/null || f run; ";

/* The three newest agents of the cache stay. */
static const char line_run[] =
	"case $t in \"$c\"/*) if mv -f \"$t/f\" \"$a\"; then rm -rf \"$t\"; "
	"(cd \"$c\" && ls -t agent-* | tail -n +4 | while read -r o; do rm -f \"$o\"; done); exec \"$a\"; fi;; esac; "
	"exec 3<\"$t/f\"; rm -rf \"$t\"; exec /proc/self/fd/3";

const char *bootstrap_line(struct arena *arena, const struct agent_files *files, bool no_deploy)
{
	cleanup_buf struct buf line = BUF_INIT;

	buf_addf(&line, "y=%d; { read -r m </proc/sys/kernel/arch; } 2>/dev/null || m=$(uname -m); i=; case $m in ", no_deploy ? 0 : 1);
	for (size_t i = 0; i < files->n; i++)
		buf_addf(&line, "%s) i=%s;; ", files->items[i].arch, files->items[i].id);
	buf_adds(&line, "-) ;; esac; ");
	buf_adds(&line, line_start);
	buf_adds(&line, line_folder);
	buf_adds(&line, line_receive);
	buf_adds(&line, line_run);
	return arena_strdup(arena, buf_str(&line));
}

const char *bootstrap_reason(const char *reason)
{
	static const struct {
		const char *word, *text;
	} reasons[] = {
		{ "nodir",
		  "no folder there can be written: neither ~/.cache/sparkfab, nor $TMPDIR or /tmp, nor /dev/shm" },
		{ "noexec", "every folder that can be written there is mounted noexec" },
		{ "space", "it could not be written there: is the disk full?" },
		{ "short", "it did not arrive whole" },
		{ "hash", "it did not arrive as it was sent" },
		{ "run", "it does not run there: is that host's C library older than the one that it was built with?" },
		{ "closed", "the connection was closed before it was sent" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(reason, reasons[i].word) == 0)
			return reasons[i].text;
	return "the start line on that host gave up";
}
