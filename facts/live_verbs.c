// SPDX-License-Identifier: Apache-2.0
/*
 * The verbs library, for the few things that only it tells (a port's MTU, width and speed) or tells at once
 * (which GIDs are set). Opened at run time, since a host
 * without it must still be looked at; types come from its header.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/dl.h"
#include "facts/source_live.h"

#define GID_ENTRIES_MAX 1600u /* set slots of one device: the kernel takes at most 64 KiB of them */

/* As in the library, whose names are macros in its header. */
struct verbs_calls {
	struct ibv_device **(*get_device_list)(int *ret_n);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	int (*query_port)(struct ibv_context *context, uint8_t port, void *ret_attr);
	ssize_t (*query_gid_table)(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
				   size_t size); /* since rdma-core 32; NULL before */
};

struct live_verbs {
	bool tried;
	int err; /* of opening the library or listing the devices: -errno */
	struct fault fault;
	struct verbs_calls calls;
	struct ibv_device **list;
	int n;
};

struct live_verbs *live_verbs_new(void)
{
	return xcalloc(1, sizeof(struct live_verbs));
}

void live_verbs_free(struct live_verbs *verbs)
{
	if (verbs->list)
		verbs->calls.free_device_list(verbs->list);
	free(verbs);
}

static int open_library(struct verbs_calls *calls, struct fault *reterr)
{
	static const char *const names[] = { "libibverbs.so.1", NULL };
	static const struct dl_symbol symbols[] = {
		{ "ibv_get_device_list", offsetof(struct verbs_calls, get_device_list), "IBVERBS_1.1", 0 },
		{ "ibv_free_device_list", offsetof(struct verbs_calls, free_device_list), "IBVERBS_1.1", 0 },
		{ "ibv_get_device_name", offsetof(struct verbs_calls, get_device_name), "IBVERBS_1.1", 0 },
		{ "ibv_open_device", offsetof(struct verbs_calls, open_device), "IBVERBS_1.1", 0 },
		{ "ibv_close_device", offsetof(struct verbs_calls, close_device), "IBVERBS_1.1", 0 },
		{ "ibv_query_port", offsetof(struct verbs_calls, query_port), "IBVERBS_1.1", 0 },
		{ "_ibv_query_gid_table", offsetof(struct verbs_calls, query_gid_table), "IBVERBS_1.11", 1 },
		{ 0 },
	};

	return dl_open_table(names, symbols, calls, reterr);
}

static int verbs_open(struct live_verbs *verbs)
{
	if (verbs->tried)
		return verbs->err;
	verbs->tried = true;
	verbs->err = open_library(&verbs->calls, &verbs->fault);
	if (verbs->err < 0)
		return verbs->err;
	errno = 0;
	verbs->list = verbs->calls.get_device_list(&verbs->n);
	if (!verbs->list)
		verbs->err = fault_set(&verbs->fault, errno ? errno : EIO, "the verbs library cannot list devices");
	return verbs->err;
}

static json_t *failure(int err, const char *text)
{
	return json_pack("{s:i, s:s}", "errno", err, "error", text);
}

json_t *live_verbs_available(struct live_verbs *verbs)
{
	int rc = verbs_open(verbs);

	return rc < 0 ? failure(-rc, verbs->fault.msg) : json_pack("{s:b}", "available", 1);
}

/* The header's inline ibv_query_port(), which would have us linked to the library. */
static int query_port(const struct verbs_calls *calls, struct ibv_context *context, uint8_t port,
		      struct ibv_port_attr *ret_attr)
{
	struct verbs_context *extended = verbs_get_ctx_op(context, query_port);

	memset(ret_attr, 0, sizeof(*ret_attr));
	if (extended)
		return extended->query_port(context, port, ret_attr, sizeof(*ret_attr));
	return calls->query_port(context, port, ret_attr);
}

static unsigned lanes_of(uint8_t width)
{
	switch (width) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

static json_int_t mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << mtu : 0;
}

static json_t *port_json(const struct ibv_port_attr *attr)
{
	json_t *json = json_pack("{s:I, s:I, s:i, s:i, s:i, s:i, s:i}", "active_mtu", mtu_bytes(attr->active_mtu), "max_mtu",
				 mtu_bytes(attr->max_mtu), "active_speed", (int)attr->active_speed, "state",
				 (int)attr->state, "phys_state", (int)attr->phys_state, "gid_tbl_len", attr->gid_tbl_len,
				 "link_layer", (int)attr->link_layer);
	unsigned lanes = lanes_of(attr->active_width);

	if (lanes)
		json_object_set_new(json, "active_width", json_integer(lanes));
	return json;
}

/*
 * Which slots of the port's GID table are set. One call: reading a thousand sysfs files to find two takes longer than
 * everything else. NULL where library or kernel cannot tell; the values themselves are read from sysfs all the same.
 */
static json_t *gid_indices(const struct verbs_calls *calls, struct ibv_context *context, unsigned port)
{
	struct ibv_gid_entry *entries;
	json_t *indices = NULL;
	ssize_t n;

	if (!calls->query_gid_table)
		return NULL;
	entries = xcalloc(GID_ENTRIES_MAX, sizeof(*entries));
	n = calls->query_gid_table(context, entries, GID_ENTRIES_MAX, 0, sizeof(*entries));
	if (n >= 0)
		indices = json_array();
	for (ssize_t i = 0; i < n; i++)
		if (entries[i].port_num == port)
			json_array_append_new(indices, json_integer(entries[i].gid_index));
	free(entries);
	return indices;
}

static json_t *ask_device(const struct verbs_calls *calls, struct ibv_device *device, unsigned port)
{
	struct ibv_port_attr attr;
	struct ibv_context *context;
	json_t *json, *gids;
	int err;

	errno = 0;
	context = calls->open_device(device);
	if (!context)
		return failure(errno ? errno : EIO, "the verbs library cannot open the device");
	err = query_port(calls, context, (uint8_t)port, &attr);
	json = err ? failure(err > 0 ? err : -err, "the port cannot be queried") : port_json(&attr);
	gids = err ? NULL : gid_indices(calls, context, port);
	if (gids)
		json_object_set_new(json, "gids", gids);
	calls->close_device(context);
	return json;
}

json_t *live_verbs_port(struct live_verbs *verbs, const char *dev, unsigned port, int *ret_err)
{
	int rc = verbs_open(verbs);

	if (rc < 0 && !verbs->calls.get_device_list) {
		*ret_err = rc;
		return NULL;
	}
	if (rc < 0)
		return failure(-rc, verbs->fault.msg);
	for (int i = 0; i < verbs->n; i++)
		if (strcmp(verbs->calls.get_device_name(verbs->list[i]), dev) == 0)
			return ask_device(&verbs->calls, verbs->list[i], port);
	return failure(ENODEV, "the verbs library does not list the device (no provider, or no /dev/infiniband)");
}
