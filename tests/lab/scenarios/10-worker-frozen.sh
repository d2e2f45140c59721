title='the agent on the worker stops answering in mid-session'
expect='UNKNOWN peer.agent'
expect_exit=3
limit=100 # it must give up by a deadline of its own
fault() { background worker "until pid=\$($lab_dir/guest/ours) && [[ \$pid ]]; do :; done; kill -STOP \$pid"; }
heal() { on worker "kill -CONT \$($lab_dir/guest/ours) 2>/dev/null || true"; }
