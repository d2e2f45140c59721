/* SPDX-License-Identifier: Apache-2.0 */
/* Memory outside an arena. Out of memory ends the process with exit code 70 and one line on stderr. */
#ifndef SPARKFAB_CORE_ALLOC_H
#define SPARKFAB_CORE_ALLOC_H

#include <stddef.h>
#include <stdio.h>

void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *ptr, size_t n, size_t size);
char *xstrdup(const char *str);

/* Attributes that free on the way out of a scope. */
void cleanup_free_(void *pptr);
void cleanup_fd_(int *fd); /* closes if >= 0, keeps errno */
void cleanup_file_(FILE **file);
#define cleanup_free __attribute__((cleanup(cleanup_free_)))
#define cleanup_fd __attribute__((cleanup(cleanup_fd_)))
#define cleanup_file __attribute__((cleanup(cleanup_file_)))

#endif
