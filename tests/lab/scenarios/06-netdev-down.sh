# Unlike a pulled cable: the RDMA port reads DOWN with physical state Disabled, and the carrier cannot be read.
title='somebody set a fabric netdev down on the worker'
expect='FAIL link.state'
expect_exit=2
fault() { on worker 'ip link set eth1 down'; }
