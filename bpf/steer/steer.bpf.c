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

__attribute__((noinline)) unsigned long long sum_of(struct xdp_md *context, unsigned int at, unsigned int length)
{
	struct steer_bytes bytes = bytes_of(context);

	return steer_sum(&bytes, at, length);
}

STEER_INLINE unsigned long long steer_sum_of(const struct steer_bytes *bytes, unsigned int at, unsigned int length)
{
	return sum_of(bytes->context, at, length);
}

/* Completes what checksums of a frame were left to a device. */
__attribute__((noinline)) int complete(struct xdp_md *context)
{
	struct steer_bytes bytes = bytes_of(context);

	return steer_complete(&bytes);
}

/* The processor of the flow of a packet, and whether it is another than that of its entry. Apart, so that the verifier
 * follows the hashes once, and not for every way through the headers. */
__attribute__((noinline)) unsigned long long by_hash(struct xdp_md *context, const struct steer_decision *decision,
						     unsigned int network, unsigned int ports, unsigned int protocol)
{
	struct steer_bytes bytes = bytes_of(context);
	struct steer_packet packet = {
		.network = network >> 8,
		.version = network & 255,
		.ports = ports,
		.protocol = protocol,
	};

	return steer_by_hash(decision, steer_flow(&bytes, &setup, &packet));
}

/* Puts a stamp in front of the frame; a driver without room for it leaves the request without. */
STEER_INLINE void stamp(struct xdp_md *context, unsigned int processor, unsigned int class, unsigned int payload)
{
	struct steer_stamp *put;

	bpf_xdp_adjust_meta(context, -(int)sizeof(*put));
	put = (struct steer_stamp *)(long)context->data_meta;
	if ((void *)(put + 1) > (void *)(long)context->data)
		return;
	put->received = bpf_ktime_get_ns();
	put->processor = processor;
	put->what = payload << 1 | class;
}

/* Nothing of a pointer is to be found anew where it is used, which takes longer than to keep it. */
#define KEPT(pointer) asm volatile("" : "+r"(pointer))

STEER_INLINE struct steer_receiver *receiver_here(void)
{
	struct steer_receiver *receiver = &counts.receivers[bpf_get_smp_processor_id() & (STEER_CPUS - 1)];

	KEPT(receiver);
	return receiver;
}

STEER_INLINE const struct steer_decision *decision_in_force(void)
{
	const struct steer_rules *both = &rules;
	const struct steer_decision *decision;

	KEPT(both);
	decision = &both->decisions[0];
	if (both->active)
		decision = &both->decisions[1];
	KEPT(decision);
	return decision;
}

/* A request that cannot be sent. */
__attribute__((noinline)) int no_server(unsigned int strict)
{
	receiver_here()->frames[STEER_NO_SERVER] += 1;
	return strict ? XDP_ABORTED : XDP_DROP;
}

/* Sends a request to a processor. What was sent is counted by its queue alone. */
STEER_INLINE int send(struct xdp_md *context, const struct steer_decision *decision, const struct steer_packet *packet,
		      unsigned int class, unsigned int processor)
{
	stamp(context, processor, class, packet->payload);
	if (bpf_redirect_map(&processors, processor, 0) != XDP_REDIRECT)
		return no_server(decision->strict);
	__sync_fetch_and_add(&queue_of(processor)->steered, 1);
	return XDP_REDIRECT;
}

/* Sends a request where a rule other than that of turns says. */
STEER_INLINE int send_by(struct xdp_md *context, const struct steer_decision *decision,
			 const struct steer_packet *packet, unsigned int class)
{
	unsigned long long found;

	if (decision->rule == STEER_IDLE) {
		receiver_here()->frames[STEER_PASSED] += 1;
		return XDP_PASS;
	}
	if (decision->rule == STEER_SHORTEST)
		return send(context, decision, packet, class, steer_shortest(decision));
	found = by_hash(context, decision, packet->network << 8 | packet->version, packet->ports, packet->protocol);
	if (found >> 32)
		receiver_here()->frames[STEER_REDIRECTED] += 1;
	return send(context, decision, packet, class, found);
}

/* Sends a request of a class to the processor that the rule in force names. */
STEER_INLINE int spread(struct xdp_md *context, const struct steer_packet *packet, unsigned int class)
{
	const struct steer_decision *decision = decision_in_force();
	struct steer_receiver *receiver;
	unsigned int processor;

	if (decision->rule != STEER_CYCLE)
		return send_by(context, decision, packet, class);
	receiver = receiver_here();
	processor = steer_next(decision, &receiver->turns, class);
	if (processor == STEER_NONE) {
		unsigned long long found;

		KEPT(receiver);
		found = steer_turn(decision, class, &receiver->turns);
		processor = found;
		if (found >> 32)
			receiver->frames[STEER_REDIRECTED] += 1;
	}
	return send(context, decision, packet, class, processor);
}

/* The same with its class; where there is but one, what follows from that is known to the compiler. */
STEER_INLINE int classify(struct xdp_md *context, const volatile struct steer_setup *told,
			  const struct steer_bytes *bytes, const struct steer_packet *packet)
{
	if (told->class_rule == STEER_ONE_CLASS)
		return spread(context, packet, 0);
	return spread(context, packet, steer_class(bytes, told, packet));
}

/* A frame of any form. Apart, so that those of the usual form do not pay for it. */
__attribute__((noinline)) int steer_any(struct xdp_md *context)
{
	struct steer_bytes bytes = bytes_of(context);
	struct steer_packet packet = { 0 };
	enum steer_frame kind = steer_parse(&bytes, &setup, &packet);

	if (kind == STEER_STEERED)
		return classify(context, &setup, &bytes, &packet);
	receiver_here()->frames[kind] += 1;
	return XDP_PASS;
}

SEC("xdp")
int steer(struct xdp_md *context)
{
	struct steer_bytes bytes = bytes_of(context);
	const volatile struct steer_setup *told = &setup;
	struct steer_packet packet;

	KEPT(told);
	if (!steer_is_plain(&bytes, told, &packet))
		return steer_any(context);
	return classify(context, told, &bytes, &packet);
}

/* Counts what a request waited. */
STEER_INLINE void waited(const struct steer_stamp *stamp)
{
	__u32 place = stamp->processor * STEER_CLASSES + (stamp->what & 1);
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

/* What is in front of the frame, if that is a stamp. */
STEER_INLINE const struct steer_stamp *in_front(struct xdp_md *context)
{
	const struct steer_stamp *stamp = (const struct steer_stamp *)(long)context->data_meta;

	return (const void *)(stamp + 1) <= (const void *)(long)context->data ? stamp : 0;
}

/* The stamp of a request; none where there was no room for one. */
STEER_INLINE const struct steer_stamp *stamp_of(struct xdp_md *context)
{
	const struct steer_stamp *stamp = in_front(context);

	/* The generic path forgets the stamp, for which it always has room, and leaves the bytes where they were. */
	if (!stamp && rules.generic && !bpf_xdp_adjust_meta(context, -(int)sizeof(*stamp)))
		return in_front(context);
	return stamp;
}

/* Serves what has a stamp, and takes that off: frames that differ in it would not be joined by the kernel. */
STEER_INLINE void serve_stamped(struct xdp_md *context, const struct steer_stamp *stamp)
{
	waited(stamp);
	if (setup.serve)
		serve((const unsigned char *)(long)context->data, (const unsigned char *)(long)context->data_end,
		      stamp->what >> 1);
	bpf_xdp_adjust_meta(context, sizeof(*stamp));
}

SEC("xdp/cpumap")
int steer_serve(struct xdp_md *context)
{
	const struct steer_stamp *stamp = stamp_of(context);
	struct steer_served *served = served_by(stamp ? stamp->processor : bpf_get_smp_processor_id());
	struct steer_bytes bytes;

	served->requests += 1;
	if (stamp)
		serve_stamped(context, stamp);
	/* In the generic path the kernel keeps its note of what was left to a device. */
	if (!rules.generic && complete(context))
		served->completed += 1;
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
	__u32 dropped = arguments[2], first = 0, *ours;

	/* Mostly none is, and this runs for every few frames. */
	if (!dropped)
		return 0;
	ours = bpf_map_lookup_elem(&queues_id, &first);
	if (ours && (__u32)arguments[0] == *ours)
		__sync_fetch_and_add(&queue_of(arguments[3])->dropped, dropped);
	return 0;
}

char LICENSE[] SEC("license") = "MIT";
