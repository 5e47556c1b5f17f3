/* The baselines of the benchmarks: spread all frames over processors in turn, and do nothing else, without a program where
 * they are served or with one that passes all of them.
 *
 * Source: the round robin of `steer`, without parser, rule, stamp and counters; one turn for each receiving processor.
 * Work:   O(1)
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "intf.h"

struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, STEER_CPUS);
	__type(key, __u32);
	__type(value, struct bpf_cpumap_val);
} processors SEC(".maps");

/* How many processors there are, and their numbers; written when it is loaded. */
struct bare_list {
	__u32 used;
	__u32 list[STEER_CPUS];
};

const volatile struct bare_list spread SEC(".rodata.spread");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} turns SEC(".maps");

SEC("xdp")
int bare(struct xdp_md *context)
{
	__u32 first = 0, at;
	__u32 *turn = bpf_map_lookup_elem(&turns, &first);

	if (!turn)
		return XDP_ABORTED;
	at = *turn < spread.used ? *turn : 0;
	*turn = at + 1;
	return bpf_redirect_map(&processors, spread.list[at & (STEER_CPUS - 1)], XDP_DROP);
}

/* What it costs that there is a program where frames are served. */
SEC("xdp/cpumap")
int bare_serve(struct xdp_md *context)
{
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "MIT";
