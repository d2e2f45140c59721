/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole world that a check sees. checks/NAME.c defines `const struct check check_NAME`; the table of all checks is
 * generated from the file names. A check is a pure function: no I/O, no statics that change, nothing printed.
 *
 * It has exactly one of
 *	run	called once for each host that answered: judges one snapshot
 *	compare	called once for a run in which two or more hosts answered: judges the fabric
 * and adds at least one finding each time it is called: PASS where the rule holds, SKIP with its reason where there is
 * nothing to judge. See docs/adding-a-check.md.
 */
#ifndef SPARKFAB_CHECKS_CHECK_H
#define SPARKFAB_CHECKS_CHECK_H

#include "core/value.h"
#include "facts/fabric.h"
#include "facts/snapshot.h"
#include "results/results.h"
#include "rules/profile.h"
#include "rules/remedies.h"

struct pairs;

/* What must be there before the check is called; otherwise the runner adds one SKIP or UNKNOWN finding itself. */
enum check_needs {
	NEEDS_NOTHING = 0,
	NEEDS_PORTS = 1 << 0,	  /* at least one RDMA port */
	NEEDS_NETDEVS = 1 << 1,
	NEEDS_ASKED = 1 << 3,	  /* compare only: called too when the one peer that was asked for did not answer */
	NEEDS_CONTACTS = 1 << 2,  /* compare only: called as soon as a peer was asked for, even if none answered */
};

/* What a check is given and where it puts its findings. */
struct verdicts {
	const struct check *check;
	const struct fabric *fabric;   /* never NULL; one host alone is a fabric of one */
	const struct profile *profile; /* never NULL */
	const struct pairs *pairs;     /* rules/pairs.h: each two hosts, worked out once a run; never NULL */
	struct results *results;
};

struct check {
	const char *id;	    /* "mtu.parity": family.name, a contract */
	const char *title;  /* a rule that can be true: "Both ends of a rail have the same MTU" */
	const char *why;    /* what happens to the user's job otherwise */
	const char *remedy; /* the general cure, one sentence; findings carry the commands */
	const char *source; /* where the rule comes from */
	unsigned needs;	    /* enum check_needs */
	enum level level;
	void (*run)(struct verdicts *v, const struct snapshot *host);
	void (*compare)(struct verdicts *v);
};

/* Short forms for check authors; each adds a finding of v->check. `host` may be NULL for a finding about all. */
struct finding *pass(struct verdicts *v, const struct snapshot *host, const char *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
struct finding *warn(struct verdicts *v, const struct snapshot *host, const char *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
struct finding *fail(struct verdicts *v, const struct snapshot *host, const char *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
struct finding *skip(struct verdicts *v, const struct snapshot *host, const char *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
struct finding *unknown(struct verdicts *v, const struct snapshot *host, const char *subject, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* SKIP or UNKNOWN by value_gap(value.err), with the reason and the value's origin as evidence. `what`: "MTU". */
struct finding *unread(struct verdicts *v, const struct snapshot *host, const char *subject, const char *what,
		       struct num value);

/* Judges every peer that was asked for. */
void each_contact(struct verdicts *v, void (*judge)(struct verdicts *v, const struct contact *peer));

/* Evidence for a finding just added. */
void saw_num(struct verdicts *v, struct finding *f, const struct snapshot *host, const char *name, struct num value,
	     const char *unit);
void saw_text(struct verdicts *v, struct finding *f, const struct snapshot *host, const char *name, struct text value);
void expected(struct verdicts *v, struct finding *f, const char *source, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Expectation text and source of a profile's threshold. */
void expected_threshold(struct verdicts *v, struct finding *f, const struct threshold *threshold, const char *unit);

/*
 * Parity: the same field on every host, hosts grouped by value, the odd ones out named against the majority (two hosts have
 * no majority: then both are named). One finding. Unread values on some hosts make it UNKNOWN or are named as a note,
 * by value_gap().
 */
struct parity_value {
	const struct snapshot *host;
	const char *subject_on_host; /* "rocep1s0f0/1"; NULL */
	bool is_text;
	struct num num;
	struct text text;
};
struct finding *parity(struct verdicts *v, const char *subject, const char *what, const char *unit, enum verdict if_differs,
		       const struct parity_value *values, size_t n);

/* Calls `judge` for each used port of the host (design: unused is not broken); one SKIP if none is used. */
typedef void port_judge_fn(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port);
void each_used_port(struct verdicts *v, const struct snapshot *host, port_judge_fn *judge);

/* True after adding SKIP (or UNKNOWN, if the state could not be read) for a port that is not ACTIVE: link.state judges that. */
bool skipped_as_down(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port);

/* The PCI function whose link to the host is to be judged; NULL after adding SKIP for soft devices and virtual functions. */
const struct pci_dev *judged_function(struct verdicts *v, const struct snapshot *host, const struct rdma_port *port);

/* Time between the two readings of a host's counters; VALUE_NOT_ASKED where only one was taken. */
struct num sample_interval_ns(const struct snapshot *host);

/* Whether the port's frames pass this netdev: its own, the one below a VLAN, the members of a bond. */
bool port_rides_on(const struct rdma_port *port, const struct netdev *netdev);

#endif
