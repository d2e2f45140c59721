/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that know whether they were read, and where.
 *
 * sysfs answers EINVAL for the speed of a link that is down; a checker that takes that for 0 lies. So no reader returns a
 * bare number: it returns one of these, and a check that wants the value has to look at `err` first.
 */
#ifndef SPARKFAB_CORE_VALUE_H
#define SPARKFAB_CORE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

/* Values of `err` beside the errno of the read that failed. They lie above every errno of Linux. */
enum value_err {
	VALUE_NOT_ASKED = 5000, /* nobody tried: the zero of the type, e.g. a port without a netdev has no MTU to ask for */
	VALUE_SATURATED,	/* a counter at the top of its register (255, 65535, 2^32-1): its value is not known */
	VALUE_PLACEHOLDER,	/* the kernel prints something, but it means nothing (rate of a down or of a soft-RoCE port) */
	VALUE_MALFORMED,	/* read, but not of the form that its origin documents */
};

struct num {
	int64_t val;	    /* meaningful only if err == 0 */
	int err;	    /* 0, a positive errno, or enum value_err */
	const char *origin; /* file, netlink attribute or library call that gave it; NULL with VALUE_NOT_ASKED */
};

struct text {
	const char *val; /* meaningful only if err == 0, then never NULL */
	int err;
	const char *origin;
};

/* What an unread value means for a verdict (design 4: unknown is not fine, unused is not broken). */
enum value_gap {
	GAP_NONE,	   /* it was read */
	GAP_ABSENT,	   /* the subject does not exist here: SKIP */
	GAP_UNSUPPORTED,   /* driver or platform does not offer it: SKIP */
	GAP_NOT_PERMITTED, /* these privileges do not allow it: SKIP */
	GAP_UNREADABLE,	   /* it should have been readable: UNKNOWN */
};

/* Class of an `err` of this file. ENOENT, ENODEV, VALUE_NOT_ASKED: absent. EOPNOTSUPP, EINVAL, ENOSYS, VALUE_PLACEHOLDER,
 * VALUE_SATURATED: unsupported. EACCES, EPERM: not permitted. Everything else: unreadable. */
enum value_gap value_gap(int err);

/* A few words for people: "not supported by the driver", "permission denied", … Never NULL, static storage. */
const char *value_gap_text(int err);

/* The errno's symbol ("EINVAL"), or of enum value_err ("SATURATED"); static storage, "E?" for an unknown one. */
const char *value_err_name(int err);

/* The reverse; 0 if the name is not known. */
int value_err_number(const char *name);

static inline struct num num_of(int64_t val, const char *origin)
{
	return (struct num){ .val = val, .origin = origin };
}

static inline struct num num_err(int err, const char *origin)
{
	return (struct num){ .err = err, .origin = origin };
}

static inline struct text text_of(const char *val, const char *origin)
{
	return (struct text){ .val = val, .origin = origin };
}

static inline struct text text_err(int err, const char *origin)
{
	return (struct text){ .err = err, .origin = origin };
}

static inline bool num_is(struct num n, int64_t val)
{
	return n.err == 0 && n.val == val;
}

#endif
