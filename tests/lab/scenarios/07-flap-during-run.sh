title='a cable of the worker flaps while sparkfab looks'
expect='FAIL link.flaps'
expect_exit=2
also='link.state' # the first look may fall into a moment without carrier
fault() {
    while :; do
        lab cable worker eth2 off
        lab cable worker eth2 on
        sleep 0.3 # a link that is mostly there, as a loose cable's
    done &
    flapping=$!
}
heal() {
    kill "$flapping"
    wait "$flapping" 2>/dev/null || true
}
