#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
SEC("xdp")
int steer(struct xdp_md *context) { return XDP_PASS; }
char LICENSE[] SEC("license") = "MIT";
