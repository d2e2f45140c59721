// SPDX-License-Identifier: Apache-2.0
/* Options from a table: parsing with errors that help, and the help text from the same table. */
#include "core/option.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/buf.h"
#include "core/text.h"

#define HELP_GAP 2
#define HELP_LEFT_MAX 30 /* wider options have their text on the next line */
#define HELP_TEXT_MIN 30
#define HELP_DEFAULT_COLUMNS 80

struct parser {
	const struct option_def *options;
	int argc, at; /* at: the argument that is looked at */
	char **argv;
	struct option_list operands;
	struct fault *reterr;
};

static void list_add(struct option_list *list, const char *item)
{
	list->items = xreallocarray(list->items, list->n + 1, sizeof(*list->items));
	list->items[list->n++] = item;
}

void option_list_release(struct option_list *list)
{
	free(list->items);
	*list = (struct option_list){ 0 };
}

static const struct option_def *find_long(const struct option_def options[], const char *name, size_t len)
{
	for (const struct option_def *o = options; o->name; o++)
		if (strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	return NULL;
}

static const struct option_def *find_letter(const struct option_def options[], char letter)
{
	for (const struct option_def *o = options; o->name; o++)
		if (o->letter && o->letter == letter)
			return o;
	return NULL;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The option that was probably meant: near enough, or the only one that starts so. NULL if none. */
static const char *nearest(const struct option_def options[], const char *name, size_t len)
{
	const char *best = NULL, *longer = NULL;
	size_t best_distance = len / 3 + 1, n_longer = 0;

	for (const struct option_def *o = options; o->name; o++) {
		size_t distance = text_distance(name, len, o->name, strlen(o->name));

		if (distance <= best_distance && (!best || distance < best_distance)) {
			best = o->name;
			best_distance = distance;
		}
		if (len >= 2 && !strncmp(o->name, name, len)) {
			longer = o->name;
			n_longer++;
		}
	}
	return n_longer == 1 ? longer : best;
}

static int parse_i64(const struct parser *p, const struct option_def *o, const char *value)
{
	if (text_parse_i64(value, o->target) && !strchr(value, '\n'))
		return 0;
	return fault_set(p->reterr, EINVAL, "--%s wants a whole number, not \"%s\"", o->name, value);
}

/* "one of passive, probe, full", "[USER@]HOST" */
static void add_wanted(struct buf *out, const struct option_def *o)
{
	if (o->type == OPTION_CHOICE)
		for (int i = 0; o->choices[i]; i++)
			buf_addf(out, "%s%s", i ? ", " : "one of ", o->choices[i]);
	else
		buf_adds(out, o->arg ? o->arg : "a value");
}

static int parse_choice(const struct parser *p, const struct option_def *o, const char *value)
{
	cleanup_buf struct buf wanted = BUF_INIT;

	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], value)) {
			*(int *)o->target = i;
			return 0;
		}
	}
	add_wanted(&wanted, o);
	return fault_set(p->reterr, EINVAL, "--%s wants %s, not \"%s\"", o->name, buf_str(&wanted), value);
}

static int take_value(const struct parser *p, const struct option_def *o, const char *value)
{
	switch (o->type) {
	case OPTION_FLAG:
		*(bool *)o->target = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)o->target = value;
		return 0;
	case OPTION_LIST:
		list_add(o->target, value);
		return 0;
	case OPTION_I64:
		return parse_i64(p, o, value);
	case OPTION_CHOICE:
		return parse_choice(p, o, value);
	}
	return fault_set(p->reterr, EINVAL, "--%s has no type", o->name);
}

/* The next argument as the option's value. Another option there means that the value was forgotten. */
static int take_next(struct parser *p, const struct option_def *o)
{
	const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : NULL;
	cleanup_buf struct buf wanted = BUF_INIT;

	add_wanted(&wanted, o);
	if (!next)
		return fault_set(p->reterr, EINVAL, "--%s wants %s after it", o->name, buf_str(&wanted));
	if (!strncmp(next, "--", 2) && find_long(p->options, next + 2, strcspn(next + 2, "=")))
		return fault_set(p->reterr, EINVAL, "--%s wants %s before %s (or --%s=%s, if that is meant)", o->name,
				 buf_str(&wanted), next, o->name, next);
	p->at++;
	return take_value(p, o, next);
}

/* --name, --name=value, --name value */
static int take_long(struct parser *p, const char *name)
{
	size_t len = strcspn(name, "=");
	const char *value = name[len] ? name + len + 1 : NULL;
	const struct option_def *o = find_long(p->options, name, len);
	const char *meant;

	if (!o) {
		meant = nearest(p->options, name, len);
		return fault_set(p->reterr, EINVAL, "unknown option \"--%.*s\"%s%s%s", (int)least(len, INT_MAX), name,
				 meant ? ", did you mean --" : ", see --help", meant ? meant : "", meant ? "?" : "");
	}
	if (o->type == OPTION_FLAG && value)
		return fault_set(p->reterr, EINVAL, "--%s takes no value, but has \"%s\"", o->name, value);
	if (o->type == OPTION_FLAG || value)
		return take_value(p, o, value);
	return take_next(p, o);
}

/* -a, -abc, -p value, -pvalue; also a bundle that ends in a value: -abpvalue */
static int take_letters(struct parser *p, const char *letters)
{
	for (; *letters; letters++) {
		const struct option_def *o = find_letter(p->options, *letters);
		int r;

		if (!o && (unsigned char)*letters > ' ' && (unsigned char)*letters < 0x7f)
			return fault_set(p->reterr, EINVAL, "unknown option \"-%c\", see --help", *letters);
		if (!o)
			return fault_set(p->reterr, EINVAL, "unknown option in \"%s\", see --help", p->argv[p->at]);
		if (o->type != OPTION_FLAG)
			return letters[1] ? take_value(p, o, letters + 1) : take_next(p, o);
		r = take_value(p, o, NULL);
		if (r < 0)
			return r;
	}
	return 0;
}

int option_parse(const struct option_def options[], int argc, char *argv[], struct option_list *ret_operands,
		 struct fault *reterr)
{
	struct parser p = { .options = options, .argc = argc, .argv = argv, .reterr = reterr };
	bool only_operands = false;
	int r = 0;

	for (p.at = 1; p.at < argc && !r; p.at++) {
		const char *arg = argv[p.at];

		if (only_operands || arg[0] != '-' || !arg[1])
			list_add(&p.operands, arg);
		else if (arg[1] != '-')
			r = take_letters(&p, arg + 1);
		else if (arg[2])
			r = take_long(&p, arg + 2);
		else
			only_operands = true;
	}
	if (!r && !ret_operands && p.operands.n)
		r = fault_set(reterr, EINVAL, "nothing is expected here but options: \"%s\"", p.operands.items[0]);
	if (r < 0 || !ret_operands)
		option_list_release(&p.operands);
	else
		*ret_operands = p.operands;
	return r;
}

/* "  -p, --peer [USER@]HOST"; a choice without a name for its value shows the choices. */
static void add_left(struct buf *out, const struct option_def *o)
{
	if (o->letter)
		buf_addf(out, "  -%c, --%s", o->letter, o->name);
	else
		buf_addf(out, "      --%s", o->name);
	if (o->arg)
		buf_addf(out, " %s", o->arg);
	else if (o->type == OPTION_CHOICE)
		for (int i = 0; o->choices[i]; i++)
			buf_addf(out, "%c%s", i ? '|' : ' ', o->choices[i]);
}

/* Words of `text` in lines of at most `width` columns, all but the first indented. A wider word stands alone. */
static void print_wrapped(FILE *out, const char *text, size_t indent, size_t width)
{
	size_t used = 0;

	while (*text) {
		cleanup_buf struct buf word = BUF_INIT;
		size_t len = strcspn(text, " \n"), columns;

		buf_add(&word, text, len);
		columns = text_columns(buf_str(&word));
		if (used && used + 1 + columns > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			used = 0;
		}
		fprintf(out, "%s%s", used ? " " : "", buf_str(&word));
		used += columns + (used ? 1 : 0);
		text += len;
		text += strspn(text, " \n");
	}
	fputc('\n', out);
}

static size_t left_width(const struct option_def options[])
{
	size_t widest = 0;

	for (const struct option_def *o = options; o->name; o++) {
		cleanup_buf struct buf left = BUF_INIT;
		size_t columns;

		add_left(&left, o);
		columns = text_columns(buf_str(&left));
		if (columns <= HELP_LEFT_MAX && columns > widest)
			widest = columns;
	}
	return widest + HELP_GAP;
}

void option_print_help(const struct option_def options[], FILE *out, size_t columns)
{
	size_t indent = left_width(options);

	if (!columns)
		columns = HELP_DEFAULT_COLUMNS;
	if (indent + HELP_TEXT_MIN > columns)
		indent = 8;
	for (const struct option_def *o = options; o->name; o++) {
		cleanup_buf struct buf left = BUF_INIT;
		size_t used;

		add_left(&left, o);
		used = text_columns(buf_str(&left));
		fputs(buf_str(&left), out);
		if (used + HELP_GAP <= indent)
			fprintf(out, "%*s", (int)(indent - used), "");
		else
			fprintf(out, "\n%*s", (int)indent, "");
		print_wrapped(out, o->help ? o->help : "", indent, columns > indent ? columns - indent : 1);
	}
}
