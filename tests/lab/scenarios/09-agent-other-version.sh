# The magic line of docs/PROTOCOL.md, then one HELLO frame: length 74, type H, CRC-32 of these and of the JSON.
title='an agent of another protocol version comes first in the PATH of the worker'
expect='UNKNOWN peer.agent'
expect_exit=3
options=(--no-deploy)
fault() {
    on worker 'rm -rf ~/.cache/sparkfab' # where a matching one may lie from an earlier run
    agent_first worker <<'EOT'
#!/bin/bash
echo sparkfab-agent-stream-4f1d2c
printf '\x00\x00\x00\x4a\x48\x58\x9c\xd0\x00'
printf '{"protocol":99,"protocol_min":99,"version":"99.0","arch":"x86_64","uid":0}'
exec cat >/dev/null
EOT
}
