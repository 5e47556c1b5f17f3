/* The program `route` as XDP: hands the frames that the router takes to its sockets, and the others to the kernel.
 *
 * Its link vanishes with the daemon; where it was pinned (`on_failure = "stop"`) it stays, and drops what no socket
 * takes until the daemon is back.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "route.h"

/* The socket of each queue; empty where the daemon is gone. */
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, ROUTE_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

/* The addresses that the kernel has on this interface. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ROUTE_ADDRESSES);
	__type(key, struct route_address);
	__type(value, __u8);
} addresses SEC(".maps");

/* Frames by `enum route_frame`. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ROUTE_FRAMES);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/* The VLANs that the router serves. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ROUTE_VLANS);
	__type(key, struct route_tags);
	__type(value, __u8);
} vlans SEC(".maps");

/* By `enum route_setting`; written by the daemon when it loads the program, and when it is told otherwise. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ROUTE_SETTINGS);
	__type(key, __u32);
	__type(value, __u32);
} settings SEC(".maps");

static __always_inline void count(enum route_frame frame)
{
	__u32 place = frame;
	__u64 *counted = bpf_map_lookup_elem(&counts, &place);

	if (counted)
		*counted += 1;
}

static __always_inline __u32 setting(enum route_setting which)
{
	__u32 place = which;
	__u32 *value = bpf_map_lookup_elem(&settings, &place);

	return value ? *value : 0;
}

static __always_inline int abandoned(void)
{
	count(ROUTE_NO_SOCKET);
	return setting(ROUTE_WITHOUT_SOCKET) == XDP_DROP ? XDP_DROP : XDP_PASS;
}

/* What a frame is to the router, by the VLAN that it is of. */
static __always_inline enum route_frame within(enum route_frame kind, struct route_tags *tags,
					       struct route_address *to)
{
	if (!tags->type) {
		if (setting(ROUTE_ONLY_TAGGED) && kind != ROUTE_SHORT)
			return ROUTE_VLAN;
		return kind == ROUTE_ROUTED && bpf_map_lookup_elem(&addresses, to) ? ROUTE_KERNEL : kind;
	}
	if (kind != ROUTE_SHORT && kind != ROUTE_VLAN && !bpf_map_lookup_elem(&vlans, tags))
		return ROUTE_VLAN;
	/* A VLAN that the router serves is the router's alone, neighbours and all. */
	return kind == ROUTE_NEIGHBOUR ? ROUTE_ROUTED : kind;
}

SEC("xdp")
int route(struct xdp_md *context)
{
	const unsigned char *frame = (const unsigned char *)(long)context->data;
	const unsigned char *end = (const unsigned char *)(long)context->data_end;
	__u32 queue = context->rx_queue_index;
	struct route_address to = {};
	struct route_tags tags;
	enum route_frame kind = within(route_classify(frame, end, &to, &tags), &tags, &to);

	if (kind != ROUTE_ROUTED) {
		count(kind);
		return XDP_PASS;
	}
	if (!bpf_map_lookup_elem(&sockets, &queue))
		return abandoned();
	count(kind);
	return bpf_redirect_map(&sockets, queue, XDP_PASS);
}

char LICENSE[] SEC("license") = "MIT";
