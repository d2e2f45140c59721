title='the agent on the worker is frozen after its HELLO'
expect='UNKNOWN peer.agent'
expect_exit=3
limit=100 # it must give up by a deadline of its own
# Magic line and HELLO are more than 100 bytes: once so many are written, it is in the middle of its session.
fault() {
    background worker "while :; do
        for pid in \$($lab_dir/guest/ours); do
            [[ \$(</proc/\$pid/io) =~ wchar:\ ([0-9]+) ]] && ((BASH_REMATCH[1] > 100)) || continue
            kill -STOP \$($lab_dir/guest/ours)
            exit
        done
    done 2>/dev/null"
}
heal() { on worker "kill -CONT \$($lab_dir/guest/ours) 2>/dev/null || true"; }
