/* The programs of `steer` as XDP: one where frames are received, one where they are served, and one that counts what
 * found a queue full.
 *
 * The first stamps a request, decides on a processor and sends it to the queue there; the second, which the thread of
 * that queue runs, counts what it waited, serves it if that is wanted, and sends it back or on to the kernel. What the
 * daemon writes and reads are maps that it has in its memory.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define STEER_APART __attribute__((noinline))
#include "steer.h"

/* What the programs are told before they are loaded; what follows from it is decided by the verifier, once. */
const volatile struct steer_setup setup SEC(".rodata.setup");
/* The rule in force; written by the daemon. */
struct steer_rules rules SEC(".data.rules");
/* Frames and requests, by processor. */
struct steer_counts counts;

/* The queues; the daemon sets their number to that of the processors there can be. */
struct {
	__uint(type, BPF_MAP_TYPE_CPUMAP);
	__uint(max_entries, STEER_CPUS);
	__type(key, __u32);
	__type(value, struct bpf_cpumap_val);
} processors SEC(".maps");

/* What the requests of a class waited: by processor, and then by class. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STEER_CPUS * STEER_CLASSES);
	__type(key, __u32);
	__type(value, struct steer_delays);
} delays SEC(".maps");

/* The interface that requests are sent back by. */
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} back SEC(".maps");

/* The number of the map of queues, by which the kernel tells of them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} queues_id SEC(".maps");

STEER_INLINE struct steer_queue *queue_of(__u32 processor)
{
	return &counts.queues[processor & (STEER_CPUS - 1)];
}

STEER_INLINE struct steer_served *served_by(__u32 processor)
{
	return &counts.served[processor & (STEER_CPUS - 1)];
}

/* What came, less what is done. They are read one after another, so that there may seem to be less than none. */
STEER_INLINE unsigned int steer_length(unsigned int processor)
{
	const volatile struct steer_queue *queue = queue_of(processor);
	const volatile struct steer_served *served = served_by(processor);
	long long length = queue->steered - queue->dropped - served->done;

	return length < 0 ? 0 : length;
}

STEER_INLINE struct steer_bytes bytes_of(struct xdp_md *context)
{
	return (struct steer_bytes){
		.frame = (const unsigned char *)(long)context->data,
		.end = (const unsigned char *)(long)context->data_end,
		.context = context,
	};
}

__attribute__((noinline)) unsigned long long extensions_of(struct xdp_md *context, unsigned int at,
							   unsigned int protocol)
{
	struct steer_bytes bytes = bytes_of(context);

	return steer_extensions(&bytes, at, protocol);
}

STEER_INLINE unsigned long long steer_behind(const struct steer_bytes *bytes, unsigned int at, unsigned int protocol)
{
	return extensions_of(bytes->context, at, protocol);
}

/* The number of a flow. Apart, so that the verifier follows the hash once, and not for every way through the headers. */
__attribute__((noinline)) unsigned int flow_of(struct xdp_md *context, unsigned int network, unsigned int version,
					       unsigned int ports, unsigned int protocol)
{
	struct steer_bytes bytes = bytes_of(context);
	struct steer_packet packet = {
		.network = network,
		.version = version,
		.source = ports >> 16,
		.destination = ports & 0xffff,
		.protocol = protocol,
	};

	return steer_flow(&bytes, &setup, &packet);
}

/* The processor of the flow of a packet. */
STEER_INLINE unsigned int by_hash(struct xdp_md *context, const struct steer_decision *decision,
				  struct steer_receiver *receiver, const struct steer_packet *packet)
{
	unsigned int ports = packet->source << 16 | packet->destination;
	unsigned int flow = flow_of(context, packet->network, packet->version, ports, packet->protocol);
	unsigned long long found = steer_by_hash(decision, flow);

	receiver->frames[STEER_REDIRECTED] += found >> 32;
	return found;
}

/* The processor that the rule in force names. */
STEER_INLINE unsigned int decide(struct xdp_md *context, const struct steer_decision *decision,
				 struct steer_receiver *receiver, const struct steer_packet *packet, unsigned int class)
{
	if (decision->rule == STEER_CYCLE)
		return steer_cycle(decision, receiver->turns, class, &receiver->frames[STEER_REDIRECTED]);
	if (decision->rule == STEER_HASH)
		return by_hash(context, decision, receiver, packet);
	return steer_shortest(decision);
}

/* Puts a stamp in front of the frame; a driver without room for it leaves the request without. */
STEER_INLINE void stamp(struct xdp_md *context, unsigned int class, unsigned int payload)
{
	struct steer_stamp *put;

	if (bpf_xdp_adjust_meta(context, -(int)sizeof(*put)))
		return;
	put = (struct steer_stamp *)(long)context->data_meta;
	if ((void *)(put + 1) > (void *)(long)context->data)
		return;
	put->received = bpf_ktime_get_ns();
	put->class = class;
	put->payload = payload;
}

SEC("xdp")
int steer(struct xdp_md *context)
{
	struct steer_bytes bytes = bytes_of(context);
	struct steer_receiver *receiver = &counts.receivers[bpf_get_smp_processor_id() & (STEER_CPUS - 1)];
	const struct steer_decision *decision = &rules.decisions[rules.active & 1];
	struct steer_packet packet;
	enum steer_frame kind = steer_parse(&bytes, &setup, &packet);
	unsigned int class, processor;

	if (kind == STEER_STEERED && decision->rule == STEER_IDLE)
		kind = STEER_PASSED;
	if (kind != STEER_STEERED) {
		receiver->frames[kind] += 1;
		return XDP_PASS;
	}
	class = steer_class(&bytes, &setup, &packet);
	processor = decide(context, decision, receiver, &packet, class);
	stamp(context, class, packet.payload);
	if (bpf_redirect_map(&processors, processor, XDP_DROP) != XDP_REDIRECT) {
		receiver->frames[STEER_NO_SERVER] += 1;
		return decision->strict ? XDP_ABORTED : XDP_DROP;
	}
	receiver->frames[STEER_STEERED] += 1;
	__sync_fetch_and_add(&queue_of(processor)->steered, 1);
	return XDP_REDIRECT;
}

/* Counts what a request waited. */
STEER_INLINE void waited(__u32 processor, const struct steer_stamp *stamp)
{
	__u32 place = processor * STEER_CLASSES + (stamp->class & 1);
	struct steer_delays *of = bpf_map_lookup_elem(&delays, &place);
	__u64 now = bpf_ktime_get_ns();
	__u64 delay = now > stamp->received ? now - stamp->received : 0;
	__u32 bucket = steer_bucket(delay);

	if (!of)
		return;
	of->requests += 1;
	of->sum += delay;
	if (delay > of->longest)
		of->longest = delay;
	if (bucket < STEER_SPANS)
		of->spans[bucket] += 1;
}

/* One turn of the loop that serves. */
static long turn(__u32 at, void *context)
{
	*(volatile __u32 *)context += at;
	return 0;
}

/* Serves a request: so many turns of the loop for each unit of its field. */
STEER_INLINE void serve(const unsigned char *frame, const unsigned char *end, unsigned int payload)
{
	const unsigned char *field = frame + ((payload + setup.field) & STEER_WITHIN);
	__u64 turns;
	__u32 sum = 0;

	if (!payload || field + 4 > end)
		return;
	turns = steer_32(field);
	if (turns > STEER_LARGEST_FIELD)
		turns = STEER_LARGEST_FIELD;
	turns *= setup.iterations;
	if (turns > STEER_LONGEST_LOOP)
		turns = STEER_LONGEST_LOOP;
	bpf_loop(turns, turn, &sum, 0);
}

/* Serves what has a stamp, and takes that off: frames that differ in it would not be joined by the kernel. */
STEER_INLINE void serve_stamped(struct xdp_md *context, __u32 processor)
{
	const struct steer_stamp *stamp = (const struct steer_stamp *)(long)context->data_meta;
	const unsigned char *frame = (const unsigned char *)(long)context->data;
	const unsigned char *end = (const unsigned char *)(long)context->data_end;

	if ((const void *)(stamp + 1) > (const void *)frame)
		return;
	waited(processor, stamp);
	if (setup.serve)
		serve(frame, end, stamp->payload);
	bpf_xdp_adjust_meta(context, sizeof(*stamp));
}

SEC("xdp/cpumap")
int steer_serve(struct xdp_md *context)
{
	__u32 processor = bpf_get_smp_processor_id();
	struct steer_served *served = served_by(processor);
	struct steer_bytes bytes;

	served->requests += 1;
	serve_stamped(context, processor);
	served->done += 1;
	if (!setup.reflect)
		return XDP_PASS;
	bytes = bytes_of(context);
	if (!steer_turn_round(&bytes))
		return XDP_PASS;
	return bpf_redirect_map(&back, 0, XDP_DROP);
}

/* The arguments of this tracepoint: the map, frames that found room, frames that did not, the processor. */
SEC("tp_btf/xdp_cpumap_enqueue")
int steer_overflow(__u64 *arguments)
{
	__u32 first = 0;
	__u32 *ours = bpf_map_lookup_elem(&queues_id, &first);

	if (ours && (__u32)arguments[0] == *ours && (__u32)arguments[2])
		__sync_fetch_and_add(&queue_of(arguments[3])->dropped, (__u32)arguments[2]);
	return 0;
}

char LICENSE[] SEC("license") = "MIT";
