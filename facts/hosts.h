/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From records to a fabric: the hosts of one run, typed and joined. Used alike for hosts asked just now, snapshot files,
 * fixtures and bundles, so that the same records always give the same fabric.
 */
#ifndef SPARKFAB_FACTS_HOSTS_H
#define SPARKFAB_FACTS_HOSTS_H

#include "core/fault.h"
#include "facts/fabric.h"
#include "facts/record.h"

struct hosts;

struct hosts *hosts_new(void);
struct hosts *hosts_free(struct hosts *hosts); /* the fabric with it; NULL is fine; returns NULL */

/* Adds a host; the first one is the head. Its name is the records' header `host`, else "head" or "worker"; a name that is
 * taken gets "#2". Records of a peer that never got past a failed contact add that contact only. The records are borrowed
 * until hosts_free(), or given away with `own`. */
void hosts_add(struct hosts *hosts, struct records *records, bool own);

/* Reads a snapshot file and adds it. 0 or -errno of records_load(). */
int hosts_add_file(struct hosts *hosts, const char *path, struct fault *reterr);

/* Number of hosts that have a snapshot. */
size_t hosts_count(const struct hosts *hosts);
const struct snapshot *hosts_snapshot(const struct hosts *hosts, size_t i);

/* The level at which the head was recorded ("probe"), from its header; NULL if it does not say. */
const char *hosts_level(const struct hosts *hosts);

/* Joins them, once all are added. Lives as long as `hosts`. */
const struct fabric *hosts_fabric(struct hosts *hosts, const struct fabric_hints *hints);

#endif
