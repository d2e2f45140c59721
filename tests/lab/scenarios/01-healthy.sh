title='nothing is broken'
transport=ssh
expect='PASS link.fabric'
expect_exit='0 1'
