/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: what the built-in ones say, what a user's own file may say, what is refused, and which one is chosen. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rules/profile.h"
#include "rules/profile_data.h"
#include "rules/profile_match.h"

static struct profile *load(const char *name)
{
	struct profile *profile = NULL;
	struct fault fault = { 0 };

	if (profile_load(name, &profile, &fault) < 0)
		fail_msg("%s", fault.msg);
	return profile;
}

static struct profile *parse(const char *text)
{
	struct profile *profile = NULL;
	struct fault fault = { 0 };

	if (profile_parse("own.ini", text, &profile, &fault) < 0)
		fail_msg("%s", fault.msg);
	return profile;
}

static void refuse(const char *text, int err, const char *message)
{
	struct profile *profile = NULL;
	struct fault fault = { 0 };

	assert_int_equal(profile_parse("own.ini", text, &profile, &fault), -err);
	assert_null(profile);
	assert_string_equal(fault.msg, message);
}

static void every_built_in_profile_loads_and_is_listed(void **state)
{
	const struct profile_name *listed = profile_names();

	(void)state;
	for (const struct profile_data *data = profile_data; data->name; data++, listed++) {
		struct profile *profile = load(data->name);

		assert_string_equal(profile->name, data->name);
		assert_non_null(listed->name);
		assert_string_equal(listed->name, data->name);
		assert_string_equal(listed->title, profile->title);
		assert_non_null(profile->require[0]);
		profile_free(profile);
	}
	assert_null(listed->name);
}

static void a_spark_expects_what_its_sources_say(void **state)
{
	struct profile *profile = load("gb10-direct");
	const struct threshold *rate = profile_threshold(profile, "port_rate_mbps");

	(void)state;
	assert_int_equal(rate->val, 200000);
	assert_int_equal(rate->kind, THRESHOLD_VENDOR);
	assert_non_null(strstr(rate->source, "spark_cluster_setup.py"));
	assert_int_equal(profile_threshold(profile, "rails")->val, 2);
	assert_int_equal(profile_threshold(profile, "pcie_width")->val, 4);
	/* from its base */
	assert_int_equal(profile_threshold(profile, "netdev_mtu_min")->val, 4192);
	assert_string_equal(profile->require[0], "peer.reach");
	assert_null(profile->ports[0]);
	profile_free(profile);
}

static void generic_has_no_opinion_on_rates_and_rails(void **state)
{
	struct profile *profile = load("generic");

	(void)state;
	assert_null(profile_threshold(profile, "port_rate_mbps"));
	assert_null(profile_threshold(profile, "rails"));
	assert_null(profile_threshold(profile, "rdma_devices"));
	assert_int_equal(profile_threshold(profile, "netdev_mtu_min_soft")->val, 4176);
	profile_free(profile);
}

static void a_file_builds_on_a_base(void **state)
{
	struct profile *profile = parse("[profile]\nname = ours\nbase = gb10-direct\n"
					"[expect]\nrails = none\nport_rate_mbps = 100000\n"
					"port_rate_mbps.source = our switch\nport_rate_mbps.kind = belief\n"
					"ports = rocep1s0f0 roceP2p1s0f0\n"
					"[gate]\nrequire = link.state\nmay_skip = mtu.parity\n");

	(void)state;
	assert_string_equal(profile->name, "ours");
	assert_string_equal(profile->title, "ours");
	assert_null(profile_threshold(profile, "rails"));
	assert_int_equal(profile_threshold(profile, "port_rate_mbps")->val, 100000);
	assert_string_equal(profile_threshold(profile, "port_rate_mbps")->source, "our switch");
	assert_int_equal(profile_threshold(profile, "twins_per_cage")->val, 2);
	assert_string_equal(profile->ports[1], "roceP2p1s0f0");
	assert_null(profile->ports[2]);
	assert_string_equal(profile->require[0], "link.state");
	assert_null(profile->require[1]);
	assert_string_equal(profile->may_skip[0], "mtu.parity");
	profile_free(profile);
}

static void unknown_names_are_refused_with_the_nearest_known_one(void **state)
{
	(void)state;
	refuse("[expect]\n\nport_rate_mpbs = 1\n", EINVAL,
	       "own.ini:3: unknown key in [expect] \"port_rate_mpbs\"; the nearest known one is \"port_rate_mbps\"");
	refuse("[expects]\nrails = 1\n", EINVAL,
	       "own.ini:2: unknown section \"expects\"; the nearest known one is \"expect\"");
	refuse("[gate]\nrequires = link.state\n", EINVAL,
	       "own.ini:2: unknown key in [gate] \"requires\"; the nearest known one is \"require\"");
	refuse("[match]\ndmi = X\n", EINVAL,
	       "own.ini:2: unknown key in [match] \"dmi\"; the nearest known one is \"arch\"");
	refuse("[profile]\nbsae = generic\n", EINVAL,
	       "own.ini:2: unknown key in [profile] \"bsae\"; the nearest known one is \"base\"");
	refuse("[expect]\nrails = 1\nrails.sauce = x\n", EINVAL,
	       "own.ini:3: unknown key \".sauce\"; the nearest known one is \".source\"");
}

static void a_number_needs_a_source_and_a_kind(void **state)
{
	(void)state;
	refuse("[expect]\nrails = 2\nrails.kind = belief\n", EINVAL,
	       "own.ini:2: rails needs rails.source: where does the number come from?");
	refuse("[expect]\nrails = 2\nrails.source = here\n", EINVAL,
	       "own.ini:2: rails needs rails.kind: measured, vendor or belief");
	refuse("[expect]\nrails = 2\nrails.source = here\nrails.kind = rumour\n", EINVAL,
	       "own.ini:4: a number is \"measured\", the \"vendor\"'s or a \"belief\"");
	refuse("[expect]\nrails.source = here\n", EINVAL, "own.ini:2: rails.source has to stand below rails = …");
	/* The base's source does not speak for another number. */
	refuse("[profile]\nbase = gb10-direct\n[expect]\nrails = 4\n", EINVAL,
	       "own.ini:4: rails needs rails.source: where does the number come from?");
}

static void a_number_is_a_number_in_range(void **state)
{
	(void)state;
	refuse("[expect]\nrails = two\n", EINVAL, "own.ini:2: rails wants a whole number or \"none\"");
	refuse("[expect]\nrails = -1\n", EINVAL, "own.ini:2: rails is out of range: 0 to 4096");
	refuse("[gate]\nrequire = everything\n", EINVAL,
	       "own.ini:2: \"everything\" is no check id, they look like \"link.fabric\"");
}

static void bases_that_loop_or_come_late_are_refused(void **state)
{
	char path[] = "/tmp/sparkfab-profile-XXXXXX", text[256];
	struct profile *profile = NULL;
	struct fault fault = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	snprintf(text, sizeof(text), "[profile]\nbase = %s\n", path);
	assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
	assert_true(profile_load(path, &profile, &fault) < 0);
	assert_null(profile);
	assert_non_null(strstr(fault.msg, "base profiles loop"));
	unlink(path);
	refuse("[gate]\nrequire = a.b\n[profile]\nbase = generic\n", EINVAL,
	       "own.ini:4: base has to stand before every other section");
}

static void a_name_that_does_not_exist_lists_those_that_do(void **state)
{
	struct profile *profile = NULL;
	struct fault fault = { 0 };

	(void)state;
	assert_int_equal(profile_load("gb11", &profile, &fault), -ENOENT);
	assert_string_equal(
		fault.msg,
		"no profile \"gb11\"; there are gb10-direct, gb10-switch, generic, or give the path of a file");
	assert_int_equal(profile_load("/nonexistent/x.ini", &profile, &fault), -ENOENT);
}

/* Hosts as far as choosing a profile looks at them. */
struct made_host {
	struct snapshot snap;
	struct rdma_dev dev;
};

static void make_spark(struct made_host *host, const char *product)
{
	memset(host, 0, sizeof(*host));
	host->snap.name = "head";
	host->snap.id.arch = text_of("aarch64", "uname(2)");
	host->snap.id.dmi_product = product ? text_of(product, "product_name") : text_err(ENOENT, "product_name");
	host->dev.board_id = text_of("NVD0000000087", "board_id");
}

static const char *detect(const struct snapshot *a, const struct snapshot *b, enum fabric_kind kind, char *ret_why,
			  size_t size)
{
	const struct snapshot *hosts[] = { a, b };
	struct fabric fabric = {
		.hosts = hosts, .n_hosts = b ? 2 : 1, .kind = kind, .kind_why = "three neighbours on one netdev"
	};
	struct profile *profile = profile_detect(&fabric);
	static const char *const names[] = { "generic", "gb10-direct", "gb10-switch" };
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], profile->name))
			found = names[i];
	snprintf(ret_why, size, "%s", profile->why);
	profile_free(profile);
	return found;
}

static void the_profile_that_fits_all_hosts_is_chosen(void **state)
{
	struct made_host a, b;
	char why[512];

	(void)state;
	make_spark(&a, "NVIDIA_DGX_Spark");
	make_spark(&b, "GX10");
	assert_string_equal(detect(&a.snap, &b.snap, FABRIC_UNKNOWN, why, sizeof(why)), "gb10-direct");
	assert_string_equal(
		why, "product \"NVIDIA_DGX_Spark\" of head, and the other hosts are alike; nothing proves a switch, "
		     "and this profile asks for nothing that a fabric with one would not have");
	assert_string_equal(detect(&a.snap, &b.snap, FABRIC_SWITCHED, why, sizeof(why)), "gb10-switch");
	assert_non_null(strstr(why, "topology switched: three neighbours"));
	assert_string_equal(detect(&a.snap, NULL, FABRIC_DIRECT, why, sizeof(why)), "gb10-direct");

	/* Another maker's name, known by its NIC. */
	make_spark(&b, "Something New");
	b.snap.devs = &b.dev;
	b.snap.n_devs = 1;
	assert_string_equal(detect(&b.snap, NULL, FABRIC_UNKNOWN, why, sizeof(why)), "gb10-direct");
	assert_non_null(strstr(why, "the NIC's board id"));

	/* The same device names on an x86 host prove nothing, and one such host makes the fabric generic. */
	b.snap.id.arch = text_of("x86_64", "uname(2)");
	assert_string_equal(detect(&a.snap, &b.snap, FABRIC_UNKNOWN, why, sizeof(why)), "generic");
	make_spark(&b, NULL);
	assert_string_equal(detect(&b.snap, NULL, FABRIC_UNKNOWN, why, sizeof(why)), "generic");
	assert_string_equal(why, "no other profile fits all hosts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_built_in_profile_loads_and_is_listed),
		cmocka_unit_test(a_spark_expects_what_its_sources_say),
		cmocka_unit_test(generic_has_no_opinion_on_rates_and_rails),
		cmocka_unit_test(a_file_builds_on_a_base),
		cmocka_unit_test(unknown_names_are_refused_with_the_nearest_known_one),
		cmocka_unit_test(a_number_needs_a_source_and_a_kind),
		cmocka_unit_test(a_number_is_a_number_in_range),
		cmocka_unit_test(bases_that_loop_or_come_late_are_refused),
		cmocka_unit_test(a_name_that_does_not_exist_lists_those_that_do),
		cmocka_unit_test(the_profile_that_fits_all_hosts_is_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
