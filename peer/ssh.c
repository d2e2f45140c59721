// SPDX-License-Identifier: Apache-2.0
/* How the other host is reached: argv of ssh or of --via, and what it means when that fails. */
#include "peer/ssh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/text.h"

/* A user's ssh_config may say anything for a host. These take back what would break the stream, leak something to the
 * other host, change a file here, or ask somebody who is not there. SessionType, StdinNull and ForkAfterAuthentication
 * cannot be taken back: ssh before 8.7 refuses to start when told; they end in "ended before the agent said anything".
 */
static const char *const ssh_options[] = {
	"BatchMode=yes",
	"StrictHostKeyChecking=yes",
	"UpdateHostKeys=no",
	"ForwardAgent=no",
	"ForwardX11=no",
	"ClearAllForwardings=yes",
	"Tunnel=no",
	"GSSAPIDelegateCredentials=no",
	"PermitLocalCommand=no",
	"RemoteCommand=none",
	"RequestTTY=no",
	"ControlMaster=no",
	"ControlPath=none",
	"LogLevel=ERROR",
	"ConnectTimeout=10",
	"ServerAliveInterval=5",
	"ServerAliveCountMax=3",
};

struct words {
	struct arena *arena;
	const char **items;
	size_t n;
};

static void words_add(struct words *words, const char *word)
{
	const char **added = arena_push(words->arena, &words->items, &words->n);

	*added = word;
}

static const char *const *words_end(struct words *words)
{
	words_add(words, NULL);
	return (const char *const *)words->items;
}

static const char *name_host(const char *name)
{
	const char *at = strrchr(name, '@');

	return at ? at + 1 : name;
}

static const char *name_user(struct arena *arena, const char *name)
{
	const char *at = strrchr(name, '@');

	return at ? arena_strndup(arena, name, (size_t)(at - name)) : NULL;
}

/* For transports that join their words and hand them to a login shell: it is replaced, so that nothing it prints at its
 * end can follow the protocol. */
static const char *login_shell_word(struct arena *arena, const char *line)
{
	return arena_printf(arena, "exec sh -c '%s'", line);
}

static const char *const *ssh_argv(struct arena *arena, const char *name, const char *line)
{
	struct words words = { .arena = arena };
	const char *user = name_user(arena, name);

	words_add(&words, "ssh");
	words_add(&words, "-T");
	for (size_t i = 0; i < sizeof(ssh_options) / sizeof(ssh_options[0]); i++) {
		words_add(&words, "-o");
		words_add(&words, ssh_options[i]);
	}
	if (user) {
		words_add(&words, "-l");
		words_add(&words, user);
	}
	words_add(&words, "--");
	words_add(&words, name_host(name));
	words_add(&words, login_shell_word(arena, line));
	return words_end(&words);
}

/* What a backslash at p makes of the character behind it; returns that one's place, or NULL if there is none. */
static const char *take_escaped(const char *p, char quote, struct buf *out)
{
	if (!*++p)
		return NULL;
	/* In double quotes a backslash before an ordinary character stands for itself. */
	if (quote && !strchr("\"\\$`", *p))
		buf_addc(out, '\\');
	buf_addc(out, *p);
	return p;
}

/* Reads one word from *pos into `out`, quotes taken off. 1: a word, 0: no more, -EINVAL: a quote is not closed. */
static int next_word(const char **pos, struct buf *out)
{
	const char *p = *pos + strspn(*pos, " \t\n");
	char quote = 0;

	if (!*p)
		return 0;
	for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
		if (!quote && (*p == '\'' || *p == '"')) {
			quote = *p;
		} else if (quote && *p == quote) {
			quote = 0;
		} else if (*p == '\\' && quote != '\'') {
			p = take_escaped(p, quote, out);
			if (!p)
				return -EINVAL;
		} else {
			buf_addc(out, *p);
		}
	}
	*pos = p;
	return quote ? -EINVAL : 1;
}

/* `word` with each `from` replaced by `to`. */
static const char *word_replace(struct arena *arena, const char *word, const char *from, const char *to)
{
	cleanup_buf struct buf out = BUF_INIT;
	const char *at;

	for (; (at = strstr(word, from)); word = at + strlen(from)) {
		buf_add(&out, word, (size_t)(at - word));
		buf_adds(&out, to);
	}
	buf_adds(&out, word);
	return arena_strdup(arena, buf_str(&out));
}

static bool word_is_ssh(const char *word)
{
	const char *slash = strrchr(word, '/');

	return strcmp(slash ? slash + 1 : word, "ssh") == 0;
}

static int via_words(struct words *words, const char *name, const char *via, bool *ret_is_ssh)
{
	bool has_user = strstr(via, "{user}") != NULL;
	const char *user = name_user(words->arena, name), *host = has_user ? name_host(name) : name;
	cleanup_buf struct buf word = BUF_INIT;
	int r;

	while ((r = next_word(&via, &word)) > 0) {
		const char *text = word_replace(words->arena, buf_str(&word), "{host}", host);

		words_add(words, word_replace(words->arena, text, "{user}", user ? user : ""));
		*ret_is_ssh |= word_is_ssh(buf_str(&word));
		buf_clear(&word);
	}
	return r;
}

int transport_argv(struct arena *arena, const char *name, const char *via, const char *line,
		   const char *const **ret_argv, struct fault *reterr)
{
	struct words words = { .arena = arena };
	bool is_ssh = false;

	/* The caller has looked; a name that ssh could take for an option must not pass even if it forgot to. */
	if (!text_is_host_name(name))
		return fault_set(reterr, EINVAL,
				 "a peer is written [USER@]HOST, with letters, digits and . : %% _ - only");
	if (!via) {
		*ret_argv = ssh_argv(arena, name, line);
		return 0;
	}
	if (via_words(&words, name, via, &is_ssh) < 0)
		return fault_set(reterr, EINVAL, "--via: a quote or a backslash at its end is not closed");
	if (words.n == 0)
		return fault_set(reterr, EINVAL, "--via: no command, expected something like 'docker exec -i {host}'");
	if (is_ssh) {
		words_add(&words, login_shell_word(arena, line));
	} else {
		words_add(&words, "sh");
		words_add(&words, "-c");
		words_add(&words, line);
	}
	*ret_argv = words_end(&words);
	return 0;
}

static bool is_locale(const char *entry)
{
	return strncmp(entry, "LC_", 3) == 0 || strncmp(entry, "LANG=", 5) == 0 || strncmp(entry, "LANGUAGE=", 9) == 0;
}

char **transport_env(struct arena *arena, char *const env[])
{
	struct words words = { .arena = arena };

	for (size_t i = 0; env && env[i]; i++)
		if (!is_locale(env[i]))
			words_add(&words, env[i]);
	words_add(&words, NULL);
	return (char **)(void *)words.items;
}

/* ssh's own words (OpenSSH 7 to 10, never translated) and what they mean. `help` takes the host's name. */
struct ssh_cause {
	const char *words;
	enum peer_fault kind;
	const char *what, *help;
};

static const struct ssh_cause ssh_causes[] = {
	{ "REMOTE HOST IDENTIFICATION HAS CHANGED", PEER_FAULT_HOST_KEY, "the host key is not the one that ssh knows",
	  "if the host was installed anew, compare the key on its console (ssh-keygen -lf "
	  "/etc/ssh/ssh_host_ed25519_key.pub), then ssh-keygen -R %s; if not, somebody may be in between" },
	{ "Host key verification failed", PEER_FAULT_HOST_KEY, "ssh does not know this host's key",
	  "run `ssh %s` once by hand and compare what it shows with `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on "
	  "that host (or compare `ssh-keyscan %s | ssh-keygen -lf -`, then append ssh-keyscan's lines to "
	  "~/.ssh/known_hosts)" },
	{ "Permission denied", PEER_FAULT_AUTH, "permission denied",
	  "a key that needs no questions must be accepted there: ssh-copy-id %s, or load it with ssh-add" },
	{ "Too many authentication failures", PEER_FAULT_AUTH, "too many authentication failures",
	  "name one key for %s in ~/.ssh/config (IdentityFile, IdentitiesOnly yes)" },
	{ "Could not resolve hostname", PEER_FAULT_TRANSPORT, "unknown host",
	  "is %s written right, and known to DNS, /etc/hosts or ~/.ssh/config?" },
	{ "Connection refused", PEER_FAULT_TRANSPORT, "connection refused",
	  "does sshd run on %s, on the port that is configured?" },
	{ "timed out", PEER_FAULT_TRANSPORT, "connection timed out", "is %s up, and does a firewall let ssh through?" },
	{ "No route to host", PEER_FAULT_TRANSPORT, "no route to host", "is %s up, and its cable in?" },
	{ "Network is unreachable", PEER_FAULT_TRANSPORT, "network unreachable", "this host has no route to %s" },
	{ 0 },
};

const char *text_last_line(struct arena *arena, const char *text)
{
	cleanup_buf struct buf out = BUF_INIT_MAX(200);
	size_t len = strlen(text), start;

	while (len > 0 && strchr("\r\n\t ", text[len - 1]))
		len--;
	for (start = len; start > 0 && text[start - 1] != '\n'; start--)
		;
	text_add_visible(&out, text + start, len - start);
	return arena_strdup(arena, buf_str(&out));
}

/* "exit status 3", "signal 9". */
static const char *status_words(struct arena *arena, const struct child_status *status)
{
	if (!status)
		return "no exit status";
	return status->exited ? arena_printf(arena, "exit status %d", status->code)
			      : arena_printf(arena, "signal %d", status->signal);
}

static enum peer_fault explain_other(struct arena *arena, const char *name, const char *tool, const char *err,
				     const struct child_status *status, struct fault *reterr)
{
	const char *line = text_last_line(arena, err), *how = status_words(arena, status);

	if (status && status->exited && status->code == 0) {
		fault_set(reterr, ECONNRESET,
			  "%s: ended before the agent said anything%s%s; does `%s %s true` work and print nothing?",
			  name, *line ? ": " : "", line, tool, name);
		return PEER_FAULT_CLOSED;
	}
	fault_set(reterr, ECONNREFUSED, "%s: %s failed (%s)%s%s", name, tool, how, *line ? ": " : "", line);
	return PEER_FAULT_TRANSPORT;
}

enum peer_fault transport_explain(const char *name, const char *via, const char *err, const struct child_status *status,
				  struct fault *reterr)
{
	const struct ssh_cause *cause = ssh_causes;
	struct arena *arena = arena_new();
	enum peer_fault kind;

	/* 255 is ssh's own failure, and also any remote one: only with ssh's words is it taken for a cause of the list.
	 */
	if (via || !status || !status->exited || status->code != 255)
		cause = NULL;
	while (cause && cause->words && !strstr(err, cause->words))
		cause++;
	if (cause && cause->words) {
		const char *help = word_replace(arena, cause->help, "%s", name_host(name));

		fault_set(reterr, ECONNREFUSED, "%s: %s; %s", name, cause->what, help);
		kind = cause->kind;
	} else {
		kind = explain_other(arena, name, via ? "the --via command" : "ssh", err, status, reterr);
	}
	arena_free(arena);
	return kind;
}
