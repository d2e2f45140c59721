title='the worker lost the RDMA device of one rail'
expect='FAIL link.fabric worker'
expect_exit=2
fault() { on worker 'rdma link delete rocep1s0f0'; }
