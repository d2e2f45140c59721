// SPDX-License-Identifier: Apache-2.0
/* Building the result tree: findings and what belongs to each. The verdict over all of them is in verdict.c. */
#include "results/results.h"

#include <stdarg.h>
#include <string.h>

/*
 * Strings kept once. A thousand hosts of eight ports say the same ids, names and origins in half a million findings, and a
 * pointer then stands for the text: hosts are compared as pointers.
 */
struct string_pool {
	const char **slots; /* open addressing; NULL is free */
	size_t n_slots;	    /* a power of two */
	size_t n_used;
};

#define POOL_FIRST_SLOTS 256u

/* FNV-1a, its upper bits folded in: names that differ in a digit must not land side by side. */
static size_t string_hash(const char *str)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *str; str++)
		hash = (hash ^ (unsigned char)*str) * UINT64_C(0x100000001b3);
	return (size_t)(hash ^ hash >> 32);
}

static const char **pool_slot(const struct string_pool *pool, const char *str)
{
	size_t i = string_hash(str) & (pool->n_slots - 1);

	while (pool->slots[i] && strcmp(pool->slots[i], str) != 0)
		i = (i + 1) & (pool->n_slots - 1);
	return &pool->slots[i];
}

static void pool_grow(struct results *results)
{
	struct string_pool *pool = results->pool, old = *pool;

	pool->n_slots = old.n_slots ? old.n_slots * 2 : POOL_FIRST_SLOTS;
	pool->slots = arena_array(results->arena, pool->n_slots, sizeof(*pool->slots));
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slots[i])
			*pool_slot(pool, old.slots[i]) = old.slots[i];
}

/* The one copy of `str` that lives as long as the results; NULL stays NULL. */
static const char *keep(struct results *results, const char *str)
{
	struct string_pool *pool = results->pool;
	const char **slot;

	if (!str)
		return NULL;
	if (pool->n_used * 2 >= pool->n_slots)
		pool_grow(results);
	slot = pool_slot(pool, str);
	if (!*slot) {
		*slot = arena_strdup(results->arena, str);
		pool->n_used++;
	}
	return *slot;
}

struct results *results_new(void)
{
	struct arena *arena = arena_new();
	struct results *results = arena_alloc(arena, sizeof(*results));

	results->arena = arena;
	results->pool = arena_alloc(arena, sizeof(*results->pool));
	results->verdict = VERDICT_UNKNOWN; /* until results_finish() has decided */
	results->verdict_why = "nothing was judged";
	return results;
}

struct results *results_free(struct results *results)
{
	if (results)
		arena_free(results->arena);
	return NULL;
}

struct finding *finding_add(struct results *results, const char *check, enum verdict verdict, const char *subject,
			    const char *format, ...)
{
	struct finding *finding = arena_push(results->arena, &results->findings, &results->n_findings);
	va_list args;

	finding->check = keep(results, check);
	finding->verdict = verdict;
	finding->subject = keep(results, subject ? subject : "");
	finding->seq = results->n_findings - 1;
	va_start(args, format);
	finding->message = arena_vprintf(results->arena, format, args);
	va_end(args);
	return finding;
}

void finding_host(struct results *results, struct finding *finding, const char *host)
{
	const char *kept = keep(results, host);

	if (!kept)
		return;
	for (size_t i = 0; i < finding->n_hosts; i++)
		if (finding->hosts[i] == kept)
			return;
	*arena_push(results->arena, &finding->hosts, &finding->n_hosts) = kept;
}

void finding_num(struct results *results, struct finding *finding, const char *host, const char *name, struct num value,
		 const char *unit)
{
	struct evidence *evidence = arena_push(results->arena, &finding->evidence, &finding->n_evidence);

	evidence->host = keep(results, host);
	evidence->name = keep(results, name);
	evidence->num = value;
	evidence->num.origin = keep(results, value.origin);
	evidence->unit = keep(results, unit);
}

void finding_text(struct results *results, struct finding *finding, const char *host, const char *name, struct text value)
{
	struct evidence *evidence = arena_push(results->arena, &finding->evidence, &finding->n_evidence);

	evidence->host = keep(results, host);
	evidence->name = keep(results, name);
	evidence->is_text = true;
	evidence->text = value;
	/* val means nothing beside an err, and may then be any pointer. */
	evidence->text.val = value.err ? NULL : keep(results, value.val);
	evidence->text.origin = keep(results, value.origin);
}

void finding_expect(struct results *results, struct finding *finding, const char *source, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	finding->expected = arena_vprintf(results->arena, format, args);
	va_end(args);
	finding->expected_source = keep(results, source);
}

void finding_remedy(struct results *results, struct finding *finding, struct remedy remedy)
{
	struct remedy *copy = arena_push(results->arena, &finding->remedies, &finding->n_remedies);

	*copy = remedy;
	copy->host = keep(results, remedy.host);
	copy->command = keep(results, remedy.command);
	copy->advice = keep(results, remedy.advice);
	copy->disturbs = keep(results, remedy.disturbs);
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = {
		[VERDICT_PASS] = "pass",       [VERDICT_SKIP] = "skip", [VERDICT_WARN] = "warn",
		[VERDICT_UNKNOWN] = "unknown", [VERDICT_FAIL] = "fail",
	};

	return names[verdict];
}

const char *level_name(enum level level)
{
	static const char *const names[] = { [LEVEL_PASSIVE] = "passive", [LEVEL_PROBE] = "probe", [LEVEL_FULL] = "full" };

	return names[level];
}
