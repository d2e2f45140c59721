// SPDX-License-Identifier: Apache-2.0
/*
 * The verbs library, for the few things that only it tells: a port's MTU, width and speed. Opened at run time, since a host
 * without it must still be looked at; types come from its header.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "core/dl.h"
#include "facts/source_live.h"

/* As in the library, whose names are macros in its header. */
struct verbs_calls {
	struct ibv_device **(*get_device_list)(int *ret_n);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	int (*query_port)(struct ibv_context *context, uint8_t port, void *ret_attr);
};

static int verbs_open(struct verbs_calls *calls, struct fault *reterr)
{
	static const char *const names[] = { "libibverbs.so.1", NULL };
	static const struct dl_symbol symbols[] = {
		{ "ibv_get_device_list", offsetof(struct verbs_calls, get_device_list), "IBVERBS_1.1", 0 },
		{ "ibv_free_device_list", offsetof(struct verbs_calls, free_device_list), "IBVERBS_1.1", 0 },
		{ "ibv_get_device_name", offsetof(struct verbs_calls, get_device_name), "IBVERBS_1.1", 0 },
		{ "ibv_open_device", offsetof(struct verbs_calls, open_device), "IBVERBS_1.1", 0 },
		{ "ibv_close_device", offsetof(struct verbs_calls, close_device), "IBVERBS_1.1", 0 },
		{ "ibv_query_port", offsetof(struct verbs_calls, query_port), "IBVERBS_1.1", 0 },
		{ 0 },
	};

	return dl_open_table(names, symbols, calls, reterr);
}

static json_t *failure(int err, const char *text)
{
	return json_pack("{s:i, s:s}", "errno", err, "error", text);
}

json_t *live_verbs_available(void)
{
	struct verbs_calls calls;
	struct fault fault = { 0 };
	int rc = verbs_open(&calls, &fault);

	return rc < 0 ? failure(-rc, fault.msg) : json_pack("{s:b}", "available", 1);
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

static json_t *ask_device(const struct verbs_calls *calls, struct ibv_device *device, unsigned port)
{
	struct ibv_port_attr attr;
	struct ibv_context *context;
	int err;

	errno = 0;
	context = calls->open_device(device);
	if (!context)
		return failure(errno ? errno : EIO, "the verbs library cannot open the device");
	err = query_port(calls, context, (uint8_t)port, &attr);
	calls->close_device(context);
	return err ? failure(err > 0 ? err : -err, "the port cannot be queried") : port_json(&attr);
}

json_t *live_verbs_port(const char *dev, unsigned port, int *ret_err)
{
	struct verbs_calls calls;
	struct ibv_device **list;
	json_t *json = NULL;
	int n = 0;

	*ret_err = verbs_open(&calls, NULL);
	if (*ret_err < 0)
		return NULL;
	errno = 0;
	list = calls.get_device_list(&n);
	if (!list)
		return failure(errno ? errno : EIO, "the verbs library cannot list devices");
	for (int i = 0; !json && i < n; i++)
		if (strcmp(calls.get_device_name(list[i]), dev) == 0)
			json = ask_device(&calls, list[i], port);
	calls.free_device_list(list);
	return json ? json : failure(ENODEV, "the verbs library does not list the device (no provider, or no /dev/infiniband)");
}
