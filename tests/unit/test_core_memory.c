// SPDX-License-Identifier: Apache-2.0
/* Arenas, buffers and the cleanups of a scope. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/arena.h"
#include "core/buf.h"

static void test_arena_grows_and_keeps_what_it_gave(void **state)
{
	enum { N = 3000 };
	struct arena *arena = arena_new();
	unsigned char *given[N];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		size_t size = i * 7 % 1000;

		given[i] = arena_alloc(arena, size);
		assert_int_equal((uintptr_t)given[i] % alignof(max_align_t), 0);
		for (size_t k = 0; k < size; k++)
			assert_int_equal(given[i][k], 0);
		memset(given[i], (int)(i % 251), size);
	}
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < i * 7 % 1000; k++)
			assert_int_equal(given[i][k], i % 251);
	assert_in_range(arena_used(arena), 3 * 499500, 3 * 499500 + N * 16);
	assert_null(arena_free(arena));
	assert_null(arena_free(NULL));
}

static void test_arena_takes_an_object_bigger_than_a_block(void **state)
{
	struct arena *arena = arena_new();
	char *small = arena_strdup(arena, "small");
	char *big = arena_alloc(arena, 5u << 20);
	char *next = arena_strdup(arena, "next");

	(void)state;
	big[0] = big[(5u << 20) - 1] = 'x';
	assert_string_equal(small, "small");
	assert_string_equal(next, "next");
	/* The block that was begun stays in use, so the two small ones are neighbours. */
	assert_ptr_equal(next, small + alignof(max_align_t));
	arena_free(arena);
}

static void test_arena_strings(void **state)
{
	struct arena *arena = arena_new();

	(void)state;
	assert_non_null(arena_alloc(arena, 0));
	assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(arena, "ab\0def", 6), "ab");
	assert_string_equal(arena_strndup(arena, "ab", 100), "ab");
	assert_string_equal(arena_printf(arena, "%s=%d", "mtu", 1500), "mtu=1500");
	assert_string_equal(arena_printf(arena, "%s", ""), "");
	assert_int_equal(strlen(arena_printf(arena, "%9000d", 1)), 9000);
	arena_free(arena);
}

struct point {
	int64_t x;
	const char *name;
};

static void test_arena_push(void **state)
{
	struct arena *arena = arena_new();
	struct point *points = NULL;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct point *point = arena_push(arena, &points, &n);

		assert_int_equal(point->x, 0);
		assert_null(point->name);
		point->x = i;
		point->name = "p";
	}
	assert_int_equal(n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(points[i].x, i);
	arena_free(arena);
}

/* Runs `fn` in a child that must end with code 70 and one line. */
static void assert_ends_with_70(void (*fn)(void))
{
	char said[100] = { 0 };
	int status, pair[2];
	pid_t pid;

	assert_int_equal(pipe(pair), 0);
	pid = fork();
	if (!pid) {
		dup2(pair[1], STDERR_FILENO);
		fn();
		_exit(0);
	}
	close(pair[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(read(pair[0], said, sizeof(said) - 1) > 0);
	close(pair[0]);
	assert_string_equal(said, "sparkfab: out of memory\n");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 70);
}

static void overflow_array(void)
{
	arena_array(arena_new(), SIZE_MAX / 2, 3);
}

static void overflow_alloc(void)
{
	arena_alloc(arena_new(), SIZE_MAX - 1);
}

static void overflow_block(void)
{
	arena_alloc(arena_new(), SIZE_MAX - 20);
}

static void overflow_realloc(void)
{
	xreallocarray(NULL, SIZE_MAX / 2, 3);
}

static void test_no_memory_ends_with_70(void **state)
{
	(void)state;
	assert_ends_with_70(overflow_array);
	assert_ends_with_70(overflow_alloc);
	assert_ends_with_70(overflow_block);
	assert_ends_with_70(overflow_realloc);
}

static void test_buf_basics(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT;

	(void)state;
	assert_string_equal(buf_str(&buf), "");
	buf_add(&buf, NULL, 0);
	buf_drop(&buf, 3);
	buf_clear(&buf);
	assert_string_equal(buf_str(&buf), "");
	buf_addf(&buf, "%s", "");
	assert_int_equal(buf.len, 0);
	buf_adds(&buf, "mtu ");
	buf_addf(&buf, "%d", 1500);
	buf_addc(&buf, '!');
	assert_string_equal(buf_str(&buf), "mtu 1500!");
	assert_int_equal(buf.len, 9);
	buf_drop(&buf, 4);
	assert_string_equal(buf_str(&buf), "1500!");
	buf_drop(&buf, 0);
	assert_string_equal(buf_str(&buf), "1500!");
	buf_drop(&buf, 400);
	assert_string_equal(buf_str(&buf), "");
	buf_adds(&buf, "again");
	buf_clear(&buf);
	assert_string_equal(buf_str(&buf), "");
	for (int i = 0; i < 5000; i++)
		buf_addc(&buf, (char)('a' + i % 26));
	assert_int_equal(buf.len, 5000);
	assert_int_equal(strlen(buf_str(&buf)), 5000);
	assert_int_equal(buf.data[4999], 'a' + 4999 % 26);
	assert_false(buf.truncated);
}

static void test_buf_ceiling(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT_MAX(10);

	(void)state;
	buf_adds(&buf, "0123456");
	buf_adds(&buf, "789");
	assert_false(buf.truncated);
	assert_int_equal(buf.len, 10);
	buf_addc(&buf, 'x');
	assert_true(buf.truncated);
	assert_string_equal(buf_str(&buf), "0123456789");
	buf_clear(&buf);
	assert_false(buf.truncated);
	buf_addf(&buf, "%s", "abcdefghijklmnop");
	assert_true(buf.truncated);
	assert_string_equal(buf_str(&buf), "abcdefghij");
	buf_release(&buf);
	assert_int_equal(buf.max, 10);
	assert_null(buf.data);
	buf_adds(&buf, "abcdefghijklmnop");
	assert_string_equal(buf_str(&buf), "abcdefghij");
	assert_in_range(buf.cap, 1, 11);
}

static void test_buf_keeps_nul_bytes(void **state)
{
	cleanup_buf struct buf buf = BUF_INIT;

	(void)state;
	buf_add(&buf, "a\0b", 3);
	buf_addc(&buf, '\0');
	assert_int_equal(buf.len, 4);
	assert_memory_equal(buf.data, "a\0b\0\0", 5);
}

static void test_cleanups(void **state)
{
	int kept;

	(void)state;
	{
		cleanup_free char *text = xstrdup("text");
		cleanup_free int *none = NULL;
		cleanup_fd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		cleanup_fd int no_fd = -1;
		cleanup_file FILE *file = fopen("/dev/null", "re");
		cleanup_file FILE *no_file = NULL;

		assert_string_equal(text, "text");
		assert_null(none);
		assert_non_null(file);
		assert_null(no_file);
		assert_int_equal(no_fd, -1);
		kept = fd;
		errno = ENETDOWN;
	}
	assert_int_equal(errno, ENETDOWN);
	assert_int_equal(fcntl(kept, F_GETFD), -1);
}

static void test_alloc_of_nothing(void **state)
{
	cleanup_free char *none = xcalloc(0, 8);
	cleanup_free char *some = xreallocarray(NULL, 4, 2);

	(void)state;
	assert_non_null(none);
	some = xreallocarray(some, 0, 2);
	assert_non_null(some);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arena_grows_and_keeps_what_it_gave),
		cmocka_unit_test(test_arena_takes_an_object_bigger_than_a_block),
		cmocka_unit_test(test_arena_strings),
		cmocka_unit_test(test_arena_push),
		cmocka_unit_test(test_no_memory_ends_with_70),
		cmocka_unit_test(test_buf_basics),
		cmocka_unit_test(test_buf_ceiling),
		cmocka_unit_test(test_buf_keeps_nul_bytes),
		cmocka_unit_test(test_cleanups),
		cmocka_unit_test(test_alloc_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
