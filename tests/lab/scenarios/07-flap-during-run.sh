title='a cable of the worker flaps while sparkfab looks'
expect='WARN|FAIL link.flaps'
expect_exit='1 2'
also='link.state|link.fabric|mtu.path' # a look may well fall into a moment without carrier
fault() {
    while :; do
        lab cable worker eth2 off
        lab cable worker eth2 on
    done &
    flapping=$!
}
heal() {
    kill "$flapping"
    wait "$flapping" 2>/dev/null || true
}
