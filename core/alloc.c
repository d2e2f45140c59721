// SPDX-License-Identifier: Apache-2.0
/* Memory that is there or the process ends, and the cleanups of a scope. */
#include "core/alloc.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_INTERNAL 70

/* _exit() and not exit(): half of a document in stdout's buffer must not be taken for a whole one. */
static _Noreturn void out_of_memory(void)
{
	static const char msg[] = "sparkfab: out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, msg, sizeof(msg) - 1);

	(void)ignored;
	_exit(EXIT_INTERNAL);
}

/* Asked before malloc is: no object can be larger, and sanitizers end the process in their own way on such a size. */
static size_t product(size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total) || total > PTRDIFF_MAX)
		out_of_memory();
	return total ? total : 1;
}

void *xcalloc(size_t n, size_t size)
{
	void *ptr = calloc(1, product(n, size));

	if (!ptr)
		out_of_memory();
	return ptr;
}

void *xreallocarray(void *ptr, size_t n, size_t size)
{
	void *bigger = realloc(ptr, product(n, size));

	if (!bigger)
		out_of_memory();
	return bigger;
}

char *xstrdup(const char *str)
{
	char *copy = strdup(str);

	if (!copy)
		out_of_memory();
	return copy;
}

void cleanup_free_(void *pptr)
{
	void *ptr;

	/* The parameter points to a pointer of any type; reading it as void * would break the aliasing rules. */
	memcpy(&ptr, pptr, sizeof(ptr));
	free(ptr);
}

void cleanup_fd_(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

void cleanup_file_(FILE **file)
{
	int saved = errno;

	if (*file)
		fclose(*file);
	errno = saved;
}
