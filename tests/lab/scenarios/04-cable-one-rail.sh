# Seen: the end that is pulled reads no carrier, operstate down, RDMA port DOWN with physical state Polling, and it
# keeps its address and its GIDs. The other end keeps carrier and an ACTIVE port, as behind a switch.
title='one of two cables is out at the worker'
expect='FAIL link.state'
expect_exit=2
fault() { lab cable worker eth1 off; }
