/* SPDX-License-Identifier: Apache-2.0 */
/* Remedies: the command that acts now and the one that lasts, in the way in which each host keeps its settings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "rules/remedies.h"

struct made {
	struct snapshot host;
	struct netdev netdev;
	struct results *results;
};

static void make(struct made *made, const char *netdev)
{
	memset(made, 0, sizeof(*made));
	made->host.name = "worker";
	made->netdev.name = netdev;
	made->netdev.kind = text_err(ENODATA, NULL);
	made->netdev.nm_connection = made->netdev.networkd_file = text_err(VALUE_NOT_ASKED, NULL);
	made->results = results_new();
}

/* Sets the MTU and compares: what acts now, then what lasts. */
static void expect_mtu(struct made *made, const char *now, const char *command, const char *advice)
{
	struct finding *f = finding_add(made->results, "mtu.netdev", VERDICT_WARN, "", "x");

	remedy_set_mtu(made->results, f, &made->host, &made->netdev, 9000);
	assert_int_equal(f->n_remedies, 2);
	assert_string_equal(f->remedies[0].command, now);
	assert_false(f->remedies[0].is_persistent);
	assert_string_equal(f->remedies[0].host, "worker");
	assert_true(f->remedies[1].is_persistent);
	if (command)
		assert_string_equal(f->remedies[1].command, command);
	else
		assert_null(f->remedies[1].command);
	if (advice)
		assert_string_equal(f->remedies[1].advice, advice);
	results_free(made->results);
}

static void networkmanager_keeps_it_in_the_connection(void **state)
{
	struct made made;

	(void)state;
	make(&made, "eth1");
	made.netdev.nm_connection = text_of("11111111-2222-4333-8444-555555555555", "x");
	made.host.net_config.netplan = num_of(1, "/etc/netplan");
	expect_mtu(&made, "ip link set dev eth1 mtu 9000",
		   "nmcli connection modify 11111111-2222-4333-8444-555555555555 802-3-ethernet.mtu 9000", NULL);
}

static void netplan_keeps_it_under_the_kind_of_device(void **state)
{
	struct made made;

	(void)state;
	make(&made, "eth1");
	made.netdev.networkd_file = text_of("/run/systemd/network/10-netplan-eth1.network", "x");
	expect_mtu(&made, "ip link set dev eth1 mtu 9000", "netplan set ethernets.eth1.mtu=9000 && netplan apply",
		   NULL);

	make(&made, "bond0");
	made.netdev.kind = text_of("bond", "x");
	made.host.net_config.netplan = num_of(1, "/etc/netplan");
	expect_mtu(&made, "ip link set dev bond0 mtu 9000", "netplan set bonds.bond0.mtu=9000 && netplan apply", NULL);

	/* "netplan set" would take the dot for a step. */
	make(&made, "eth1.10");
	made.netdev.kind = text_of("vlan", "x");
	made.host.net_config.netplan = num_of(1, "/etc/netplan");
	expect_mtu(&made, "ip link set dev eth1.10 mtu 9000", NULL,
		   "set mtu: 9000 for eth1.10 in the file under /etc/netplan, then run netplan apply");
}

static void networkd_gets_a_drop_in_beside_its_file(void **state)
{
	struct made made;

	(void)state;
	make(&made, "eth1");
	made.netdev.networkd_file = text_of("/etc/systemd/network/20-rails.network", "x");
	expect_mtu(&made, "ip link set dev eth1 mtu 9000",
		   "mkdir -p /etc/systemd/network/20-rails.network.d && printf '[Link]\\nMTUBytes=9000\\n' > "
		   "/etc/systemd/network/20-rails.network.d/mtu.conf && networkctl reload",
		   NULL);
}

static void others_are_told_in_words(void **state)
{
	struct made made;

	(void)state;
	make(&made, "eth1");
	made.host.net_config.ifupdown = num_of(1, "/etc/network/interfaces");
	expect_mtu(&made, "ip link set dev eth1 mtu 9000", NULL,
		   "mtu 9000 in the part of /etc/network/interfaces that is about eth1");
	make(&made, "eth1");
	expect_mtu(&made, "ip link set dev eth1 mtu 9000", NULL,
		   "keep MTU 9000 of eth1 where this host has its network settings (no manager of them was seen)");
}

static void names_reach_a_shell_only_in_quotes(void **state)
{
	struct made made;

	(void)state;
	make(&made, "eth;reboot");
	made.netdev.networkd_file = text_of("/etc/systemd/network/$(id).network", "x");
	expect_mtu(&made, "ip link set dev 'eth;reboot' mtu 9000",
		   "mkdir -p '/etc/systemd/network/$(id).network.d' && printf '[Link]\\nMTUBytes=9000\\n' > "
		   "'/etc/systemd/network/$(id).network.d/mtu.conf' && networkctl reload",
		   NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(networkmanager_keeps_it_in_the_connection),
		cmocka_unit_test(netplan_keeps_it_under_the_kind_of_device),
		cmocka_unit_test(networkd_gets_a_drop_in_beside_its_file),
		cmocka_unit_test(others_are_told_in_words),
		cmocka_unit_test(names_reach_a_shell_only_in_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
