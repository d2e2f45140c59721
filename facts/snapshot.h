/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known about one host: typed, read-only, complete. Checks see nothing else of a machine.
 * Pointers between the parts (port → netdev → PCI function) stay inside one snapshot; all of it lives in one arena.
 */
#ifndef SPARKFAB_FACTS_SNAPSHOT_H
#define SPARKFAB_FACTS_SNAPSHOT_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/arena.h"
#include "core/value.h"
#include "facts/source.h"

struct netdev;
struct rdma_dev;
struct rdma_port;

struct identity {
	struct text hostname;
	struct text machine_id; /* SHA-256 of "sparkfab" and /etc/machine-id, first 32 hex digits */
	struct text boot_id;
	struct text netns;	/* "net:[4026531840]" */
	struct text os_id, os_version, os_name; /* ID, VERSION_ID, PRETTY_NAME of os-release */
	struct text kernel;	/* release */
	struct text cmdline;
	struct text dmi_vendor, dmi_product, dmi_board, bios_version;
	struct text arch;	/* uname machine */
	struct text cpu_model;
	struct num mem_total_bytes, mem_available_bytes;
	struct num uid;		/* effective, of the process that looked */
	struct num boot_ns, real_ns;	/* the clocks at the first sample */
	struct num boot2_ns, real2_ns;	/* at the second sample */
	struct num hotplug_enabled; /* 1: DGX OS takes an uncabled ConnectX-7 off the bus (/etc/nvidia/cx7-hotplug-enabled) */
};

/* A counter with its two readings. `second` is VALUE_NOT_ASKED where only one was taken. */
struct counter {
	const char *name; /* file or string-set name: "link_downed", "rx_discards_phy" */
	struct num first, second;
};

/* Growth between the readings; err of the reading that is missing, ERANGE if it went backwards (reset). */
struct num counter_delta(const struct counter *counter);

struct pci_dev {
	const char *bdf; /* "0000:01:00.0" */
	struct num vendor, device, class_code, subsystem_vendor, subsystem_device;
	struct num speed_mtps, max_speed_mtps; /* 32 GT/s = 32000 */
	struct num width, max_width;
	struct num numa_node; /* -1: none */
	struct text driver;
	struct text vpd_part, vpd_serial; /* where vpd is readable */
	const struct counter *aer; size_t n_aer; /* "correctable", "nonfatal", "fatal": totals (TOTAL_ERR_…) */
	const struct pci_dev *parent; /* bridge above; NULL at the root */
	bool is_vf;
	const struct pci_dev *physfn; /* of a VF, where visible */
};

enum gid_type { GID_TYPE_UNKNOWN, GID_IB, GID_ROCE_V1, GID_ROCE_V2 };

struct gid {
	unsigned index;
	uint8_t raw[16];
	const char *text;	/* as sysfs writes it */
	enum gid_type type;
	int type_err;		/* errno of reading the type */
	const struct netdev *netdev; /* NULL if not told */
};

enum port_state { PORT_STATE_UNKNOWN, PORT_NOP, PORT_DOWN, PORT_INIT, PORT_ARMED, PORT_ACTIVE, PORT_ACTIVE_DEFER };
enum link_layer { LINK_LAYER_UNKNOWN, LINK_LAYER_ETHERNET, LINK_LAYER_INFINIBAND };
/* IBTA PortPhysicalState; RoCE drivers use SLEEP..LINK_UP too. */
enum phys_state { PHYS_UNKNOWN = 0, PHYS_SLEEP = 1, PHYS_POLLING, PHYS_DISABLED, PHYS_TRAINING, PHYS_LINK_UP, PHYS_RECOVERY, PHYS_TEST };

struct rdma_port {
	const struct rdma_dev *dev;
	unsigned number;
	const char *name;	/* "rocep1s0f0/1" */
	struct num state;	/* enum port_state */
	struct num phys_state;	/* enum phys_state */
	struct num link_layer;	/* enum link_layer */
	struct num rate_mbps;	/* VALUE_PLACEHOLDER unless the port is ACTIVE and the driver knows the wire */
	struct text rate;	/* as sysfs prints it: "200 Gb/sec (4X NDR)" */
	struct num lid, sm_lid, sm_sl;
	struct num mtu_bytes, max_mtu_bytes; /* verbs: active and max; active is VALUE_PLACEHOLDER while the port is down */
	struct num width, speed; /* verbs active_width (lanes), active_speed (raw code) */
	struct text subnet_prefix; /* InfiniBand: upper half of GID 0 */
	uint16_t *pkeys; size_t n_pkeys;   /* InfiniBand partition keys that are set, in table order */
	struct num pkeys_listed;	   /* n_pkeys or the errno of listing them */
	struct gid *gids; size_t n_gids; /* those that are set, by index */
	struct num gid_slots;
	struct counter *counters; size_t n_counters;	   /* counters/ */
	struct counter *hw_counters; size_t n_hw_counters; /* hw_counters/, without `lifespan` */
	const struct netdev *netdev; /* NULL: none told (InfiniBand without IPoIB, or another network namespace) */
};

struct rdma_dev {
	const char *name; /* "rocep1s0f0" */
	struct text node_guid, sys_image_guid, fw_version, board_id, hca_type, node_type;
	struct text driver;	 /* "mlx5_core", "rdma_rxe", … */
	bool is_soft;		 /* rxe or siw: no wire of its own, so no rate, no PCIe link */
	const struct pci_dev *pci; /* NULL for soft devices */
	struct text uverbs;	 /* "/dev/infiniband/uverbs0" */
	struct num uverbs_access; /* 1 can be opened read-write by this process; err otherwise */
	struct rdma_port *ports; size_t n_ports;
};

struct ip_addr {
	int family; /* AF_INET, AF_INET6 */
	uint8_t raw[16];
	unsigned prefix_len;
	const char *text; /* "10.0.0.1" */
	int scope;	  /* RT_SCOPE_… */
	bool is_permanent; /* IFA_F_PERMANENT: not from DHCP or router advertisement */
	bool is_tentative, is_dadfailed;
	bool is_secondary; /* IPv4: another address of the same subnet comes first */
};

/* ethtool's link extended state (ETHTOOL_LINK_EXT_STATE_…): why a link is down. */
struct netdev {
	const char *name;
	unsigned index;
	struct text kind;	/* rtnl kind: "vlan", "bond", "veth", …; absent for plain hardware */
	struct num type;	/* ARPHRD_ETHER, ARPHRD_INFINIBAND, … */
	struct text mac, permanent_mac;
	struct num flags;	/* IFF_… */
	struct num carrier;	/* 0 or 1 */
	struct num oper_state;	/* IF_OPER_… */
	struct num mtu, max_mtu;
	struct counter carrier_changes, carrier_up, carrier_down;
	const struct netdev *master; /* bond, bridge or VRF above */
	const struct netdev *lower;  /* VLAN, macvlan: the one below, if in this namespace */
	struct num vlan_id;
	struct text bond_mode;
	bool is_wireless, is_ipoib, is_loopback;
	struct ip_addr *addrs; size_t n_addrs;
	struct text driver, driver_version, fw_version, bus; /* ethtool */
	struct num speed_mbps;	/* VALUE_PLACEHOLDER while down or unknown */
	struct num duplex, autoneg; /* 1 full / on */
	struct num lanes;
	const char **modes_ours; size_t n_modes_ours;	/* advertised and supported by us */
	const char **modes_peer; size_t n_modes_peer;	/* advertised by the partner */
	struct text fec_active;	/* "RS", "BASER", "None", … */
	struct num link_detected;
	struct num ext_state, ext_substate; /* ETHTOOL_LINK_EXT_… */
	struct num pause_autoneg, pause_rx, pause_tx;
	struct num channels_combined, channels_max;
	struct counter *stats; size_t n_stats; /* private counters */
	struct text module_vendor, module_part, module_serial, module_kind;
	struct num module_length_cm, module_present; /* EEPROM; EPERM without root */
	const struct pci_dev *pci;
	const struct rdma_port *port; /* the RDMA port on top of this netdev; NULL if none */
	struct text nm_connection;    /* UUID of the NetworkManager connection that configures it */
	struct text networkd_file;    /* .network file by which systemd-networkd configures it */
};

struct route {
	int family;
	uint8_t dst[16]; unsigned dst_len;
	const char *dst_text;	/* "10.0.0.0/24", "default" */
	const struct netdev *netdev; /* NULL for multipath or unreachable */
	const char *gateway;	/* NULL: on link */
	const char *prefsrc;	/* NULL: not set */
	struct num table, metric, type, protocol, mtu;
};

struct neighbour {
	const struct netdev *netdev;
	const char *addr, *mac; /* mac NULL if not resolved */
	int family;
	struct num state; /* NUD_… */
};

struct rule {
	struct num priority, table, action;
	int family;
	const char *from, *to, *iif, *oif; /* NULL: any */
};

/* What a light active test found (fact probe/neigh/DEV/ADDRESS). */
struct reach {
	const char *netdev_name;
	const char *addr;   /* the peer's fabric address that was tried */
	const char *state;  /* "reachable", "failed", "error" */
	const char *mac;    /* who answered; NULL */
	struct num rtt_ns;
	const char *error;  /* NULL */
};

/* What keeps this host's network settings; each 1 if it is there. For remedies only. */
struct net_config {
	struct num netplan; /* a .yaml under /etc/netplan */
	struct num networkmanager, networkd; /* running */
	struct num ifupdown; /* /etc/network/interfaces */
};

struct snapshot {
	struct arena *arena;
	const char *name;  /* how the user calls this host: the --peer argument, "head"; unique in a run */
	const char *role;  /* "head" or "worker" */
	struct identity id;
	struct net_config net_config;
	struct rdma_dev *devs; size_t n_devs;
	struct num devs_listed; /* n_devs, or the errno of listing them (ENOENT: no RDMA stack loaded) */
	struct rdma_port **ports; size_t n_ports; /* of all devices, in name order */
	struct netdev *netdevs; size_t n_netdevs;
	struct num netdevs_listed;
	struct pci_dev **pcis; size_t n_pcis; /* NICs' functions and every bridge above one */
	struct pci_dev **nics; size_t n_nics; /* functions of class 02xx, with or without a driver */
	struct route *routes; size_t n_routes; struct num routes_listed;
	struct rule *rules; size_t n_rules;
	struct neighbour *neighbours; size_t n_neighbours; struct num neighbours_listed;
	struct reach *reaches; size_t n_reaches;
	struct num verbs_available; /* 1, or the errno of opening libibverbs (ENOENT: not installed) */
	const char *verbs_error;    /* text for it */
};

/* Reads one host through the door (sample 1 of counters). Never fails as a whole: what could not be read says so in place.
 * The caller owns the snapshot (snapshot_free); source and records must outlive it. */
struct snapshot *snapshot_gather(struct source *source, const char *name, const char *role);

/* Second reading of every counter, into the same snapshot. */
void snapshot_sample_again(struct snapshot *snap, struct source *source);

/* From records: gather, and the second sample if the records hold one. */
struct snapshot *snapshot_from_records(const struct records *records, const char *name, const char *role,
				       struct source **ret_source);

struct snapshot *snapshot_free(struct snapshot *snap);

/* Lookups; NULL if there is none. */
const struct netdev *snapshot_find_netdev(const struct snapshot *snap, const char *name);
const struct rdma_port *snapshot_find_port(const struct snapshot *snap, const char *name);
const struct counter *counter_find(const struct counter *counters, size_t n, const char *name);

/* The netdev's first usable address: global scope first, IPv4 before IPv6; NULL if it has none. */
const struct ip_addr *netdev_address(const struct netdev *netdev);

bool port_is_active(const struct rdma_port *port);
bool port_is_ethernet(const struct rdma_port *port);

/* Bytes a second that the narrowest PCIe link from the function up to the root carries, after encoding (8b/10b up to 5
 * GT/s, 128b/130b above), and which bridge it is. err if no link above could be read; functions on-chip have none. */
struct num pci_path_mbps(const struct pci_dev *function, const struct pci_dev **ret_narrowest);

/* Mb/s that one PCIe link of so many lanes carries at that speed, after encoding. */
int64_t pci_link_mbps(int64_t speed_mtps, int64_t width);

/* Words for enums: "ACTIVE", "LINK_UP", "Ethernet", "RoCE v2". Static storage. */
const char *port_state_name(int64_t state);
const char *phys_state_name(int64_t state);
const char *link_layer_name(int64_t layer);
const char *gid_type_name(enum gid_type type);
const char *ext_state_name(int64_t ext_state); /* "no cable", "training failed", … */

#endif
