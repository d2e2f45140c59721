// SPDX-License-Identifier: Apache-2.0
/* An arena as a list of blocks: each next one is bigger, so that few calls of malloc serve any size of snapshot. */
#include "core/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

#define FIRST_BLOCK 4096u
#define LARGEST_BLOCK (256u << 10)
#define ALIGNMENT alignof(max_align_t)

struct block {
	struct block *next;
	size_t used, size; /* of data[] */
	alignas(max_align_t) char data[];
};

struct arena {
	struct block *blocks; /* the one that is being filled first */
	size_t next_size;
	size_t used;
};

struct arena *arena_new(void)
{
	struct arena *arena = xcalloc(1, sizeof(*arena));

	arena->next_size = FIRST_BLOCK;
	return arena;
}

struct arena *arena_free(struct arena *arena)
{
	struct block *block = arena ? arena->blocks : NULL;

	while (block) {
		struct block *next = block->next;

		free(block);
		block = next;
	}
	free(arena);
	return NULL;
}

/* An object too big for a common block gets one of its own behind the first, whose free rest stays in use. */
static struct block *add_block(struct arena *arena, size_t need)
{
	size_t size = need > arena->next_size ? need : arena->next_size;
	struct block *block;

	if (size > SIZE_MAX - sizeof(*block))
		xreallocarray(NULL, SIZE_MAX, 2); /* ends the process */
	block = xcalloc(1, sizeof(*block) + size);
	block->size = size;
	if (need > arena->next_size && arena->blocks) {
		block->next = arena->blocks->next;
		arena->blocks->next = block;
		return block;
	}
	block->next = arena->blocks;
	arena->blocks = block;
	if (arena->next_size < LARGEST_BLOCK)
		arena->next_size *= 2;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct block *block = arena->blocks;
	size_t need = size ? size : 1;
	void *ptr;

	if (need > SIZE_MAX - ALIGNMENT)
		xreallocarray(NULL, SIZE_MAX, 2); /* ends the process */
	need = (need + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!block || block->size - block->used < need)
		block = add_block(arena, need);
	ptr = block->data + block->used;
	block->used += need;
	arena->used += need;
	return ptr;
}

void *arena_array(struct arena *arena, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		xreallocarray(NULL, n, size); /* ends the process */
	return arena_alloc(arena, total);
}

char *arena_strndup(struct arena *arena, const char *str, size_t len)
{
	size_t n = strnlen(str, len);
	char *copy = arena_alloc(arena, n + 1);

	memcpy(copy, str, n);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *str)
{
	return arena_strndup(arena, str, strlen(str));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
	va_list again;
	char *str;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len < 0) /* over INT_MAX, or a wide character that the locale lacks: nothing of ours does either */
		return arena_strdup(arena, "");
	str = arena_alloc(arena, (size_t)len + 1);
	vsnprintf(str, (size_t)len + 1, format, args);
	return str;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list args;
	char *str;

	va_start(args, format);
	str = arena_vprintf(arena, format, args);
	va_end(args);
	return str;
}

size_t arena_used(const struct arena *arena)
{
	return arena->used;
}

void *arena_push_(struct arena *arena, void **items, size_t *n, size_t size)
{
	/* Full exactly at 0 and at each power of two: no room for a capacity in the caller's structs is needed. */
	if ((*n & (*n - 1)) == 0) {
		void *bigger = arena_array(arena, *n ? *n * 2 : 1, size);

		if (*n)
			memcpy(bigger, *items, *n * size);
		*items = bigger;
	}
	return (char *)*items + (*n)++ * size;
}
