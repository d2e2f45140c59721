title='the agent on the worker stops answering in mid-session'
expect='UNKNOWN peer.(reach|agent)'
expect_exit=3
limit=100 # it must give up by a deadline of its own
fault() { background worker 'until pgrep ^sparkfab; do :; done; pkill -STOP ^sparkfab'; }
heal() { on worker 'pkill -CONT ^sparkfab || true'; }
