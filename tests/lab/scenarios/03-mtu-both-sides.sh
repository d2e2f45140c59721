title='both hosts were left at MTU 1500'
expect='WARN mtu.rdma' # the two agree, so it works; but 1024 bytes an RDMA packet instead of 4096 cost
expect_exit=1
fault() {
    local host
    for host in head worker; do on "$host" 'ip link set eth1 mtu 1500; ip link set eth2 mtu 1500'; done
}
