// SPDX-License-Identifier: Apache-2.0
/* Words for the enums of a snapshot, as the kernel's own tools write them. */
#include "facts/snapshot.h"

/* linux/ethtool.h, enum ethtool_link_ext_state: written out, since older headers lack the later ones. */
static const char *const ext_state_names[] = {
	"autonegotiation failed",
	"link training failed",
	"link logical mismatch",
	"bad signal integrity",
	"no cable",
	"cable issue",
	"EEPROM issue",
	"calibration failed",
	"power budget exceeded",
	"overheated",
	"module issue",
	"one-time program failed",
};

static const char *name_in(const char *const names[], size_t n, int64_t index)
{
	return index >= 0 && (uint64_t)index < n && names[index] ? names[index] : "unknown";
}

#define NAME_IN(names, index) name_in(names, sizeof(names) / sizeof(*(names)), index)

const char *port_state_name(int64_t state)
{
	static const char *const names[] = {
		[PORT_NOP] = "NOP",	[PORT_DOWN] = "DOWN",	  [PORT_INIT] = "INIT",
		[PORT_ARMED] = "ARMED", [PORT_ACTIVE] = "ACTIVE", [PORT_ACTIVE_DEFER] = "ACTIVE_DEFER"
	};

	return NAME_IN(names, state);
}

const char *phys_state_name(int64_t state)
{
	static const char *const names[] = {
		[PHYS_SLEEP] = "SLEEP",	      [PHYS_POLLING] = "POLLING", [PHYS_DISABLED] = "DISABLED",
		[PHYS_TRAINING] = "TRAINING", [PHYS_LINK_UP] = "LINK_UP", [PHYS_RECOVERY] = "RECOVERY",
		[PHYS_TEST] = "TEST",
	};

	return NAME_IN(names, state);
}

const char *link_layer_name(int64_t layer)
{
	static const char *const names[] = {
		[LINK_LAYER_ETHERNET] = "Ethernet", [LINK_LAYER_INFINIBAND] = "InfiniBand"
	};

	return NAME_IN(names, layer);
}

const char *gid_type_name(enum gid_type type)
{
	static const char *const names[] = { [GID_IB] = "IB", [GID_ROCE_V1] = "RoCE v1", [GID_ROCE_V2] = "RoCE v2" };

	return NAME_IN(names, (int64_t)type);
}

const char *ext_state_name(int64_t ext_state)
{
	return NAME_IN(ext_state_names, ext_state);
}
