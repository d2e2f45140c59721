/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and errors, the same way for every verb. */
#include "cli/verb.h"

#include <errno.h>
#include <string.h>

#include "cli/output.h"
#include "core/alloc.h"
#include "core/text.h"
#include "results/exit_codes.h"

static bool asks_for_help(int argc, char *argv[])
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

static int print_help(const struct verb *verb, const struct option_def options[])
{
	cleanup_buf struct buf out = BUF_INIT;
	cleanup_free char *text = NULL;
	size_t size = 0;
	FILE *memory;

	buf_addf(&out, "usage: sparkfab %s %s\n\n%s.\n", verb->name, verb->synopsis, verb->help);
	if (verb->details)
		buf_addf(&out, "\n%s\n", verb->details);
	memory = open_memstream(&text, &size);
	if (!memory)
		return EXIT_CODE_INTERNAL;
	option_print_help(options, memory, output_columns());
	fclose(memory);
	if (size)
		buf_addf(&out, "\n%s", text);
	return output_write(verb->name, &out, EXIT_CODE_PASS);
}

int verb_parse(const struct verb *verb, const struct option_def options[], int argc, char *argv[],
	       struct option_list *ret_operands)
{
	struct fault fault = { 0 };

	if (asks_for_help(argc, argv))
		return print_help(verb, options);
	if (option_parse(options, argc, argv, ret_operands, &fault))
		return verb_fail(verb, EXIT_CODE_USAGE, &fault);
	return -1;
}

int verb_fail(const struct verb *verb, int exit_code, const struct fault *fault)
{
	cleanup_buf struct buf visible = BUF_INIT;

	text_add_visible(&visible, fault->msg, strlen(fault->msg));
	fprintf(stderr, "sparkfab %s: %s\n", verb->name, buf_str(&visible));
	return exit_code;
}

int verb_exit_code(int err)
{
	switch (err < 0 ? -err : err) {
	case EINVAL:
	case EBADMSG:
	case EPROTONOSUPPORT:
	case ELOOP:
	case E2BIG:
		return EXIT_CODE_CONFIG;
	case EACCES:
	case EPERM:
		return EXIT_CODE_PERMISSION;
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case EIO:
	case ENOSPC:
	case EFBIG:
	case EROFS:
	case EEXIST:
	case EDQUOT:
		return EXIT_CODE_IO;
	default:
		return EXIT_CODE_INTERNAL;
	}
}
