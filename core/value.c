// SPDX-License-Identifier: Apache-2.0
/* What an unread value means, in words and for a verdict; and the names under which errors stand in snapshots. */
#include "core/value.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/*
 * Our own table and not strerrorname_np(): snapshots name errors, and a name must mean the same number on every libc.
 * The numbers themselves differ between architectures only for old ones (alpha, mips, parisc, sparc) that we do not
 * run on.
 */
#define E(name) { name, #name }
static const struct {
	int err;
	const char *name;
} err_names[] = {
	E(EPERM), E(ENOENT), E(ESRCH), E(EINTR), E(EIO), E(ENXIO), E(E2BIG), E(ENOEXEC), E(EBADF), E(ECHILD), E(EAGAIN),
	E(ENOMEM), E(EACCES), E(EFAULT), E(ENOTBLK), E(EBUSY), E(EEXIST), E(EXDEV), E(ENODEV), E(ENOTDIR), E(EISDIR),
	E(EINVAL), E(ENFILE), E(EMFILE), E(ENOTTY), E(ETXTBSY), E(EFBIG), E(ENOSPC), E(ESPIPE), E(EROFS), E(EMLINK),
	E(EPIPE), E(EDOM), E(ERANGE), E(EDEADLK), E(ENAMETOOLONG), E(ENOLCK), E(ENOSYS),
	E(ENOTEMPTY), E(ELOOP), E(ENOMSG),
	E(EIDRM), E(ECHRNG), E(EL2NSYNC), E(EL3HLT), E(EL3RST), E(ELNRNG), E(EUNATCH), E(ENOCSI), E(EL2HLT), E(EBADE),
	E(EBADR), E(EXFULL), E(ENOANO), E(EBADRQC), E(EBADSLT), E(EBFONT), E(ENOSTR), E(ENODATA), E(ETIME), E(ENOSR),
	E(ENONET), E(ENOPKG), E(EREMOTE), E(ENOLINK), E(EADV), E(ESRMNT), E(ECOMM), E(EPROTO), E(EMULTIHOP), E(EDOTDOT),
	E(EBADMSG), E(EOVERFLOW), E(ENOTUNIQ), E(EBADFD), E(EREMCHG), E(ELIBACC), E(ELIBBAD), E(ELIBSCN), E(ELIBMAX),
	E(ELIBEXEC), E(EILSEQ), E(ERESTART), E(ESTRPIPE), E(EUSERS), E(ENOTSOCK), E(EDESTADDRREQ), E(EMSGSIZE),
	E(EPROTOTYPE), E(ENOPROTOOPT), E(EPROTONOSUPPORT), E(ESOCKTNOSUPPORT), E(EOPNOTSUPP), E(EPFNOSUPPORT),
	E(EAFNOSUPPORT), E(EADDRINUSE), E(EADDRNOTAVAIL), E(ENETDOWN), E(ENETUNREACH), E(ENETRESET), E(ECONNABORTED),
	E(ECONNRESET), E(ENOBUFS), E(EISCONN), E(ENOTCONN), E(ESHUTDOWN), E(ETOOMANYREFS),
	E(ETIMEDOUT), E(ECONNREFUSED),
	E(EHOSTDOWN), E(EHOSTUNREACH), E(EALREADY), E(EINPROGRESS), E(ESTALE), E(EUCLEAN), E(ENOTNAM), E(ENAVAIL),
	E(EISNAM), E(EREMOTEIO), E(EDQUOT), E(ENOMEDIUM), E(EMEDIUMTYPE), E(ECANCELED), E(ENOKEY), E(EKEYEXPIRED),
	E(EKEYREVOKED), E(EKEYREJECTED), E(EOWNERDEAD), E(ENOTRECOVERABLE), E(ERFKILL), E(EHWPOISON),
	/* The kernel's own, which some drivers leak to user space in netlink replies and sysfs. */
	{ 524, "ENOTSUPP" },
	{ VALUE_NOT_ASKED, "NOT_ASKED" },
	{ VALUE_SATURATED, "SATURATED" },
	{ VALUE_PLACEHOLDER, "PLACEHOLDER" },
	{ VALUE_MALFORMED, "MALFORMED" },
};
#undef E

#define N_ERR_NAMES (sizeof(err_names) / sizeof(err_names[0]))
#define KERNEL_ENOTSUPP 524

enum value_gap value_gap(int err)
{
	switch (err) {
	case 0:
		return GAP_NONE;
	case ENOENT:
	case ENODEV:
	case VALUE_NOT_ASKED:
		return GAP_ABSENT;
	case EOPNOTSUPP:
	case EINVAL:
	case ENOSYS:
	case KERNEL_ENOTSUPP:
	case VALUE_PLACEHOLDER:
	case VALUE_SATURATED:
		return GAP_UNSUPPORTED;
	case EACCES:
	case EPERM:
		return GAP_NOT_PERMITTED;
	default:
		return GAP_UNREADABLE;
	}
}

/* The usual errors in words that suit a report; the rest from libc, whose text is static in the C locale. */
const char *value_gap_text(int err)
{
	switch (err) {
	case 0:
		return "read";
	case ENOENT:
		return "not there";
	case ENODEV:
		return "no such device";
	case EOPNOTSUPP:
	case KERNEL_ENOTSUPP:
		return "not supported by the driver";
	case EINVAL:
		return "not offered in this state or by this driver";
	case ENOSYS:
		return "not supported by this kernel";
	case EACCES:
	case EPERM:
		return "permission denied";
	case VALUE_NOT_ASKED:
		return "nothing to ask for";
	case VALUE_SATURATED:
		return "counter at its top, value not known";
	case VALUE_PLACEHOLDER:
		return "only a placeholder in this state";
	case VALUE_MALFORMED:
		return "not of the documented form";
	default: {
		const char *text = strerrordesc_np(err);

		return text ? text : "unknown error";
	}
	}
}

const char *value_err_name(int err)
{
	for (size_t i = 0; i < N_ERR_NAMES; i++)
		if (err_names[i].err == err)
			return err_names[i].name;
	return "E?";
}

int value_err_number(const char *name)
{
	for (size_t i = 0; name && i < N_ERR_NAMES; i++)
		if (!strcmp(err_names[i].name, name))
			return err_names[i].err;
	/* Second names of the same numbers, as people write them in fixtures. */
	if (name && !strcmp(name, "ENOTSUP"))
		return EOPNOTSUPP;
	if (name && !strcmp(name, "EWOULDBLOCK"))
		return EAGAIN;
	return 0;
}
