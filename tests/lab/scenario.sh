# shellcheck shell=bash disable=SC2034,SC2154,SC2317
# What a scenario may use and what it may set. Sourced by run-scenarios for each scenario, in a shell of its own.
#
#   title       what is broken, in a few words
#   fault       function: breaks it, for real
#   heal        function: ends what `fault` left running on this side, before anything is looked at (optional)
#   expect      'VERDICT CHECK [SUBJECT]': this finding must be there, and nothing may come out worse. VERDICT and
#               CHECK are patterns (jq's, whole words); SUBJECT is a host's name or a part of the subject.
#   expect_exit the exit code, or several that are as good
#   also        pattern of the check ids that may FAIL beside the expected one, as the same fault shows in them
#   transport   via (default, fast) or ssh
#   peer        what --peer gets
#   options     more arguments to sparkfab
#   limit       seconds after which the run counts as one that does not end by itself
defaults() {
    title='' expect='' expect_exit='' also='' transport=via peer=worker options=() limit=120
    fault() { :; }
    heal() { :; }
}

lab() { "$lab_dir/lab" "$@"; }

# on HOST SHELL-LINE
on() { lab run "$1" "$2"; }

# background HOST SHELL-LINE: goes on until the reset.
background() {
    on "$1" "setsid bash -c $(printf %q "$2") </dev/null >/dev/null 2>&1 & echo \$! >>/run/faults"
}

# agent_first HOST: what is on stdin becomes the first sparkfab-agent in the PATH of that host.
agent_first() {
    on "$1" "cat >/run/first/bin/sparkfab-agent <<'END'
$(cat)
END
chmod +x /run/first/bin/sparkfab-agent"
}
