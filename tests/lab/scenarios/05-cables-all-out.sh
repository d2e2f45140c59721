title='all fabric cables are out at the worker'
expect='FAIL link.fabric'
expect_exit=2
fault() {
    lab cable worker eth1 off
    lab cable worker eth2 off
}
