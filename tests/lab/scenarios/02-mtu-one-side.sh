title='the worker has a smaller MTU on one rail'
expect='FAIL mtu.parity'
expect_exit=2
fault() { on worker 'ip link set eth1 mtu 1500'; }
