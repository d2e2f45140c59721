# Seen: the end that is pulled reads no carrier, operstate down, RDMA port DOWN with physical state Polling, and it
# keeps its address and its GIDs. The other end keeps carrier and an ACTIVE port, as behind a switch.
title='one of two cables is out at the worker'
rail_gone='link.fabric|link.state' # which of the two is worse depends on what else expects two rails
expect="FAIL $rail_gone"
expect_exit=2
also="$rail_gone|mtu.path"
fault() { lab cable worker eth1 off; }
