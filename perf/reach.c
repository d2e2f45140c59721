// SPDX-License-Identifier: Apache-2.0
/* Does the peer's address answer on this netdev? Echo, refused datagram or fresh neighbour, whichever comes first. */
#include "perf/reach.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/neighbour.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/arena.h"
#include "perf/neigh.h"

#define DISCARD_PORT  9
#define GROUP         128 /* two sockets each: stays below the usual limit of descriptors */
#define SENDS_MAX     3
#define SEND_AGAIN_MS 400
#define LOOK_FIRST_MS 5 /* between two looks at the neighbour table, doubled up to … */
#define LOOK_MOST_MS  80

enum outcome { OPEN, REACHABLE, FAILED, ERROR };

struct
try {
	const struct reach_target *target;
	unsigned ifindex;
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} addr;
	int udp, echo; /* -1: none */
	bool raw;      /* the echo socket is a raw one, and sees other people's answers too */
	uint16_t ident, seq;
	int sends;
	int64_t first_ns, last_ns;
	struct deadline next;
	enum outcome outcome;
	const char *how;
	int64_t rtt_ns; /* -1: not known */
	unsigned nud;   /* state when last seen; 0: no entry */
	char mac[64];
	char error[160];
};

struct probe {
	struct try *tries;
	size_t n;
	struct nl_sock *nl;
};

static bool is_v4(const struct try *try)
{
	return try->addr.any.sa_family == AF_INET;
}

static socklen_t addr_len(const struct try *try)
{
	return is_v4(try) ? sizeof(try->addr.v4) : sizeof(try->addr.v6);
}

static const void *addr_bytes(const struct try *try)
{
	return is_v4(try) ? (const void *)&try->addr.v4.sin_addr : (const void *)&try->addr.v6.sin6_addr;
}

static void give_up(struct try *try, enum outcome outcome, const char *error)
{
	try->outcome = outcome;
	snprintf(try->error, sizeof(try->error), "%s", error);
}

static void proved(struct try *try, const char *how, bool timed)
{
	try->outcome = REACHABLE;
	try->how = how;
	try->rtt_ns = timed ? clock_boot_ns() - try->last_ns : -1;
	try->error[0] = 0;
}

/* "fe80::1%eth1" is accepted too: the netdev is known anyway. */
static bool parse_addr(struct try *try)
{
	char text[INET6_ADDRSTRLEN];
	size_t len = strcspn(try->target->addr, "%");

	if (len >= sizeof(text))
		return false;
	memcpy(text, try->target->addr, len);
	text[len] = 0;
	if (inet_pton(AF_INET, text, &try->addr.v4.sin_addr) == 1) {
		try->addr.v4.sin_family = AF_INET;
		try->addr.v4.sin_port = htons(DISCARD_PORT);
		return true;
	}
	if (inet_pton(AF_INET6, text, &try->addr.v6.sin6_addr) != 1)
		return false;
	try->addr.v6.sin6_family = AF_INET6;
	try->addr.v6.sin6_port = htons(DISCARD_PORT);
	if (IN6_IS_ADDR_LINKLOCAL(&try->addr.v6.sin6_addr))
		try->addr.v6.sin6_scope_id = try->ifindex;
	return true;
}

/* Bound to the netdev: any other way to the address would prove nothing. Needs no privilege since Linux 5.7. */
static int open_socket(const struct try *try, int type, int protocol)
{
	const char *dev = try->target->dev;
	int fd = socket(try->addr.any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol), err;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, dev, (socklen_t)strlen(dev) + 1) == 0 &&
	    connect(fd, &try->addr.any, addr_len(try)) == 0)
		return fd;
	err = errno;
	close(fd);
	return -err;
}

static int open_udp(const struct try *try)
{
	int fd = open_socket(try, SOCK_DGRAM, IPPROTO_UDP), on = 1;

	/* The queue tells an error from the peer and one made by this kernel apart. */
	if (fd >= 0)
		setsockopt(fd, is_v4(try) ? IPPROTO_IP : IPPROTO_IPV6, is_v4(try) ? IP_RECVERR : IPV6_RECVERR, &on,
			   sizeof(on));
	return fd;
}

/* The unprivileged kind where net.ipv4.ping_group_range allows it (it rules root too), else a raw one, which root may.
 */
static int open_echo(struct try *try)
{
	int protocol = is_v4(try) ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	int fd = open_socket(try, SOCK_DGRAM, protocol);

	if (fd < 0) {
		fd = open_socket(try, SOCK_RAW, protocol);
		try->raw = fd >= 0;
	}
	return fd;
}

static void try_open(struct try *try, const struct reach_target *target, size_t i)
{
	*try = (struct try){
		.target = target, .udp = -1, .echo = -1, .rtt_ns = -1, .ident = (uint16_t)(getpid() * 131 + (int)i)
	};
	try->ifindex = strlen(target->dev) < IF_NAMESIZE ? if_nametoindex(target->dev) : 0;
	if (try->ifindex == 0) {
		give_up(try, ERROR, "no such netdev");
		return;
	}
	if (!parse_addr(try)) {
		give_up(try, ERROR, "not an IP address");
		return;
	}
	try->udp = open_udp(try);
	if (try->udp < 0) {
		give_up(try, ERROR, strerror(-try->udp));
		return;
	}
	try->echo = open_echo(try);
}

static uint16_t checksum(const unsigned char *data, size_t len)
{
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)data[i] << 8 | data[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* Type, code, checksum, ident, sequence, then 8 bytes. For ICMPv6, and for the unprivileged kind, the kernel sums. */
static void send_echo(struct try *try)
{
	unsigned char packet[16] = { is_v4(try) ? ICMP_ECHO : ICMP6_ECHO_REQUEST,
				     0,
				     0,
				     0,
				     (unsigned char)(try->ident >> 8),
				     (unsigned char)try->ident,
				     0,
				     (unsigned char)try->seq,
				     's',
				     'p',
				     'a',
				     'r',
				     'k',
				     'f',
				     'a',
				     'b' };
	uint16_t sum;

	if (is_v4(try)) {
		sum = checksum(packet, sizeof(packet));
		packet[2] = (unsigned char)(sum >> 8);
		packet[3] = (unsigned char)sum;
	}
	if (send(try->echo, packet, sizeof(packet), MSG_NOSIGNAL) < 0)
		snprintf(try->error, sizeof(try->error), "%s", strerror(errno));
}

static void try_send(struct try *try)
{
	try->last_ns = clock_boot_ns();
	if (try->sends == 0)
		try->first_ns = try->last_ns;
	try->sends++;
	try->seq++;
	try->next = deadline_in_ms(SEND_AGAIN_MS);
	/* A refusal of the datagram before this one may be reported here; it is in the queue as well. */
	if (send(try->udp, "", 1, MSG_NOSIGNAL) < 0 && errno != ECONNREFUSED && errno != EAGAIN)
		snprintf(try->error, sizeof(try->error), "%s", strerror(errno));
	if (try->echo >= 0)
		send_echo(try);
}

static void read_echo(struct try *try)
{
	unsigned char packet[256];
	ssize_t n;

	while (try->outcome == OPEN && (n = recv(try->echo, packet, sizeof(packet), 0)) > 0) {
		size_t at = try->raw && is_v4(try) ? (size_t)(packet[0] & 15) * 4 : 0;

		/* Connected: only the target's packets arrive. The ident is the kernel's own with the unprivileged
		 * kind. */
		if ((size_t)n < at + 16 || packet[at] != (is_v4(try) ? ICMP_ECHOREPLY : ICMP6_ECHO_REPLY) ||
		    memcmp(packet + at + 8, "sparkfab", 8) != 0)
			continue;
		if (try->raw && (packet[at + 4] != (try->ident >> 8) || packet[at + 5] != (try->ident & 255)))
			continue;
		proved(try, "echo", packet[at + 7] == try->seq);
	}
}

static bool offender_is_target(const struct try *try, const struct sock_extended_err *err)
{
	const struct sockaddr *from = SO_EE_OFFENDER(err);
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	if (is_v4(try) && err->ee_origin == SO_EE_ORIGIN_ICMP) {
		memcpy(&v4, from, sizeof(v4));
		return memcmp(&v4.sin_addr, addr_bytes(try), 4) == 0;
	}
	if (!is_v4(try) && err->ee_origin == SO_EE_ORIGIN_ICMP6) {
		memcpy(&v6, from, sizeof(v6));
		return memcmp(&v6.sin6_addr, addr_bytes(try), 16) == 0;
	}
	return false;
}

/* One message of the error queue: any ICMP error from the target itself is an answer of its kernel or of its firewall.
 */
static void judge_error(struct try *try, struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		union {
			struct sock_extended_err err;
			char bytes[sizeof(struct sock_extended_err) + sizeof(struct sockaddr_in6)];
		} ext = { 0 };
		size_t len = c->cmsg_len - CMSG_LEN(0);

		if (!((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
		      (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR)) ||
		    len < sizeof(ext.err))
			continue;
		memcpy(&ext, CMSG_DATA(c), len < sizeof(ext) ? len : sizeof(ext));
		if (offender_is_target(try, &ext.err))
			proved(try, "refused", true);
		else if (try->outcome == OPEN)
			snprintf(try->error, sizeof(try->error), "%s", strerror((int)ext.err.ee_errno));
	}
}

static void read_errors(struct try *try)
{
	char control[512], data[64];
	struct iovec iov = { data, sizeof(data) };
	struct msghdr msg;

	do {
		msg = (struct msghdr){
			.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
		};
		if (recvmsg(try->udp, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			break;
		judge_error(try, &msg);
	} while (try->outcome == OPEN);
	if (try->outcome == OPEN && recv(try->udp, data, sizeof(data), MSG_DONTWAIT) >= 0)
		proved(try, "refused", true); /* somebody serves the port: an answer as well */
}

/* What the table says of one target. An entry is proof only if it was confirmed after the first datagram. */
static void see_neighbour(void *ctx, const struct neigh *neigh)
{
	struct probe *probe = ctx;

	for (size_t i = 0; i < probe->n; i++) {
		struct try *try = &probe->tries[i];

		if (try->sends == 0 || neigh->ifindex != try->ifindex || neigh->family != try->addr.any.sa_family ||
		    memcmp(neigh->addr, addr_bytes(try), is_v4(try) ? 4 : 16) != 0)
			continue;
		try->nud = neigh->state;
		memcpy(try->mac, neigh->mac, sizeof(try->mac));
		if (try->outcome != OPEN)
			continue;
		if ((neigh->state & NUD_REACHABLE) && neigh->confirmed_ms >= 0 &&
		    neigh->confirmed_ms <= (clock_boot_ns() - try->first_ns) / 1000000)
			proved(try, "neighbour", false);
		else if (neigh->state & NUD_FAILED)
			give_up(try, FAILED,
				is_v4(try) ? "nobody answered ARP" : "nobody answered neighbour discovery");
	}
}

static bool all_done(const struct probe *probe)
{
	for (size_t i = 0; i < probe->n; i++)
		if (probe->tries[i].outcome == OPEN)
			return false;
	return true;
}

/* Sends what is due; returns when something is due again. */
static struct deadline send_due(struct probe *probe)
{
	struct deadline next = { INT64_MAX };

	for (size_t i = 0; i < probe->n; i++) {
		struct try *try = &probe->tries[i];

		if (try->outcome != OPEN || try->sends >= SENDS_MAX)
			continue;
		if (deadline_passed(try->next))
			try_send(try);
		next = deadline_earlier(next, try->next);
	}
	return next;
}

static void wait_and_read(struct probe *probe, struct deadline until)
{
	struct pollfd fds[GROUP * 2];
	nfds_t n = 0;

	for (size_t i = 0; i < probe->n; i++) {
		if (probe->tries[i].outcome != OPEN)
			continue;
		fds[n++] = (struct pollfd){ .fd = probe->tries[i].udp, .events = POLLIN };
		fds[n++] = (struct pollfd){ .fd = probe->tries[i].echo, .events = POLLIN };
	}
	if (poll(fds, n, deadline_poll_ms(until)) <= 0)
		return;
	for (size_t i = 0; i < probe->n; i++) {
		if (probe->tries[i].outcome == OPEN && probe->tries[i].echo >= 0)
			read_echo(&probe->tries[i]);
		if (probe->tries[i].outcome == OPEN)
			read_errors(&probe->tries[i]);
	}
}

/* Why there is no answer: nobody there, or nothing that proves anything. */
static void judge_silence(struct try *try)
{
	if (try->outcome != OPEN)
		return;
	if (try->nud & (NUD_INCOMPLETE | NUD_PROBE))
		give_up(try, FAILED, is_v4(try) ? "nobody answered ARP" : "nobody answered neighbour discovery");
	else if (try->error[0])
		try->outcome = ERROR;
	else if (try->nud & (NUD_REACHABLE | NUD_STALE | NUD_DELAY))
		give_up(try, ERROR,
			"known from before, but neither an echo nor a refused datagram came back now (does a firewall "
			"there drop them?)");
	else
		give_up(try, ERROR, "no answer, and no neighbour entry");
}

static void run_group(struct probe *probe, struct deadline deadline)
{
	int look_ms = LOOK_FIRST_MS;

	while (!all_done(probe) && !deadline_passed(deadline)) {
		struct deadline next = deadline_earlier(send_due(probe), deadline_in_ms(look_ms));

		wait_and_read(probe, deadline_earlier(next, deadline));
		look_ms = look_ms * 2 < LOOK_MOST_MS ? look_ms * 2 : LOOK_MOST_MS;
		if (!all_done(probe) && probe->nl)
			neigh_dump(probe->nl, see_neighbour, probe);
	}
	if (probe->nl) /* who it was that answered */
		neigh_dump(probe->nl, see_neighbour, probe);
	for (size_t i = 0; i < probe->n; i++)
		judge_silence(&probe->tries[i]);
}

static void put_fact(struct source *source, const struct try *try)
{
	static const char *const states[] = { [REACHABLE] = "reachable", [FAILED] = "failed", [ERROR] = "error" };
	struct arena *arena = arena_new();
	json_t *fact = json_pack("{s:s}", "state", states[try->outcome]);

	if (try->outcome == REACHABLE) {
		json_object_set_new(fact, "how", json_string(try->how));
		if (try->mac[0])
			json_object_set_new(fact, "mac", json_string(try->mac));
		if (try->rtt_ns >= 0)
			json_object_set_new(fact, "rtt_ns", json_integer(try->rtt_ns));
	} else {
		json_object_set_new(fact, "error", json_string(try->error));
	}
	source_put_fact(source, arena_printf(arena, "probe/neigh/%s/%s", try->target->dev, try->target->addr), fact);
	json_decref(fact);
	arena_free(arena);
}

static void probe_group(struct source *source, const struct reach_target targets[], size_t n, struct nl_sock *nl,
			struct deadline deadline)
{
	struct probe probe = { .tries = xcalloc(n, sizeof(*probe.tries)), .n = n, .nl = nl };

	for (size_t i = 0; i < n; i++)
		try_open(&probe.tries[i], &targets[i], i);
	run_group(&probe, deadline);
	for (size_t i = 0; i < n; i++) {
		put_fact(source, &probe.tries[i]);
		cleanup_fd_(&probe.tries[i].udp);
		cleanup_fd_(&probe.tries[i].echo);
	}
	cleanup_free_(&probe.tries);
}

int reach_probe(struct source *source, const struct reach_target targets[], size_t n, struct deadline deadline)
{
	struct nl_sock *nl;

	if (!source_is_live(source))
		return -EPERM;
	nl = neigh_open();
	for (size_t i = 0; i < n; i += GROUP)
		probe_group(source, targets + i, n - i < GROUP ? n - i : GROUP, nl, deadline);
	neigh_close(nl);
	return 0;
}
