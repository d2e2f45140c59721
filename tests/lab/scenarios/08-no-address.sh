title='a rail of the worker has no IPv4 address'
expect='FAIL link.fabric' # one rail fewer than the other side is made for
expect_exit=2
fault() { on worker 'ip -4 address flush dev eth2'; }
