/* SPDX-License-Identifier: Apache-2.0 */
/* sparkfab explain CHECK: what a check demands, why, and how to mend it. */
#include <string.h>

#include "cli/output.h"
#include "cli/verb.h"
#include "core/text.h"
#include "judge/judge.h"
#include "results/exit_codes.h"

/* Words of `text` behind a left margin, within the terminal. */
static void add_paragraph(struct buf *out, const char *label, const char *text, size_t columns)
{
	size_t column = 10;

	buf_addf(out, "%-10s", label);
	while (*text) {
		size_t len = strcspn(text, " "), width;
		cleanup_buf struct buf word = BUF_INIT;

		buf_add(&word, text, len);
		width = text_columns(buf_str(&word));
		if (column > 10 && column + 1 + width > columns) {
			buf_adds(out, "\n          ");
			column = 10;
		} else if (column > 10) {
			buf_addc(out, ' ');
			column++;
		}
		buf_add(out, text, len);
		column += width;
		text += len + strspn(text + len, " ");
	}
	buf_addc(out, '\n');
}

static void explain_check(const struct check *check, struct buf *out)
{
	size_t columns = output_columns();

	buf_addf(out, "%s\n\n", check->id);
	add_paragraph(out, "rule", check->title, columns);
	add_paragraph(out, "why", check->why, columns);
	add_paragraph(out, "remedy", check->remedy, columns);
	add_paragraph(out, "source", check->source, columns);
	add_paragraph(out, "judges", check->compare ? "several hosts together" : "each host by itself", columns);
	add_paragraph(out, "level", level_name(check->level), columns);
}

/* The ids that share the family or, failing that, all families: enough to find the right one. */
static int unknown_check(const struct verb *verb, const char *id)
{
	struct fault fault = { 0 };
	cleanup_buf struct buf ids = BUF_INIT_MAX(300);
	size_t family = strcspn(id, ".");

	for (const struct check *const *check = check_registry; *check; check++)
		if (family > 0 && !strncmp((*check)->id, id, family))
			buf_addf(&ids, " %s", (*check)->id);
	fault_set(&fault, 0, "no check is called '%s'; %s%s", id, ids.len ? "did you mean:" : "see `sparkfab list checks`",
		  buf_str(&ids));
	return verb_fail(verb, EXIT_CODE_USAGE, &fault);
}

static int explain_all(const struct verb *verb, const struct option_list *operands)
{
	cleanup_buf struct buf out = BUF_INIT;

	for (size_t i = 0; i < operands->n; i++) {
		const struct check *check = check_find(operands->items[i]);

		if (!check)
			return unknown_check(verb, operands->items[i]);
		if (i > 0)
			buf_addc(&out, '\n');
		explain_check(check, &out);
	}
	return output_write(verb->name, &out, EXIT_CODE_PASS);
}

static int run(const struct verb *verb, int argc, char *argv[])
{
	const struct option_def options[] = { { 0 } };
	struct option_list operands = { 0 };
	struct fault fault = { 0 };
	int code = verb_parse(verb, options, argc, argv, &operands);

	if (code < 0 && operands.n == 0) {
		fault_set(&fault, 0, "say which check, for example: sparkfab explain mtu.parity");
		code = verb_fail(verb, EXIT_CODE_USAGE, &fault);
	}
	if (code < 0)
		code = explain_all(verb, &operands);
	option_list_release(&operands);
	return code;
}

const struct verb verb_explain = {
	.name = "explain",
	.synopsis = "CHECK…",
	.help = "Explains a check: its rule, why it matters, how to mend it",
	.run = run,
};
