/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the typed readers: what they share while one snapshot is being filled. Nobody else includes this. */
#ifndef SPARKFAB_FACTS_READING_H
#define SPARKFAB_FACTS_READING_H

#include "facts/snapshot.h"

struct reading {
	struct source *source;
	struct arena *arena;   /* the snapshot's */
	struct arena *scratch; /* for what is read and not kept: gone when the reading ends */
	struct snapshot *snap;
};

/* The parts, in the order in which they need each other. */
void read_identity(struct reading *r);
void read_netdevs(struct reading *r);	    /* rtnl links and addresses */
void read_rdma(struct reading *r);	    /* devices, ports, GIDs, counters; ties ports to netdevs */
void read_pci(struct reading *r);	    /* functions and bridges; ties devices and netdevs to them */
void read_netdev_details(struct reading *r); /* ethtool, only for netdevs that matter to the fabric */
void read_routes(struct reading *r);	    /* routes, rules, neighbours */
void read_netconfig(struct reading *r);	    /* who keeps the settings of the RDMA ports' netdevs */
void read_reaches(struct reading *r, const struct records *records);

/* The second sample of each part's counters. */
void reread_identity(struct reading *r);
void reread_rdma(struct reading *r);
void reread_netdevs(struct reading *r);
void reread_pci(struct reading *r);

/* source_text and source_num of a path put together from a format. */
struct text reading_text(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct num reading_num(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Target of a symbolic link, or its last component. */
struct text reading_link(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct text reading_link_name(struct reading *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A counter file: "N/A (no PMA)" is a gap, the top of the register (`top`, 0: none) is VALUE_SATURATED. */
struct num reading_counter(struct reading *r, const char *path, int64_t top);

/* A netlink attribute, with an origin like "rtnl link eth1: mtu". `what`: "rtnl link". */
struct num reading_nl_num(struct reading *r, const char *what, const struct nl_object *object, const char *attr);
struct text reading_nl_text(struct reading *r, const char *what, const struct nl_object *object, const char *attr);

/* A member of a fact's JSON object; `err` (0 or -errno) is what asking for the fact gave. */
struct num reading_json_num(const json_t *json, int err, const char *member, const char *origin);
struct text reading_json_text(struct reading *r, const json_t *json, int err, const char *member, const char *origin);

/* Member "errno" of a fact that tells of a failure: positive, 0 if there is none, EIO if it is no errno. */
int reading_json_errno(const json_t *json);

/* "0000:01:00.0"? `text` need not end there. */
bool is_bdf(const char *text, size_t len);

/* Order of names for people: "mlx5_2" before "mlx5_10", "rocep1s0f1" before "roceP2p1s0f0". */
int name_compare(const char *a, const char *b);

const struct netdev *netdev_by_index(const struct snapshot *snap, int64_t index);

#endif
