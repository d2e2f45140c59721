/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run found: findings with verdict, subject, evidence, expectation and remedy. Built by checks (and by the peers that
 * could not be reached), read by reports. One arena holds all of it.
 */
#ifndef SPARKFAB_RESULTS_RESULTS_H
#define SPARKFAB_RESULTS_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/value.h"

enum verdict { VERDICT_PASS, VERDICT_SKIP, VERDICT_WARN, VERDICT_UNKNOWN, VERDICT_FAIL }; /* worst last */

enum level { LEVEL_PASSIVE, LEVEL_PROBE, LEVEL_FULL };

struct evidence {
	const char *host;
	const char *name;   /* "mtu" */
	struct num num;	    /* or */
	struct text text;   /* this one, if is_text */
	bool is_text;
	const char *unit;   /* base unit: "bytes", "bits/s", NULL for none */
};

struct remedy {
	const char *host;
	const char *command;  /* one shell line, this host's own names filled in and quoted; NULL: advice only */
	const char *advice;   /* a sentence, where no command can do it ("plug the cable in again"); NULL */
	bool is_persistent;   /* survives a reboot; else it acts now */
	const char *disturbs; /* what else it touches: "bounces the link"; NULL: nothing */
};

struct finding {
	const char *check;
	enum verdict verdict;
	bool required;
	const char **hosts; size_t n_hosts; /* the ones it is about; for parity the odd ones out first */
	const char *subject;		    /* "rocep1s0f0/1", "rail 0", "NCCL_IB_HCA"; "" for the host as a whole */
	const char *message;		    /* one sentence */
	struct evidence *evidence; size_t n_evidence;
	const char *expected, *expected_source; /* NULL: none */
	struct remedy *remedies; size_t n_remedies;
	size_t seq; /* order of adding */
};

struct results_host {
	const char *name, *role, *hostname, *kernel, *os, *product, *arch;
	bool answered;
};

struct measurement {
	const char *name, *from_host, *from_port, *to_host, *to_port;
	struct num value;
	const char *unit;
};

struct results {
	struct arena *arena;
	const char *profile, *profile_why; /* why it was chosen */
	enum level level;
	int64_t started_real_ns, duration_ns;
	struct results_host *hosts; size_t n_hosts;
	struct finding *findings; size_t n_findings;
	const char **not_compared; size_t n_not_compared; /* ids of checks that compare hosts, where only one was seen */
	const char **not_run; size_t n_not_run; /* ids of checks above the level */
	struct measurement *measurements; size_t n_measurements;
	/* filled by results_finish(): */
	enum verdict verdict;
	size_t counts[VERDICT_FAIL + 1];
	const char *verdict_why; /* one sentence: what decided it */
	struct rail_picture *rails; size_t n_rails; /* for the terminal's picture */
	struct string_pool *pool; /* results.c: every string of a finding, each kept once */
};

/* One line of the picture head <-> worker. Texts are short and for people; NULL: not known. */
struct rail_picture {
	const char *name; /* "rail 0" */
	struct rail_picture_end {
		const char *host, *port, *netdev, *addr;
		const char *rate; /* "200G" */
		const char *mtu;  /* "9000/4096": netdev and RDMA */
		bool active;
	} *ends; size_t n_ends;
	bool is_proven, is_broken;
	const char *note; /* why it is not proven or broken; NULL */
};

struct results *results_new(void);
struct results *results_free(struct results *results);

/* Adds a finding; all strings given here and below are copied. The pointer is valid until the next finding_add.
 * subject and host may be NULL: the host as a whole, all hosts. */
struct finding *finding_add(struct results *results, const char *check, enum verdict verdict, const char *subject,
			    const char *format, ...) __attribute__((format(printf, 5, 6)));
void finding_host(struct results *results, struct finding *finding, const char *host); /* once each; repeats are dropped */
void finding_num(struct results *results, struct finding *finding, const char *host, const char *name, struct num value,
		 const char *unit);
void finding_text(struct results *results, struct finding *finding, const char *host, const char *name, struct text value);
void finding_expect(struct results *results, struct finding *finding, const char *source, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void finding_remedy(struct results *results, struct finding *finding, struct remedy remedy); /* copies its strings */

/* Sorts, counts, decides the verdict (design 9): FAIL, else UNKNOWN (also if a required check is missing, SKIPped without
 * leave, or nothing passed), else WARN, else PASS. `required`: ids that must have come out PASS or WARN; `may_skip`: those of
 * them that may SKIP. NULL-terminated arrays, NULL: none.
 *
 * A required check is decided when it has a finding, and on no host only SKIPs: one unused port beside a good one decides
 * nothing, but a whole host on which it could not be asked leaves it open.
 *
 * Order (design 8): FAIL, UNKNOWN, WARN, PASS, SKIP (what was not judged is the least news); required first; check id; first
 * host; subject; order of adding. Numbers in names count as numbers: rail 2 before rail 10. */
void results_finish(struct results *results, const char *const required[], const char *const may_skip[]);

/* Exit code of design 9: 0, 1, 2 or 3. warn_ok turns 1 into 0. */
int results_exit_code(const struct results *results, bool warn_ok);

const char *verdict_name(enum verdict verdict); /* "pass", … as in JSON */
const char *level_name(enum level level);

#endif
