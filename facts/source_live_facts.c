// SPDX-License-Identifier: Apache-2.0
/*
 * Facts without a kernel text of their own, by key (docs/SNAPSHOT.md has each one's JSON):
 *
 *	time/1 time/2 uname user netns machine-id
 *	ethtool/drvinfo/DEV ethtool/stats/DEV ethtool/module/DEV
 *	verbs verbs/DEV/PORT rdma/uverbs/DEV
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/clock.h"
#include "core/sha256.h"
#include "core/text.h"
#include "facts/source_live.h"

#define STATS_MAX 16384u /* private counters of one netdev */

struct live_facts {
	struct source *files;
	struct live_nl *nl;
	struct arena *arena;
	json_t *given; /* every fact handed out: they live as long as the source */
	int ioctl_fd;
	struct live_verbs *verbs;
};

struct live_facts *live_facts_new(struct source *files, struct live_nl *nl)
{
	struct live_facts *facts = xcalloc(1, sizeof(*facts));

	facts->files = files;
	facts->nl = nl;
	facts->arena = arena_new();
	facts->given = json_array();
	facts->ioctl_fd = -1;
	facts->verbs = live_verbs_new();
	return facts;
}

void live_facts_free(struct live_facts *facts)
{
	if (!facts)
		return;
	if (facts->ioctl_fd >= 0)
		close(facts->ioctl_fd);
	live_verbs_free(facts->verbs);
	json_decref(facts->given);
	arena_free(facts->arena);
	free(facts);
}

/* Each gives a new reference, or NULL and -errno in *ret_err. `rest` is what follows the key's fixed part. */
typedef json_t *fact_fn(struct live_facts *facts, const char *rest, int *ret_err);

static json_t *fact_time(struct live_facts *facts, const char *rest, int *ret_err)
{
	(void)facts;
	(void)ret_err;
	if (strcmp(rest, "1") != 0 && strcmp(rest, "2") != 0)
		return NULL;
	return json_pack("{s:I, s:I}", "boot_ns", (json_int_t)clock_boot_ns(), "real_ns", (json_int_t)clock_real_ns());
}

static json_t *fact_uname(struct live_facts *facts, const char *rest, int *ret_err)
{
	struct utsname name;

	(void)facts;
	(void)rest;
	if (uname(&name) < 0) {
		*ret_err = -errno;
		return NULL;
	}
	return json_pack("{s:s, s:s, s:s, s:s}", "sysname", name.sysname, "release", name.release, "machine", name.machine,
			 "nodename", name.nodename);
}

static json_t *fact_user(struct live_facts *facts, const char *rest, int *ret_err)
{
	(void)facts;
	(void)rest;
	(void)ret_err;
	return json_pack("{s:I}", "uid", (json_int_t)geteuid());
}

static json_t *fact_netns(struct live_facts *facts, const char *rest, int *ret_err)
{
	const char *target;

	(void)rest;
	*ret_err = source_link(facts->files, "/proc/self/ns/net", facts->arena, &target);
	return *ret_err < 0 ? NULL : json_pack("{s:s}", "id", target);
}

/* The id itself is a secret of the machine (machine-id(5)); a hash with our name in it cannot be led back to it. */
static json_t *fact_machine_id(struct live_facts *facts, const char *rest, int *ret_err)
{
	struct text id = source_text(facts->files, facts->arena, "/etc/machine-id");
	char hex[SHA256_HEX_SIZE];
	char *salted;

	(void)rest;
	if (id.err || strlen(id.val) < 32) { /* empty or "uninitialized" in images */
		*ret_err = id.err && id.err < VALUE_NOT_ASKED ? -id.err : -ENOENT;
		return NULL;
	}
	salted = arena_printf(facts->arena, "sparkfab%s", id.val);
	sha256_hex(salted, strlen(salted), hex);
	hex[32] = '\0';
	return json_pack("{s:s}", "sha256", hex);
}

/* ---- ethtool by ioctl, for what netlink does not tell ---- */

static int ethtool_call(struct live_facts *facts, const char *dev, void *data)
{
	struct ifreq request = { 0 };
	size_t len = strlen(dev);

	if (len >= sizeof(request.ifr_name))
		return -ENODEV;
	if (facts->ioctl_fd < 0)
		facts->ioctl_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (facts->ioctl_fd < 0)
		facts->ioctl_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0); /* a kernel without IPv4 */
	if (facts->ioctl_fd < 0)
		return -errno;
	memcpy(request.ifr_name, dev, len);
	request.ifr_data = data;
	return ioctl(facts->ioctl_fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

/* A fixed-size field of a driver, which may lack its NUL and may hold anything. */
static json_t *field_json(struct live_facts *facts, const char *field, size_t size)
{
	const char *text = text_visible(facts->arena, arena_strndup(facts->arena, field, size));

	return json_string(text);
}

static json_t *fact_drvinfo(struct live_facts *facts, const char *dev, int *ret_err)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	*ret_err = ethtool_call(facts, dev, &info);
	if (*ret_err < 0)
		return NULL;
	return json_pack("{s:o, s:o, s:o, s:o}", "driver", field_json(facts, info.driver, sizeof(info.driver)), "version",
			 field_json(facts, info.version, sizeof(info.version)), "fw_version",
			 field_json(facts, info.fw_version, sizeof(info.fw_version)), "bus_info",
			 field_json(facts, info.bus_info, sizeof(info.bus_info)));
}

/* How many private counters the driver has; -EOPNOTSUPP if none. */
static int count_stats(struct live_facts *facts, const char *dev, uint32_t *ret_n)
{
	struct ethtool_sset_info *info cleanup_free = xcalloc(1, sizeof(*info) + sizeof(uint32_t));
	int rc;

	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ULL << ETH_SS_STATS;
	rc = ethtool_call(facts, dev, info);
	if (rc < 0)
		return rc;
	if (info->sset_mask == 0)
		return -EOPNOTSUPP;
	memcpy(ret_n, info->data, sizeof(*ret_n));
	if (*ret_n > STATS_MAX)
		return -E2BIG;
	return *ret_n ? 0 : -EOPNOTSUPP;
}

static void add_stat(struct live_facts *facts, json_t *json, const char *field, uint64_t value)
{
	const char *name = text_visible(facts->arena, arena_strndup(facts->arena, field, ETH_GSTRING_LEN));

	name = text_trim(facts->arena, name);
	if (*name == '\0' || json_object_get(json, name))
		return;
	json_object_set_new(json, name, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

static json_t *fact_stats(struct live_facts *facts, const char *dev, int *ret_err)
{
	struct ethtool_gstrings *names cleanup_free = NULL;
	struct ethtool_stats *values cleanup_free = NULL;
	uint32_t n = 0, room;
	json_t *json;

	*ret_err = count_stats(facts, dev, &n);
	if (*ret_err < 0)
		return NULL;
	/* The kernel fills in as many as there are by then: a driver may have grown queues since they were counted. */
	room = 2 * n + 1024;
	names = xcalloc(1, sizeof(*names) + (size_t)room * ETH_GSTRING_LEN);
	values = xcalloc(1, sizeof(*values) + (size_t)room * sizeof(uint64_t));
	names->cmd = ETHTOOL_GSTRINGS;
	names->string_set = ETH_SS_STATS;
	names->len = n;
	values->cmd = ETHTOOL_GSTATS;
	values->n_stats = n;
	*ret_err = ethtool_call(facts, dev, names);
	if (*ret_err == 0)
		*ret_err = ethtool_call(facts, dev, values);
	if (*ret_err < 0)
		return NULL;
	json = json_object();
	for (uint32_t i = 0; i < n && i < names->len && i < values->n_stats; i++) {
		uint64_t value;

		memcpy(&value, &values->data[i], sizeof(value));
		add_stat(facts, json, (const char *)names->data + (size_t)i * ETH_GSTRING_LEN, value);
	}
	return json;
}

/* The EEPROM by the older way, for kernels before 5.13. */
static int module_by_ioctl(struct live_facts *facts, const char *dev, uint8_t page[256])
{
	struct ethtool_modinfo info = { .cmd = ETHTOOL_GMODULEINFO };
	struct ethtool_eeprom *eeprom cleanup_free = xcalloc(1, sizeof(*eeprom) + 256);
	int rc = ethtool_call(facts, dev, &info);

	if (rc < 0)
		return rc;
	eeprom->cmd = ETHTOOL_GMODULEEEPROM;
	eeprom->len = info.eeprom_len < 256 ? info.eeprom_len : 256;
	rc = ethtool_call(facts, dev, eeprom);
	if (rc == 0)
		memcpy(page, eeprom->data, 256);
	return rc;
}

static json_t *fact_module(struct live_facts *facts, const char *dev, int *ret_err)
{
	uint8_t page[256] = { 0 };
	json_t *json;

	*ret_err = live_nl_module_read(facts->nl, dev, 0, facts->arena, page);
	if (*ret_err == 0)
		*ret_err = live_nl_module_read(facts->nl, dev, 128, facts->arena, page + 128);
	if (*ret_err == -EOPNOTSUPP)
		*ret_err = module_by_ioctl(facts, dev, page);
	if (*ret_err < 0)
		return NULL;
	json = module_eeprom_decode(page);
	if (!json)
		*ret_err = -EOPNOTSUPP;
	return json;
}

/* ---- RDMA ---- */

static json_t *fact_verbs(struct live_facts *facts, const char *rest, int *ret_err)
{
	const char *slash = strrchr(rest, '/');
	uint64_t port;

	if (*rest == '\0')
		return live_verbs_available(facts->verbs);
	if (!slash || !text_parse_u64(slash + 1, &port) || port == 0 || port > 255)
		return NULL;
	return live_verbs_port(facts->verbs, arena_strndup(facts->arena, rest, (size_t)(slash - rest)), (unsigned)port,
			       ret_err);
}

/* The character device of an RDMA device: /sys/class/infiniband_verbs/uverbsN/ibdev names it. */
static const char *find_uverbs(struct live_facts *facts, const char *dev, int *ret_err)
{
	static const char top[] = "/sys/class/infiniband_verbs";
	const char **names;
	size_t n;

	*ret_err = source_list(facts->files, top, facts->arena, &names, &n);
	if (*ret_err < 0)
		return NULL;
	*ret_err = -ENOENT;
	for (size_t i = 0; i < n; i++) {
		struct text ibdev;

		if (strncmp(names[i], "uverbs", 6) != 0)
			continue;
		ibdev = source_text(facts->files, facts->arena, arena_printf(facts->arena, "%s/%s/ibdev", top, names[i]));
		if (!ibdev.err && strcmp(ibdev.val, dev) == 0) {
			*ret_err = 0;
			return arena_printf(facts->arena, "/dev/infiniband/%s", names[i]);
		}
	}
	return NULL;
}

/* Whether this process may use the device is only known by opening it: cgroups and capabilities have a say as well. */
static json_t *fact_uverbs(struct live_facts *facts, const char *dev, int *ret_err)
{
	const char *path = find_uverbs(facts, dev, ret_err);
	int fd;

	if (!path)
		return NULL;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return json_pack("{s:s, s:i}", "path", path, "errno", errno);
	close(fd);
	return json_pack("{s:s, s:i}", "path", path, "access", 1);
}

static const struct {
	const char *prefix; /* ends with "/": something follows; else it is the whole key */
	fact_fn *get;
} known[] = {
	{ "time/", fact_time }, { "uname", fact_uname }, { "user", fact_user }, { "netns", fact_netns },
	{ "machine-id", fact_machine_id }, { "ethtool/drvinfo/", fact_drvinfo }, { "ethtool/stats/", fact_stats },
	{ "ethtool/module/", fact_module }, { "verbs", fact_verbs }, { "verbs/", fact_verbs },
	{ "rdma/uverbs/", fact_uverbs },
};

int live_facts_ask(struct live_facts *facts, const char *key, const json_t **ret)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		size_t len = strlen(known[i].prefix);
		int err = -ENODATA;
		json_t *json;

		if (strncmp(key, known[i].prefix, len) != 0 || (known[i].prefix[len - 1] == '/') != (key[len] != '\0'))
			continue;
		json = known[i].get(facts, key + len, &err);
		if (!json)
			return err < 0 ? err : -EIO;
		json_array_append_new(facts->given, json);
		*ret = json;
		return 0;
	}
	return -ENODATA;
}
