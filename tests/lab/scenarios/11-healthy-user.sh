title='nothing is broken, and the peer is looked at without root'
transport=ssh
peer=spark@worker
expect='PASS link.fabric'
expect_exit='0 1'
