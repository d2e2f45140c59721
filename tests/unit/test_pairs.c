// SPDX-License-Identifier: Apache-2.0
/* Hosts sorted into kinds, and pairs of them put into groups: on fabrics made here by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "core/arena.h"
#include "rules/pairs.h"

#define PORTS 2

/* Hosts with two ports each, eth-like; port p of every host is on rail p until it is taken off. */
struct made {
	struct arena *arena;
	struct fabric *fabric;
	struct profile profile;
	struct pairs *pairs;
};

static struct rdma_port *made_port(struct made *m, size_t h, size_t p)
{
	return m->fabric->hosts[h]->ports[p];
}

static struct snapshot *made_host(struct made *m, size_t h)
{
	static const char *const names[PORTS] = { "mlx5_0/1", "mlx5_1/1" };
	struct snapshot *host = arena_alloc(m->arena, sizeof(*host));
	struct rdma_port *ports = arena_array(m->arena, PORTS, sizeof(*ports));

	host->name = arena_printf(m->arena, "h%zu", h);
	host->n_ports = PORTS;
	host->ports = arena_array(m->arena, PORTS, sizeof(struct rdma_port *));
	for (size_t p = 0; p < PORTS; p++) {
		ports[p].name = names[p];
		ports[p].state = num_of(PORT_ACTIVE, NULL);
		ports[p].link_layer = num_of(LINK_LAYER_ETHERNET, NULL);
		ports[p].mtu_bytes = num_of(4096, NULL);
		host->ports[p] = &ports[p];
	}
	return host;
}

static struct made make(size_t n)
{
	struct made m = { .arena = arena_new() };
	struct fabric *fabric = arena_alloc(m.arena, sizeof(*fabric));

	m.fabric = fabric;
	fabric->n_hosts = n;
	fabric->hosts = arena_array(m.arena, n, sizeof(*fabric->hosts));
	fabric->n_infos = n * PORTS;
	fabric->infos = arena_array(m.arena, fabric->n_infos, sizeof(*fabric->infos));
	fabric->ports = arena_array(m.arena, n, sizeof(*fabric->ports));
	fabric->n_rails = PORTS;
	fabric->rails = arena_array(m.arena, PORTS, sizeof(*fabric->rails));
	for (size_t p = 0; p < PORTS; p++) {
		fabric->rails[p].n_ends = n;
		fabric->rails[p].ends = arena_array(m.arena, n, sizeof(struct rail_end));
	}
	for (size_t h = 0; h < n; h++) {
		fabric->hosts[h] = made_host(&m, h);
		fabric->ports[h] = fabric->infos + h * PORTS;
		for (size_t p = 0; p < PORTS; p++) {
			struct rail_end *end = &fabric->rails[p].ends[h];

			*end = (struct rail_end){ .host = fabric->hosts[h], .port = made_port(&m, h, p) };
			fabric->ports[h][p] = (struct port_info){ .port = end->port,
								  .use = PORT_USED_ADDRESS,
								  .rail = &fabric->rails[p],
								  .end = end,
								  .host = h };
		}
	}
	return m;
}

static void take_off(struct made *m, size_t h, size_t p)
{
	m->fabric->ports[h][p].rail = NULL;
	m->fabric->ports[h][p].end = NULL;
}

static void made_free(struct made *m)
{
	pairs_free(m->pairs);
	arena_free(m->arena);
}

static void test_alike_hosts_are_one_kind(void **state)
{
	struct made m = make(100);
	const struct host_kind *kind;

	(void)state;
	m.pairs = pairs_new(m.fabric, &m.profile);
	assert_int_equal(m.pairs->n_kinds, 1);
	kind = kind_of_host(m.pairs, 99);
	assert_int_equal(kind->n, 100);
	assert_ptr_equal(kind->host, m.fabric->hosts[0]);
	assert_int_equal(rails_joined(kind, kind), 2);
	assert_int_equal(rails_live(kind, kind), 2);
	assert_int_equal(pairs_between(kind, kind), 4950);
	assert_false(kinds_are_cut(kind, kind));
	assert_false(m.pairs->mtus_differ[0]);
	made_free(&m);
}

static void test_what_makes_a_kind(void **state)
{
	struct made m = make(6);

	(void)state;
	made_port(&m, 1, 0)->state = num_of(PORT_DOWN, NULL);	 /* its rail is joined and not live */
	take_off(&m, 2, 1);					 /* on one rail only */
	m.fabric->ports[3][1].use = PORT_UNUSED;		 /* idle */
	m.fabric->rails[0].ends[4].proof = PROOF_REFUTED;	 /* silent */
	made_port(&m, 5, 1)->mtu_bytes = num_of(1024, NULL);	 /* nothing that pairs are judged by */
	m.pairs = pairs_new(m.fabric, &m.profile);
	assert_int_equal(m.pairs->n_kinds, 5);
	assert_ptr_equal(kind_of_host(m.pairs, 0), kind_of_host(m.pairs, 5));
	assert_int_equal(rails_joined(kind_of_host(m.pairs, 0), kind_of_host(m.pairs, 1)), 2);
	assert_int_equal(rails_live(kind_of_host(m.pairs, 0), kind_of_host(m.pairs, 1)), 1);
	assert_int_equal(rails_joined(kind_of_host(m.pairs, 0), kind_of_host(m.pairs, 2)), 1);
	assert_true(kind_of_host(m.pairs, 3)->has_idle);
	assert_int_equal(rails_live(kind_of_host(m.pairs, 4), kind_of_host(m.pairs, 0)), 1);
	assert_true(kind_is_on_rail(m.pairs, kind_of_host(m.pairs, 2), &m.fabric->rails[0]));
	assert_false(kind_is_on_rail(m.pairs, kind_of_host(m.pairs, 2), &m.fabric->rails[1]));
	assert_false(m.pairs->mtus_differ[0]);
	assert_true(m.pairs->mtus_differ[1]);
	made_free(&m);
}

/* More rails than a word has bits. */
static void test_many_rails(void **state)
{
	struct made m = make(2);
	struct rail *rails = arena_array(m.arena, 130, sizeof(*rails));

	(void)state;
	rails[0] = m.fabric->rails[0];
	rails[129] = m.fabric->rails[1];
	m.fabric->rails = rails;
	m.fabric->n_rails = 130;
	for (size_t h = 0; h < 2; h++) {
		m.fabric->ports[h][0].rail = &rails[0];
		m.fabric->ports[h][1].rail = &rails[129];
	}
	m.pairs = pairs_new(m.fabric, &m.profile);
	assert_int_equal(rails_joined(kind_of_host(m.pairs, 0), kind_of_host(m.pairs, 1)), 2);
	assert_true(kind_is_on_rail(m.pairs, kind_of_host(m.pairs, 1), &rails[129]));
	assert_false(kind_is_on_rail(m.pairs, kind_of_host(m.pairs, 1), &rails[65]));
	made_free(&m);
}

/* Two of eight hosts are cut from all: one finding each, the last host first, their common pair counted once. */
static void test_one_broken_host_is_one_group(void **state)
{
	struct made m = make(8);
	struct pair_group *groups;
	uint8_t cases[4] = { 0, 1, 1, 1 };
	size_t n;

	(void)state;
	for (size_t p = 0; p < PORTS; p++) {
		take_off(&m, 2, p);
		take_off(&m, 5, p);
	}
	m.pairs = pairs_new(m.fabric, &m.profile);
	assert_int_equal(m.pairs->n_kinds, 2);
	assert_true(kinds_are_cut(kind_of_host(m.pairs, 0), kind_of_host(m.pairs, 2)));
	assert_true(kinds_are_cut(kind_of_host(m.pairs, 5), kind_of_host(m.pairs, 2)));
	groups = pairs_group(m.pairs, cases, 1, m.arena, &n);
	assert_int_equal(n, 2);
	assert_int_equal(groups[0].a, 0);
	assert_int_equal(groups[0].b, 5);
	assert_int_equal(groups[0].n, 7);
	assert_int_equal(groups[1].a, 0);
	assert_int_equal(groups[1].b, 2);
	assert_int_equal(groups[1].n, 6);
	pairs_group(m.pairs, cases, 2, m.arena, &n);
	assert_int_equal(n, 0);
	made_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alike_hosts_are_one_kind),
		cmocka_unit_test(test_what_makes_a_kind),
		cmocka_unit_test(test_many_rails),
		cmocka_unit_test(test_one_broken_host_is_one_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
