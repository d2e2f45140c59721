title='both ends of a rail have one address'
expect='FAIL link.fabric worker'
expect_exit=2
fault() { on worker 'ip address del 10.10.1.2/24 dev eth1; ip address add 10.10.1.1/24 dev eth1'; }
