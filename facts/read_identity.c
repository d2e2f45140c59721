// SPDX-License-Identifier: Apache-2.0
/* Which host this is: names, kernel, platform, memory, and the clocks of both samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"
#include "facts/reading.h"

#define HOTPLUG_SWITCH "/etc/nvidia/cx7-hotplug-enabled"

/* Value of KEY=… in os-release, without its quotes. */
static struct text os_release_field(struct reading *r, struct text file, const char *key)
{
	size_t key_len = strlen(key);
	const char *line, *end;

	if (file.err)
		return file;
	for (line = file.val; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (strncmp(line, key, key_len) || line[key_len] != '=')
			continue;
		line += key_len + 1;
		if (end - line >= 2 && (*line == '"' || *line == '\'') && end[-1] == *line)
			return text_of(arena_strndup(r->arena, line + 1, (size_t)(end - line - 2)), file.origin);
		return text_of(arena_strndup(r->arena, line, (size_t)(end - line)), file.origin);
	}
	return text_err(ENODATA, file.origin);
}

static void read_os_release(struct reading *r)
{
	struct identity *id = &r->snap->id;
	struct text file = reading_text(r, "/etc/os-release");

	if (file.err == ENOENT)
		file = reading_text(r, "/usr/lib/os-release");
	id->os_id = os_release_field(r, file, "ID");
	id->os_version = os_release_field(r, file, "VERSION_ID");
	id->os_name = os_release_field(r, file, "PRETTY_NAME");
}

/* "Name:   VALUE" of a /proc file; the first one. */
static struct text proc_field(struct reading *r, struct text file, const char *name)
{
	size_t name_len = strlen(name);
	const char *line, *end, *colon;

	if (file.err)
		return file;
	for (line = file.val; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		colon = memchr(line, ':', (size_t)(end - line));
		if (!colon || strncmp(line, name, name_len) || line[name_len + strspn(line + name_len, " \t")] != ':')
			continue;
		return text_of(text_trim(r->arena, arena_strndup(r->arena, colon + 1, (size_t)(end - colon - 1))),
			       file.origin);
	}
	return text_err(ENODATA, file.origin);
}

static struct num meminfo_bytes(struct reading *r, struct text file, const char *name)
{
	struct text field = proc_field(r, file, name);
	int64_t kib;

	if (field.err)
		return num_err(field.err, field.origin);
	if (!text_parse_i64(arena_strndup(r->arena, field.val, strcspn(field.val, " ")), &kib) || kib < 0 ||
	    kib > INT64_MAX / 1024)
		return num_err(VALUE_MALFORMED, field.origin);
	return num_of(kib * 1024, field.origin);
}

/* Arm's /proc/cpuinfo has no model name, only the part numbers of its cores. */
static struct text cpu_model(struct reading *r)
{
	struct text file = reading_text(r, "/proc/cpuinfo");
	struct text model = proc_field(r, file, "model name");
	struct text implementer, part;

	if (model.err != ENODATA)
		return model;
	implementer = proc_field(r, file, "CPU implementer");
	part = proc_field(r, file, "CPU part");
	if (implementer.err || part.err)
		return model;
	return text_of(arena_printf(r->arena, "implementer %s part %s", implementer.val, part.val), file.origin);
}

static struct num file_exists(struct reading *r, const char *path)
{
	struct text text = source_text(r->source, r->arena, path);

	if (text.err == ENOENT || text.err == ENOTDIR)
		return num_of(0, path);
	/* Whatever else happens when it is read, it is there: it is empty and only its name counts. */
	return num_of(1, path);
}

static void read_clocks(struct reading *r, const char *key, struct num *ret_boot, struct num *ret_real)
{
	const json_t *json = NULL;
	int err = source_fact(r->source, key, &json);
	const char *origin = arena_printf(r->arena, "fact %s", key);

	*ret_boot = reading_json_num(json, err, "boot_ns", origin);
	*ret_real = reading_json_num(json, err, "real_ns", origin);
}

static void read_facts(struct reading *r)
{
	struct identity *id = &r->snap->id;
	const json_t *json = NULL;
	int err;

	err = source_fact(r->source, "uname", &json);
	id->kernel = reading_json_text(r, json, err, "release", "uname(2)");
	id->arch = reading_json_text(r, json, err, "machine", "uname(2)");
	err = source_fact(r->source, "user", &json);
	id->uid = reading_json_num(json, err, "uid", "geteuid(2)");
	err = source_fact(r->source, "netns", &json);
	id->netns = reading_json_text(r, json, err, "id", "/proc/self/ns/net");
	err = source_fact(r->source, "machine-id", &json);
	id->machine_id = reading_json_text(r, json, err, "sha256", "/etc/machine-id");
}

void read_identity(struct reading *r)
{
	struct identity *id = &r->snap->id;
	struct text meminfo;

	read_clocks(r, "time/1", &id->boot_ns, &id->real_ns);
	read_facts(r);
	read_os_release(r);
	id->hostname = reading_text(r, "/proc/sys/kernel/hostname");
	id->boot_id = reading_text(r, "/proc/sys/kernel/random/boot_id");
	id->cmdline = reading_text(r, "/proc/cmdline");
	id->dmi_vendor = reading_text(r, "/sys/class/dmi/id/sys_vendor");
	id->dmi_product = reading_text(r, "/sys/class/dmi/id/product_name");
	id->dmi_board = reading_text(r, "/sys/class/dmi/id/board_name");
	id->bios_version = reading_text(r, "/sys/class/dmi/id/bios_version");
	id->cpu_model = cpu_model(r);
	meminfo = reading_text(r, "/proc/meminfo");
	id->mem_total_bytes = meminfo_bytes(r, meminfo, "MemTotal");
	id->mem_available_bytes = meminfo_bytes(r, meminfo, "MemAvailable");
	id->hotplug_enabled = file_exists(r, HOTPLUG_SWITCH);
}

void reread_identity(struct reading *r)
{
	read_clocks(r, "time/2", &r->snap->id.boot2_ns, &r->snap->id.real2_ns);
	if (!r->snap->id.boot2_ns.err)
		return;
	/* The key says already which reading it is: a text written by hand may leave the sample's mark out. */
	source_set_sample(r->source, 1);
	read_clocks(r, "time/2", &r->snap->id.boot2_ns, &r->snap->id.real2_ns);
	source_set_sample(r->source, 2);
}
