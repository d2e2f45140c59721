// SPDX-License-Identifier: Apache-2.0
/*
 * Names, numbers and types of the netlink attributes that are worth knowing, one table a message or nest. Numbers are the
 * kernel's own (uapi headers); names are theirs in lower case without the prefix. To add a command, add its table here, a
 * row to `messages`, and the request to source_live_nl.c.
 *
 * Left out are attributes that say nothing about a fabric and would fill a snapshot: statistics blocks (counters come from
 * better places), address-family settings, caches' ages.
 */
#include <linux/ethtool_netlink.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <stddef.h>
#include <string.h>

#include "facts/attr_table.h"

/* Numbers that older uapi headers do not have; enumerators cannot be tested for, so they get names of our own. */
#define LINKSTATE_EXT_DOWN_CNT 7  /* ETHTOOL_A_LINKSTATE_EXT_DOWN_CNT, Linux 6.3 */
#define NLDEV_DEV_TYPE 99	  /* RDMA_NLDEV_ATTR_DEV_TYPE, Linux 6.11 */
#define NLDEV_PARENT_NAME 100	  /* RDMA_NLDEV_ATTR_PARENT_NAME */
#define LINK_DEVLINK_PORT 62	  /* IFLA_DEVLINK_PORT, Linux 6.3 */
#define LINK_GSO_IPV4_MAX_SIZE 63 /* IFLA_GSO_IPV4_MAX_SIZE */
#define LINK_GRO_IPV4_MAX_SIZE 64 /* IFLA_GRO_IPV4_MAX_SIZE */
#define LINK_DPLL_PIN 65	  /* IFLA_DPLL_PIN, Linux 6.7 */
#define LINK_PACING_HORIZON 66	  /* IFLA_MAX_PACING_OFFLOAD_HORIZON, Linux 6.13 */
#define LINK_NETNS_IMMUTABLE 67	  /* IFLA_NETNS_IMMUTABLE */
#define LINK_HEADROOM 68	  /* IFLA_HEADROOM */
#define LINK_TAILROOM 69	  /* IFLA_TAILROOM */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define TABLE_OF(rows) { .defs = rows, .n_defs = COUNT(rows) }
#define TABLE_WITH_HEADER(head, head_rows, rows) \
	{ .header_len = sizeof(head), .fields = head_rows, .n_fields = COUNT(head_rows), .defs = rows, .n_defs = COUNT(rows) }
#define FIELD(head, member, n, t) \
	{ .name = n, .offset = offsetof(head, member), .size = sizeof(((head *)0)->member), .type = t }
#define FIELD_NOT_0(head, member, n, t) \
	{ .name = n, .offset = offsetof(head, member), .size = sizeof(((head *)0)->member), .type = t, .zero_is_absent = true }
#define LEFT_OUT(num) { .number = num, .name = "", .left_out = true }
#define NEST(num, n, t) { .number = num, .name = n, .type = ATTR_NEST, .table = t }
#define LIST(num, n, t) { .number = num, .name = n, .type = ATTR_LIST, .table = t }
#define LEAF(num, n, t) { .number = num, .name = n, .type = t }
#define DEV_NAME_ADDED LEAF(ATTR_SYNTHETIC, "dev", ATTR_STRING)

/* rtnl link */

static const struct attr_def vlan_rows[] = {
	LEAF(IFLA_VLAN_ID, "id", ATTR_UINT),
	LEAF(IFLA_VLAN_PROTOCOL, "protocol", ATTR_BE16),
	LEFT_OUT(IFLA_VLAN_FLAGS),
	LEAF(IFLA_VLAN_EGRESS_QOS, "egress_qos", ATTR_BYTES),
	LEAF(IFLA_VLAN_INGRESS_QOS, "ingress_qos", ATTR_BYTES),
};
static const struct attr_table vlan_table = TABLE_OF(vlan_rows);

static const struct attr_def bond_ad_info_rows[] = {
	LEAF(IFLA_BOND_AD_INFO_AGGREGATOR, "aggregator", ATTR_UINT),
	LEAF(IFLA_BOND_AD_INFO_NUM_PORTS, "num_ports", ATTR_UINT),
	LEAF(IFLA_BOND_AD_INFO_ACTOR_KEY, "actor_key", ATTR_UINT),
	LEAF(IFLA_BOND_AD_INFO_PARTNER_KEY, "partner_key", ATTR_UINT),
	LEAF(IFLA_BOND_AD_INFO_PARTNER_MAC, "partner_mac", ATTR_MAC),
};
static const struct attr_table bond_ad_info_table = TABLE_OF(bond_ad_info_rows);

static const struct attr_def ip_entry_rows[] = { LEAF(0, "", ATTR_IP) };
static const struct attr_table ip_entry_table = TABLE_OF(ip_entry_rows);

static const struct attr_def bond_rows[] = {
	LEAF(IFLA_BOND_MODE, "mode", ATTR_UINT),
	LEAF(IFLA_BOND_ACTIVE_SLAVE, "active_slave", ATTR_UINT),
	LEAF(IFLA_BOND_MIIMON, "miimon", ATTR_UINT),
	LEAF(IFLA_BOND_UPDELAY, "updelay", ATTR_UINT),
	LEAF(IFLA_BOND_DOWNDELAY, "downdelay", ATTR_UINT),
	LEAF(IFLA_BOND_USE_CARRIER, "use_carrier", ATTR_UINT),
	LEAF(IFLA_BOND_ARP_INTERVAL, "arp_interval", ATTR_UINT),
	LIST(IFLA_BOND_ARP_IP_TARGET, "arp_ip_target", &ip_entry_table),
	LEAF(IFLA_BOND_ARP_VALIDATE, "arp_validate", ATTR_UINT),
	LEAF(IFLA_BOND_ARP_ALL_TARGETS, "arp_all_targets", ATTR_UINT),
	LEAF(IFLA_BOND_PRIMARY, "primary", ATTR_UINT),
	LEAF(IFLA_BOND_PRIMARY_RESELECT, "primary_reselect", ATTR_UINT),
	LEAF(IFLA_BOND_FAIL_OVER_MAC, "fail_over_mac", ATTR_UINT),
	LEAF(IFLA_BOND_XMIT_HASH_POLICY, "xmit_hash_policy", ATTR_UINT),
	LEAF(IFLA_BOND_RESEND_IGMP, "resend_igmp", ATTR_UINT),
	LEAF(IFLA_BOND_NUM_PEER_NOTIF, "num_peer_notif", ATTR_UINT),
	LEAF(IFLA_BOND_ALL_SLAVES_ACTIVE, "all_slaves_active", ATTR_UINT),
	LEAF(IFLA_BOND_MIN_LINKS, "min_links", ATTR_UINT),
	LEAF(IFLA_BOND_LP_INTERVAL, "lp_interval", ATTR_UINT),
	LEAF(IFLA_BOND_PACKETS_PER_SLAVE, "packets_per_slave", ATTR_UINT),
	LEAF(IFLA_BOND_AD_LACP_RATE, "ad_lacp_rate", ATTR_UINT),
	LEAF(IFLA_BOND_AD_SELECT, "ad_select", ATTR_UINT),
	NEST(IFLA_BOND_AD_INFO, "ad_info", &bond_ad_info_table),
	LEAF(IFLA_BOND_AD_ACTOR_SYS_PRIO, "ad_actor_sys_prio", ATTR_UINT),
	LEAF(IFLA_BOND_AD_USER_PORT_KEY, "ad_user_port_key", ATTR_UINT),
	LEAF(IFLA_BOND_AD_ACTOR_SYSTEM, "ad_actor_system", ATTR_MAC),
	LEAF(IFLA_BOND_TLB_DYNAMIC_LB, "tlb_dynamic_lb", ATTR_UINT),
	LEAF(IFLA_BOND_PEER_NOTIF_DELAY, "peer_notif_delay", ATTR_UINT),
};
static const struct attr_table bond_table = TABLE_OF(bond_rows);

static const struct attr_def bond_slave_rows[] = {
	LEAF(IFLA_BOND_SLAVE_STATE, "state", ATTR_UINT),
	LEAF(IFLA_BOND_SLAVE_MII_STATUS, "mii_status", ATTR_UINT),
	LEAF(IFLA_BOND_SLAVE_LINK_FAILURE_COUNT, "link_failure_count", ATTR_UINT),
	LEAF(IFLA_BOND_SLAVE_PERM_HWADDR, "perm_hwaddr", ATTR_MAC),
	LEAF(IFLA_BOND_SLAVE_QUEUE_ID, "queue_id", ATTR_UINT),
	LEAF(IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, "ad_aggregator_id", ATTR_UINT),
	LEAF(IFLA_BOND_SLAVE_AD_ACTOR_OPER_PORT_STATE, "ad_actor_oper_port_state", ATTR_UINT),
	LEAF(IFLA_BOND_SLAVE_AD_PARTNER_OPER_PORT_STATE, "ad_partner_oper_port_state", ATTR_UINT),
};
static const struct attr_table bond_slave_table = TABLE_OF(bond_slave_rows);

static const struct attr_def macvlan_rows[] = {
	LEAF(IFLA_MACVLAN_MODE, "mode", ATTR_UINT),
	LEAF(IFLA_MACVLAN_FLAGS, "flags", ATTR_HEX),
};
static const struct attr_table macvlan_table = TABLE_OF(macvlan_rows);

static const struct attr_def ipoib_rows[] = {
	LEAF(IFLA_IPOIB_PKEY, "pkey", ATTR_HEX),
	LEAF(IFLA_IPOIB_MODE, "mode", ATTR_UINT),
	LEAF(IFLA_IPOIB_UMCAST, "umcast", ATTR_UINT),
};
static const struct attr_table ipoib_table = TABLE_OF(ipoib_rows);

static const struct attr_def vrf_rows[] = { LEAF(IFLA_VRF_TABLE, "table", ATTR_UINT) };
static const struct attr_table vrf_table = TABLE_OF(vrf_rows);

static const struct attr_def vxlan_rows[] = {
	LEAF(IFLA_VXLAN_ID, "id", ATTR_UINT),
	LEAF(IFLA_VXLAN_LINK, "link", ATTR_UINT),
	LEAF(IFLA_VXLAN_PORT, "port", ATTR_BE16),
};
static const struct attr_table vxlan_table = TABLE_OF(vxlan_rows);

static const struct attr_kind link_kinds[] = {
	{ "bond", &bond_table }, { "ipoib", &ipoib_table }, { "macvlan", &macvlan_table }, { "vlan", &vlan_table },
	{ "vrf", &vrf_table },	 { "vxlan", &vxlan_table }, { NULL, NULL },
};
static const struct attr_kind slave_kinds[] = { { "bond", &bond_slave_table }, { NULL, NULL } };

static const struct attr_def linkinfo_rows[] = {
	LEAF(IFLA_INFO_KIND, "kind", ATTR_STRING),
	LEAF(IFLA_INFO_SLAVE_KIND, "slave_kind", ATTR_STRING),
	{ .number = IFLA_INFO_DATA, .name = "data", .type = ATTR_NEST, .kind_of = "kind", .kinds = link_kinds },
	{ .number = IFLA_INFO_SLAVE_DATA, .name = "slave_data", .type = ATTR_NEST, .kind_of = "slave_kind",
	  .kinds = slave_kinds },
	LEFT_OUT(IFLA_INFO_XSTATS),
};
static const struct attr_table linkinfo_table = TABLE_OF(linkinfo_rows);

static const struct attr_def alt_name_rows[] = { LEAF(0, "", ATTR_STRING) };
static const struct attr_table alt_name_table = TABLE_OF(alt_name_rows);

static const struct attr_field link_fields[] = {
	FIELD(struct ifinfomsg, ifi_index, "index", ATTR_UINT),
	FIELD(struct ifinfomsg, ifi_type, "type", ATTR_UINT),
	FIELD(struct ifinfomsg, ifi_flags, "flags", ATTR_HEX),
};
static const struct attr_def link_rows[] = {
	LEAF(IFLA_IFNAME, "ifname", ATTR_STRING),
	LEAF(IFLA_ADDRESS, "address", ATTR_MAC),
	LEAF(IFLA_BROADCAST, "broadcast", ATTR_MAC),
	LEAF(IFLA_PERM_ADDRESS, "perm_address", ATTR_MAC),
	LEAF(IFLA_MTU, "mtu", ATTR_UINT),
	LEAF(IFLA_MIN_MTU, "min_mtu", ATTR_UINT),
	LEAF(IFLA_MAX_MTU, "max_mtu", ATTR_UINT),
	LEAF(IFLA_LINK, "link", ATTR_UINT),
	LEAF(IFLA_QDISC, "qdisc", ATTR_STRING),
	LEAF(IFLA_MASTER, "master", ATTR_UINT),
	LEAF(IFLA_TXQLEN, "txqlen", ATTR_UINT),
	LEAF(IFLA_OPERSTATE, "operstate", ATTR_UINT),
	LEAF(IFLA_LINKMODE, "linkmode", ATTR_UINT),
	NEST(IFLA_LINKINFO, "linkinfo", &linkinfo_table),
	LEAF(IFLA_IFALIAS, "ifalias", ATTR_STRING),
	LEAF(IFLA_NUM_VF, "num_vf", ATTR_UINT),
	LEAF(IFLA_GROUP, "group", ATTR_UINT),
	LEAF(IFLA_PROMISCUITY, "promiscuity", ATTR_UINT),
	LEAF(IFLA_NUM_TX_QUEUES, "num_tx_queues", ATTR_UINT),
	LEAF(IFLA_NUM_RX_QUEUES, "num_rx_queues", ATTR_UINT),
	LEAF(IFLA_CARRIER, "carrier", ATTR_UINT),
	LEAF(IFLA_CARRIER_CHANGES, "carrier_changes", ATTR_UINT),
	LEAF(IFLA_CARRIER_UP_COUNT, "carrier_up_count", ATTR_UINT),
	LEAF(IFLA_CARRIER_DOWN_COUNT, "carrier_down_count", ATTR_UINT),
	LEAF(IFLA_PHYS_PORT_ID, "phys_port_id", ATTR_BYTES),
	LEAF(IFLA_PHYS_SWITCH_ID, "phys_switch_id", ATTR_BYTES),
	LEAF(IFLA_PHYS_PORT_NAME, "phys_port_name", ATTR_STRING),
	LEAF(IFLA_LINK_NETNSID, "link_netnsid", ATTR_SINT),
	LEAF(IFLA_PROTO_DOWN, "proto_down", ATTR_UINT),
	LIST(IFLA_PROP_LIST, "prop_list", &alt_name_table),
	LEAF(IFLA_PARENT_DEV_NAME, "parent_dev_name", ATTR_STRING),
	LEAF(IFLA_PARENT_DEV_BUS_NAME, "parent_dev_bus_name", ATTR_STRING),
	LEFT_OUT(IFLA_STATS), LEFT_OUT(IFLA_STATS64), LEFT_OUT(IFLA_AF_SPEC), LEFT_OUT(IFLA_MAP), LEFT_OUT(IFLA_XDP),
	LEFT_OUT(IFLA_VFINFO_LIST), LEFT_OUT(IFLA_VF_PORTS), LEFT_OUT(IFLA_PORT_SELF), LEFT_OUT(IFLA_WIRELESS),
	LEFT_OUT(IFLA_GSO_MAX_SEGS), LEFT_OUT(IFLA_GSO_MAX_SIZE), LEFT_OUT(IFLA_GRO_MAX_SIZE),
	LEFT_OUT(IFLA_TSO_MAX_SIZE), LEFT_OUT(IFLA_TSO_MAX_SEGS), LEFT_OUT(LINK_GSO_IPV4_MAX_SIZE),
	LEFT_OUT(LINK_GRO_IPV4_MAX_SIZE), LEFT_OUT(LINK_DEVLINK_PORT), LEFT_OUT(LINK_DPLL_PIN),
	LEFT_OUT(LINK_PACING_HORIZON), LEFT_OUT(LINK_NETNS_IMMUTABLE), LEFT_OUT(LINK_HEADROOM), LEFT_OUT(LINK_TAILROOM),
	LEFT_OUT(IFLA_ALLMULTI), LEFT_OUT(IFLA_EVENT), LEFT_OUT(IFLA_PROTINFO),
	LEFT_OUT(IFLA_PROTO_DOWN_REASON), LEFT_OUT(IFLA_PAD),
};
static const struct attr_table link_table = TABLE_WITH_HEADER(struct ifinfomsg, link_fields, link_rows);

/* rtnl address */

static const struct attr_field address_fields[] = {
	FIELD(struct ifaddrmsg, ifa_family, "family", ATTR_UINT),
	FIELD(struct ifaddrmsg, ifa_prefixlen, "prefixlen", ATTR_UINT),
	FIELD(struct ifaddrmsg, ifa_scope, "scope", ATTR_UINT),
	FIELD(struct ifaddrmsg, ifa_index, "index", ATTR_UINT),
};
static const struct attr_def address_rows[] = {
	DEV_NAME_ADDED,
	LEAF(IFA_ADDRESS, "address", ATTR_IP),
	LEAF(IFA_LOCAL, "local", ATTR_IP),
	LEAF(IFA_LABEL, "label", ATTR_STRING),
	LEAF(IFA_BROADCAST, "broadcast", ATTR_IP),
	LEAF(IFA_ANYCAST, "anycast", ATTR_IP),
	LEAF(IFA_MULTICAST, "multicast", ATTR_IP),
	LEAF(IFA_FLAGS, "flags", ATTR_HEX),
	LEAF(IFA_RT_PRIORITY, "rt_priority", ATTR_UINT),
	LEAF(IFA_PROTO, "proto", ATTR_UINT),
	LEFT_OUT(IFA_CACHEINFO),
};
static const struct attr_table address_table = TABLE_WITH_HEADER(struct ifaddrmsg, address_fields, address_rows);

/* rtnl route */

static const struct attr_def metrics_rows[] = {
	LEAF(RTAX_LOCK, "lock", ATTR_HEX),
	LEAF(RTAX_MTU, "mtu", ATTR_UINT),
	LEAF(RTAX_WINDOW, "window", ATTR_UINT),
	LEAF(RTAX_ADVMSS, "advmss", ATTR_UINT),
	LEAF(RTAX_HOPLIMIT, "hoplimit", ATTR_UINT),
	LEAF(RTAX_INITCWND, "initcwnd", ATTR_UINT),
	LEAF(RTAX_FEATURES, "features", ATTR_HEX),
	LEAF(RTAX_QUICKACK, "quickack", ATTR_UINT),
	LEAF(RTAX_CC_ALGO, "cc_algo", ATTR_STRING),
};
static const struct attr_table metrics_table = TABLE_OF(metrics_rows);

static const struct attr_field route_fields[] = {
	FIELD(struct rtmsg, rtm_family, "family", ATTR_UINT),
	FIELD(struct rtmsg, rtm_dst_len, "dst_len", ATTR_UINT),
	FIELD_NOT_0(struct rtmsg, rtm_src_len, "src_len", ATTR_UINT),
	FIELD_NOT_0(struct rtmsg, rtm_tos, "tos", ATTR_UINT),
	FIELD(struct rtmsg, rtm_protocol, "protocol", ATTR_UINT),
	FIELD(struct rtmsg, rtm_scope, "scope", ATTR_UINT),
	FIELD(struct rtmsg, rtm_type, "type", ATTR_UINT),
	FIELD_NOT_0(struct rtmsg, rtm_flags, "flags", ATTR_HEX),
};
static const struct attr_def route_rows[] = {
	DEV_NAME_ADDED,
	LEAF(RTA_DST, "dst", ATTR_IP),
	LEAF(RTA_SRC, "src", ATTR_IP),
	LEAF(RTA_IIF, "iif", ATTR_UINT),
	LEAF(RTA_OIF, "oif", ATTR_UINT),
	LEAF(RTA_GATEWAY, "gateway", ATTR_IP),
	LEAF(RTA_PRIORITY, "priority", ATTR_UINT),
	LEAF(RTA_PREFSRC, "prefsrc", ATTR_IP),
	NEST(RTA_METRICS, "metrics", &metrics_table),
	LEAF(RTA_MULTIPATH, "multipath", ATTR_BYTES),
	LEAF(RTA_TABLE, "table", ATTR_UINT),
	LEAF(RTA_MARK, "mark", ATTR_HEX),
	LEAF(RTA_VIA, "via", ATTR_BYTES),
	LEAF(RTA_PREF, "pref", ATTR_UINT),
	LEAF(RTA_ENCAP_TYPE, "encap_type", ATTR_UINT),
	LEAF(RTA_ENCAP, "encap", ATTR_BYTES),
	LEAF(RTA_NH_ID, "nh_id", ATTR_UINT),
	LEFT_OUT(RTA_CACHEINFO), LEFT_OUT(RTA_EXPIRES), LEFT_OUT(RTA_FLOW), LEFT_OUT(RTA_PAD),
};
static const struct attr_table route_table = TABLE_WITH_HEADER(struct rtmsg, route_fields, route_rows);

/* rtnl rule */

static const struct attr_field rule_fields[] = {
	FIELD(struct fib_rule_hdr, family, "family", ATTR_UINT),
	FIELD(struct fib_rule_hdr, dst_len, "dst_len", ATTR_UINT),
	FIELD(struct fib_rule_hdr, src_len, "src_len", ATTR_UINT),
	FIELD_NOT_0(struct fib_rule_hdr, tos, "tos", ATTR_UINT),
	FIELD(struct fib_rule_hdr, action, "action", ATTR_UINT),
	FIELD_NOT_0(struct fib_rule_hdr, flags, "flags", ATTR_HEX),
};
static const struct attr_def rule_rows[] = {
	LEAF(FRA_DST, "dst", ATTR_IP),
	LEAF(FRA_SRC, "src", ATTR_IP),
	LEAF(FRA_IIFNAME, "iifname", ATTR_STRING),
	LEAF(FRA_OIFNAME, "oifname", ATTR_STRING),
	LEAF(FRA_GOTO, "goto", ATTR_UINT),
	LEAF(FRA_PRIORITY, "priority", ATTR_UINT),
	LEAF(FRA_FWMARK, "fwmark", ATTR_HEX),
	LEAF(FRA_FWMASK, "fwmask", ATTR_HEX),
	LEAF(FRA_TUN_ID, "tun_id", ATTR_BYTES),
	LEAF(FRA_SUPPRESS_IFGROUP, "suppress_ifgroup", ATTR_SINT),
	LEAF(FRA_SUPPRESS_PREFIXLEN, "suppress_prefixlen", ATTR_SINT),
	LEAF(FRA_TABLE, "table", ATTR_UINT),
	LEAF(FRA_L3MDEV, "l3mdev", ATTR_UINT),
	LEAF(FRA_UID_RANGE, "uid_range", ATTR_BYTES),
	LEAF(FRA_PROTOCOL, "protocol", ATTR_UINT),
	LEAF(FRA_IP_PROTO, "ip_proto", ATTR_UINT),
	LEAF(FRA_SPORT_RANGE, "sport_range", ATTR_BYTES),
	LEAF(FRA_DPORT_RANGE, "dport_range", ATTR_BYTES),
	LEFT_OUT(FRA_FLOW), LEFT_OUT(FRA_PAD),
};
static const struct attr_table rule_table = TABLE_WITH_HEADER(struct fib_rule_hdr, rule_fields, rule_rows);

/* rtnl neigh */

static const struct attr_field neigh_fields[] = {
	FIELD(struct ndmsg, ndm_family, "family", ATTR_UINT),
	FIELD(struct ndmsg, ndm_ifindex, "index", ATTR_UINT),
	FIELD(struct ndmsg, ndm_state, "state", ATTR_HEX),
	FIELD_NOT_0(struct ndmsg, ndm_flags, "flags", ATTR_HEX),
	FIELD(struct ndmsg, ndm_type, "type", ATTR_UINT),
};
static const struct attr_def neigh_rows[] = {
	DEV_NAME_ADDED,
	LEAF(NDA_DST, "dst", ATTR_IP),
	LEAF(NDA_LLADDR, "lladdr", ATTR_MAC),
	LEAF(NDA_VLAN, "vlan", ATTR_UINT),
	LEAF(NDA_MASTER, "master", ATTR_UINT),
	LEAF(NDA_PROTOCOL, "protocol", ATTR_UINT),
	LEFT_OUT(NDA_PROBES), LEFT_OUT(NDA_CACHEINFO),
};
static const struct attr_table neigh_table = TABLE_WITH_HEADER(struct ndmsg, neigh_fields, neigh_rows);

/* ethtool */

static const struct attr_def ethtool_header_rows[] = {
	LEAF(ETHTOOL_A_HEADER_DEV_INDEX, "dev_index", ATTR_UINT),
	LEAF(ETHTOOL_A_HEADER_DEV_NAME, "dev_name", ATTR_STRING),
	LEAF(ETHTOOL_A_HEADER_FLAGS, "flags", ATTR_HEX),
};
static const struct attr_table ethtool_header_table = TABLE_OF(ethtool_header_rows);

static const struct attr_def bit_rows[] = {
	LEAF(ETHTOOL_A_BITSET_BIT_INDEX, "index", ATTR_UINT),
	LEAF(ETHTOOL_A_BITSET_BIT_NAME, "name", ATTR_STRING),
	LEAF(ETHTOOL_A_BITSET_BIT_VALUE, "value", ATTR_FLAG),
};
static const struct attr_table bit_table = TABLE_OF(bit_rows);
static const struct attr_def bits_rows[] = { NEST(ETHTOOL_A_BITSET_BITS_BIT, "bit", &bit_table) };
static const struct attr_table bits_table = TABLE_OF(bits_rows);
static const struct attr_def bitset_rows[] = {
	LEAF(ETHTOOL_A_BITSET_NOMASK, "nomask", ATTR_FLAG),
	LEAF(ETHTOOL_A_BITSET_SIZE, "size", ATTR_UINT),
	LIST(ETHTOOL_A_BITSET_BITS, "bits", &bits_table),
	LEAF(ETHTOOL_A_BITSET_VALUE, "value", ATTR_BYTES),
	LEAF(ETHTOOL_A_BITSET_MASK, "mask", ATTR_BYTES),
};
static const struct attr_table bitset_table = TABLE_OF(bitset_rows);

static const struct attr_def linkinfo_get_rows[] = {
	NEST(ETHTOOL_A_LINKINFO_HEADER, "header", &ethtool_header_table),
	LEAF(ETHTOOL_A_LINKINFO_PORT, "port", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKINFO_PHYADDR, "phyaddr", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKINFO_TP_MDIX, "tp_mdix", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKINFO_TP_MDIX_CTRL, "tp_mdix_ctrl", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKINFO_TRANSCEIVER, "transceiver", ATTR_UINT),
};
static const struct attr_table linkinfo_get_table = TABLE_OF(linkinfo_get_rows);

static const struct attr_def linkmodes_rows[] = {
	NEST(ETHTOOL_A_LINKMODES_HEADER, "header", &ethtool_header_table),
	LEAF(ETHTOOL_A_LINKMODES_AUTONEG, "autoneg", ATTR_UINT),
	NEST(ETHTOOL_A_LINKMODES_OURS, "ours", &bitset_table),
	NEST(ETHTOOL_A_LINKMODES_PEER, "peer", &bitset_table),
	LEAF(ETHTOOL_A_LINKMODES_SPEED, "speed", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKMODES_DUPLEX, "duplex", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKMODES_MASTER_SLAVE_CFG, "master_slave_cfg", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKMODES_MASTER_SLAVE_STATE, "master_slave_state", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKMODES_LANES, "lanes", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKMODES_RATE_MATCHING, "rate_matching", ATTR_UINT),
};
static const struct attr_table linkmodes_table = TABLE_OF(linkmodes_rows);

static const struct attr_def linkstate_rows[] = {
	NEST(ETHTOOL_A_LINKSTATE_HEADER, "header", &ethtool_header_table),
	LEAF(ETHTOOL_A_LINKSTATE_LINK, "link", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKSTATE_SQI, "sqi", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKSTATE_SQI_MAX, "sqi_max", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKSTATE_EXT_STATE, "ext_state", ATTR_UINT),
	LEAF(ETHTOOL_A_LINKSTATE_EXT_SUBSTATE, "ext_substate", ATTR_UINT),
	LEAF(LINKSTATE_EXT_DOWN_CNT, "ext_down_cnt", ATTR_UINT),
};
static const struct attr_table linkstate_table = TABLE_OF(linkstate_rows);

static const struct attr_def fec_stat_rows[] = {
	LEAF(ETHTOOL_A_FEC_STAT_CORRECTED, "corrected", ATTR_BYTES),
	LEAF(ETHTOOL_A_FEC_STAT_UNCORR, "uncorr", ATTR_BYTES),
	LEAF(ETHTOOL_A_FEC_STAT_CORR_BITS, "corr_bits", ATTR_BYTES),
	LEFT_OUT(ETHTOOL_A_FEC_STAT_PAD),
};
static const struct attr_table fec_stat_table = TABLE_OF(fec_stat_rows);
static const struct attr_def fec_rows[] = {
	NEST(ETHTOOL_A_FEC_HEADER, "header", &ethtool_header_table),
	NEST(ETHTOOL_A_FEC_MODES, "modes", &bitset_table),
	LEAF(ETHTOOL_A_FEC_AUTO, "auto", ATTR_UINT),
	LEAF(ETHTOOL_A_FEC_ACTIVE, "active", ATTR_UINT),
	NEST(ETHTOOL_A_FEC_STATS, "stats", &fec_stat_table),
};
static const struct attr_table fec_table = TABLE_OF(fec_rows);

static const struct attr_def pause_stat_rows[] = {
	LEAF(ETHTOOL_A_PAUSE_STAT_TX_FRAMES, "tx_frames", ATTR_UINT),
	LEAF(ETHTOOL_A_PAUSE_STAT_RX_FRAMES, "rx_frames", ATTR_UINT),
	LEFT_OUT(ETHTOOL_A_PAUSE_STAT_PAD),
};
static const struct attr_table pause_stat_table = TABLE_OF(pause_stat_rows);
static const struct attr_def pause_rows[] = {
	NEST(ETHTOOL_A_PAUSE_HEADER, "header", &ethtool_header_table),
	LEAF(ETHTOOL_A_PAUSE_AUTONEG, "autoneg", ATTR_UINT),
	LEAF(ETHTOOL_A_PAUSE_RX, "rx", ATTR_UINT),
	LEAF(ETHTOOL_A_PAUSE_TX, "tx", ATTR_UINT),
	NEST(ETHTOOL_A_PAUSE_STATS, "stats", &pause_stat_table),
};
static const struct attr_table pause_table = TABLE_OF(pause_rows);

static const struct attr_def channels_rows[] = {
	NEST(ETHTOOL_A_CHANNELS_HEADER, "header", &ethtool_header_table),
	LEAF(ETHTOOL_A_CHANNELS_RX_MAX, "rx_max", ATTR_UINT),
	LEAF(ETHTOOL_A_CHANNELS_TX_MAX, "tx_max", ATTR_UINT),
	LEAF(ETHTOOL_A_CHANNELS_OTHER_MAX, "other_max", ATTR_UINT),
	LEAF(ETHTOOL_A_CHANNELS_COMBINED_MAX, "combined_max", ATTR_UINT),
	LEAF(ETHTOOL_A_CHANNELS_RX_COUNT, "rx_count", ATTR_UINT),
	LEAF(ETHTOOL_A_CHANNELS_TX_COUNT, "tx_count", ATTR_UINT),
	LEAF(ETHTOOL_A_CHANNELS_OTHER_COUNT, "other_count", ATTR_UINT),
	LEAF(ETHTOOL_A_CHANNELS_COMBINED_COUNT, "combined_count", ATTR_UINT),
};
static const struct attr_table channels_table = TABLE_OF(channels_rows);

/* Only asked for by the fact "ethtool/module/DEV", which is what snapshots keep. */
static const struct attr_def module_eeprom_rows[] = {
	NEST(ETHTOOL_A_MODULE_EEPROM_HEADER, "header", &ethtool_header_table),
	LEAF(ETHTOOL_A_MODULE_EEPROM_DATA, "data", ATTR_BYTES),
};
static const struct attr_table module_eeprom_table = TABLE_OF(module_eeprom_rows);

/* rdma */

static const struct attr_def rdma_rows[] = {
	LEAF(RDMA_NLDEV_ATTR_DEV_INDEX, "dev_index", ATTR_UINT),
	LEAF(RDMA_NLDEV_ATTR_DEV_NAME, "dev_name", ATTR_STRING),
	LEAF(RDMA_NLDEV_ATTR_PORT_INDEX, "port_index", ATTR_UINT),
	LEAF(RDMA_NLDEV_ATTR_CAP_FLAGS, "cap_flags", ATTR_HEX),
	LEAF(RDMA_NLDEV_ATTR_FW_VERSION, "fw_version", ATTR_STRING),
	LEAF(RDMA_NLDEV_ATTR_NODE_GUID, "node_guid", ATTR_HEX),
	LEAF(RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, "sys_image_guid", ATTR_HEX),
	LEAF(RDMA_NLDEV_ATTR_SUBNET_PREFIX, "subnet_prefix", ATTR_HEX),
	LEAF(RDMA_NLDEV_ATTR_LID, "lid", ATTR_UINT),
	LEAF(RDMA_NLDEV_ATTR_SM_LID, "sm_lid", ATTR_UINT),
	LEAF(RDMA_NLDEV_ATTR_LMC, "lmc", ATTR_UINT),
	LEAF(RDMA_NLDEV_ATTR_PORT_STATE, "port_state", ATTR_UINT),
	LEAF(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, "port_phys_state", ATTR_UINT),
	LEAF(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, "dev_node_type", ATTR_UINT),
	LEAF(RDMA_NLDEV_ATTR_NDEV_INDEX, "ndev_index", ATTR_UINT),
	LEAF(RDMA_NLDEV_ATTR_NDEV_NAME, "ndev_name", ATTR_STRING),
	LEAF(RDMA_NLDEV_ATTR_LINK_TYPE, "link_type", ATTR_STRING),
	LEAF(RDMA_NLDEV_ATTR_DEV_PROTOCOL, "dev_protocol", ATTR_STRING),
	LEAF(RDMA_NLDEV_ATTR_DEV_DIM, "dev_dim", ATTR_UINT),
	LEAF(NLDEV_DEV_TYPE, "dev_type", ATTR_UINT),
	LEAF(NLDEV_PARENT_NAME, "parent_name", ATTR_STRING),
};
static const struct attr_table rdma_table = TABLE_OF(rdma_rows);

static const struct {
	const char *family, *command;
	const struct attr_table *table;
} messages[] = {
	{ "rtnl", "link", &link_table },
	{ "rtnl", "address", &address_table },
	{ "rtnl", "route", &route_table },
	{ "rtnl", "rule", &rule_table },
	{ "rtnl", "neigh", &neigh_table },
	{ "ethtool", "linkinfo", &linkinfo_get_table },
	{ "ethtool", "linkmodes", &linkmodes_table },
	{ "ethtool", "linkstate", &linkstate_table },
	{ "ethtool", "fec", &fec_table },
	{ "ethtool", "pause", &pause_table },
	{ "ethtool", "channels", &channels_table },
	{ "ethtool", "module-eeprom", &module_eeprom_table },
	{ "rdma", "device", &rdma_table },
	{ "rdma", "link", &rdma_table },
};

const struct attr_table *attr_table_find(const char *family, const char *command)
{
	for (size_t i = 0; i < COUNT(messages); i++)
		if (strcmp(messages[i].family, family) == 0 && strcmp(messages[i].command, command) == 0)
			return messages[i].table;
	return NULL;
}
