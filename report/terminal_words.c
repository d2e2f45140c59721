// SPDX-License-Identifier: Apache-2.0
/* Values and names in words for people. JSON has the same values in base units. */
#include "report/terminal.h"

#include <inttypes.h>
#include <string.h>

/* Units that people read in steps; all others stand as they are. */
static const struct scale {
	const char *unit;
	double factor; /* to the base of the steps */
	double step, from;
	const char *const steps[6];
} scales[] = {
	{ "bits/s", 1, 1000, 1000, { "bit/s", "kb/s", "Mb/s", "Gb/s", "Tb/s" } },
	{ "Mbit/s", 1e6, 1000, 1000, { "bit/s", "kb/s", "Mb/s", "Gb/s", "Tb/s" } },
	{ "bytes/s", 1, 1000, 1000, { "B/s", "kB/s", "MB/s", "GB/s", "TB/s" } },
	{ "ns", 1, 1000, 1000, { "ns", "µs", "ms", "s" } },
	/* Frames and registers are known by their exact size; memory is not. */
	{ "bytes", 1, 1024, 1024 * 1024, { "bytes", "KiB", "MiB", "GiB", "TiB" } },
};

static const char *num_words(struct arena *arena, int64_t val, const char *unit)
{
	for (size_t i = 0; unit && i < sizeof(scales) / sizeof(scales[0]); i++) {
		const struct scale *scale = &scales[i];
		double scaled = (double)val * scale->factor;
		size_t step = 0;

		if (strcmp(unit, scale->unit) != 0 || scaled < scale->from)
			continue;
		for (; scaled >= scale->step && scale->steps[step + 1]; step++)
			scaled /= scale->step;
		return arena_printf(arena, "%.5g %s", scaled, scale->steps[step]);
	}
	return arena_printf(arena, "%" PRId64 "%s%s", val, unit ? " " : "", unit ? unit : "");
}

const char *evidence_words(struct arena *arena, const struct evidence *evidence)
{
	int err = evidence->is_text ? evidence->text.err : evidence->num.err;

	if (err)
		return arena_printf(arena, "unread: %s (%s)", value_gap_text(err), value_err_name(err));
	if (evidence->is_text)
		return *evidence->text.val ? evidence->text.val : "(empty)";
	return num_words(arena, evidence->num.val, evidence->unit);
}

const char *host_words(struct arena *arena, const char *const hosts[], size_t n, size_t n_shown)
{
	cleanup_buf struct buf out = BUF_INIT;
	/* "and 1 more" is no shorter than the name. */
	size_t shown = n <= n_shown + 1 ? n : n_shown;

	for (size_t i = 0; i < shown; i++) {
		if (i)
			buf_adds(&out, i + 1 == n ? " and " : ", ");
		buf_adds(&out, hosts[i]);
	}
	if (shown < n)
		buf_addf(&out, " and %zu more", n - shown);
	return arena_strdup(arena, buf_str(&out));
}
