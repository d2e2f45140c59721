# The address is on the VLAN, the RDMA device below it: what is tried has to leave through the VLAN.
title='a rail over a VLAN'
expect='PASS link.fabric'
expect_exit='0 1'
fault() {
    local host n=0
    for host in head worker; do
        on "$host" "modprobe 8021q
            ip -4 address flush dev eth1
            ip link add link eth1 name eth1.100 up type vlan id 100
            ip address add 10.10.9.$((++n))/24 dev eth1.100"
    done
}
