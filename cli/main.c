/* SPDX-License-Identifier: Apache-2.0 */
/* sparkfab: finds the verb, sets the process up so that it behaves the same under cron, ssh and a terminal. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/verb.h"
#include "core/buf.h"
#include "core/text.h"
#include "results/exit_codes.h"

const struct verb *const verb_table[] = { &verb_check, &verb_snapshot, &verb_list, &verb_explain, NULL };

volatile bool verb_stop;
static volatile sig_atomic_t stop_signal;

static void on_signal(int signal)
{
	/* The second one ends at once: whoever presses Ctrl-C twice does not want to wait for a polite goodbye. */
	if (verb_stop) {
		struct sigaction dfl = { .sa_handler = SIG_DFL };

		sigaction(signal, &dfl, NULL);
		raise(signal);
	}
	stop_signal = signal;
	verb_stop = true;
}

static void set_up_signals(void)
{
	struct sigaction stop = { .sa_handler = on_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction old;

		/* nohup and background jobs of a plain shell ignore some of these: that is the caller's wish. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &stop, NULL);
	}
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL); /* a file over the limit is an error of write(2), told and cleaned up */
}

void verb_end_at_once(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction now;

		if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == on_signal)
			sigaction(signals[i], &dfl, NULL);
	}
}

/* Descriptors 0 to 2 closed by the caller would be given to the first files we open. */
static void open_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

/* The default action of the signal that stopped us, so that the caller sees what ended us. */
static void re_raise(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t set;

	sigaction(stop_signal, &dfl, NULL);
	sigemptyset(&set);
	sigaddset(&set, stop_signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(stop_signal);
}

static void add_help(struct buf *out)
{
	buf_adds(out, "sparkfab finds what is wrong with the RoCE or InfiniBand fabric between hosts.\n"
		      "It changes nothing on any host; it prints the commands that would.\n\n"
		      "usage: sparkfab VERB [OPTIONS]\n\n");
	for (const struct verb *const *verb = verb_table; *verb; verb++)
		buf_addf(out, "  %-10s %s\n", (*verb)->name, (*verb)->help);
	buf_adds(out, "\n  sparkfab check --peer worker     check this host and worker, and the fabric between them\n"
		      "  sparkfab VERB --help             the options of a verb\n"
		      "\nexit codes: 0 pass, 1 warnings, 2 failures, 3 not decided; 64 usage, 70 internal,\n"
		      "74 input/output, 75 busy, 77 permission, 78 configuration\n");
}

static int usage_error(const char *what, const char *word)
{
	cleanup_buf struct buf visible = BUF_INIT;

	text_add_visible(&visible, word, strlen(word));
	fprintf(stderr, "sparkfab: %s '%s'; the verbs are:", what, buf_str(&visible));
	for (const struct verb *const *verb = verb_table; *verb; verb++)
		fprintf(stderr, " %s", (*verb)->name);
	fprintf(stderr, "\n");
	return EXIT_CODE_USAGE;
}

static int run(int argc, char *argv[])
{
	cleanup_buf struct buf out = BUF_INIT;
	const char *word = argc > 1 ? argv[1] : "--help";

	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help")) {
		add_help(&out);
		return argc > 1 ? output_write("sparkfab", &out, EXIT_CODE_PASS) :
				  (fputs(buf_str(&out), stderr), EXIT_CODE_USAGE);
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		buf_addf(&out, "sparkfab %s\n", SPARKFAB_VERSION);
		return output_write("sparkfab", &out, EXIT_CODE_PASS);
	}
	for (const struct verb *const *verb = verb_table; *verb; verb++)
		if (!strcmp(word, (*verb)->name))
			return (*verb)->run(*verb, argc - 1, argv + 1);
	return usage_error(word[0] == '-' ? "unknown option" : "unknown verb", word);
}

int main(int argc, char *argv[])
{
	int code;

	open_standard_descriptors();
	set_up_signals();
	code = run(argc, argv);
	if (stop_signal)
		re_raise();
	return code;
}
