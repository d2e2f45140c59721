/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: many small objects of one lifetime, freed in one call. A snapshot, a result tree, a parsed profile each own one.
 *
 * Out of memory ends the process with exit code 70 and one line on stderr (alloc.h): no caller could do better, and a gate
 * that exits 70 stays closed.
 */
#ifndef SPARKFAB_CORE_ARENA_H
#define SPARKFAB_CORE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena;

struct arena *arena_new(void);
struct arena *arena_free(struct arena *arena); /* NULL is fine; returns NULL */

/* Zeroed memory, aligned for any type, alive until arena_free(). size 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size);

/* An array of `n` zeroed elements; ends the process if n * size overflows. */
void *arena_array(struct arena *arena, size_t n, size_t size);

char *arena_strdup(struct arena *arena, const char *str);
char *arena_strndup(struct arena *arena, const char *str, size_t len); /* stops at a NUL too */
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Bytes handed out so far: for tests and for bounds. */
size_t arena_used(const struct arena *arena);

/*
 * Grows an array that lives in an arena by one zeroed element and returns the new element. `items` and `n` belong to the
 * caller; capacity doubles at powers of two, so the array must only ever have grown through this macro.
 *
 *	struct gid *gid = arena_push(arena, &port->gids, &port->n_gids);
 */
#ifdef __cppcheck__ /* its parser loses its way in __typeof__ */
#define arena_push(arena, items, n) (&(*(items))[(*(n))++])
#else
#define arena_push(arena, items, n) \
	((__typeof__(*(items)))arena_push_(arena, (void **)(items), n, sizeof(**(items))))
#endif
void *arena_push_(struct arena *arena, void **items, size_t *n, size_t size);

#endif
