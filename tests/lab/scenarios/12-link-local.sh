# As after a boot with the link-local addresses that NVIDIA's playbook sets: nobody has spoken to anybody yet.
title='rails with link-local addresses only'
expect='PASS link.fabric'
expect_exit='0 1'
fault() {
    on head 'for n in 1 2; do ip -4 address flush dev eth$n; ip address add 169.254.$n.1/16 dev eth$n scope link; done'
    on worker 'for n in 1 2; do ip -4 address flush dev eth$n; ip address add 169.254.$n.2/16 dev eth$n scope link; done'
}
