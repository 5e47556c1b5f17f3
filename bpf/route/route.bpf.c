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

/* What becomes of frames for the router that no socket takes; written by the daemon when it loads the program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} without_socket SEC(".maps");

static __always_inline void count(enum route_frame frame)
{
	__u32 place = frame;
	__u64 *counted = bpf_map_lookup_elem(&counts, &place);

	if (counted)
		*counted += 1;
}

static __always_inline int abandoned(void)
{
	__u32 place = 0;
	__u32 *action = bpf_map_lookup_elem(&without_socket, &place);

	count(ROUTE_NO_SOCKET);
	return action && *action == XDP_DROP ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int route(struct xdp_md *context)
{
	const unsigned char *frame = (const unsigned char *)(long)context->data;
	const unsigned char *end = (const unsigned char *)(long)context->data_end;
	__u32 queue = context->rx_queue_index;
	struct route_address to;
	enum route_frame kind = route_classify(frame, end, &to);

	if (kind == ROUTE_ROUTED && bpf_map_lookup_elem(&addresses, &to))
		kind = ROUTE_KERNEL;
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
