/* Which frames are requests, of which flow and class, and to which processor each goes.
 *
 * Free of kernel types and calls: the same text is compiled for the kernel by `steer.bpf.c` and for the host by a test,
 * which holds it against another parser and against the dispatchers of weir-core. Every access is behind a comparison
 * with `end`, in the form that the kernel's verifier follows; what is only needed by some rules is found by functions of
 * its own, so that the others do not pay for it.
 *
 * Source:  IEEE 802.3, 802.1Q and 802.1ad (frames, up to two tags); RFC 791, RFC 8200, RFC 4302 (IP); RFC 768, RFC 9293
 *          (ports); RFC 7348 (VXLAN), RFC 8926 (Geneve), RFC 2784 and 2890 (GRE), RFC 2003, 2473 and 4213 (IP in IP);
 *          Aumasson and Bernstein, SipHash, INDOCRYPT 2012
 * Work:    O(1), and the ports of the setup; a step for each place passed over; O(places) for the shortest queue
 * Units:   bytes from the start of a frame
 * Departs: of what is encapsulated twice the flow is that of the first packet inside; more than four extension headers
 *          of IPv6 are as a protocol without ports
 */
#ifndef WEIR_STEER_H
#define WEIR_STEER_H

#include "intf.h"

#define STEER_INLINE static inline __attribute__((always_inline))
/* Functions with long loops. Programs in the kernel have them apart, so that the verifier follows each once. */
#ifndef STEER_APART
#define STEER_APART STEER_INLINE
#endif

#define STEER_ETHERNET 14
#define STEER_TAG 4
#define STEER_IPV4_HEADER 20
#define STEER_IPV6_HEADER 40
#define STEER_UDP_HEADER 8
#define STEER_EXTENSIONS 4
/* Places in a frame are below this, which the verifier wants to see. */
#define STEER_WITHIN 0x3fff

/* Numbers of protocols, which are also those of extension headers. */
enum steer_protocol {
	STEER_HOP_BY_HOP = 0,
	STEER_IPV4_INSIDE = 4,
	STEER_TCP_PROTOCOL = 6,
	STEER_UDP_PROTOCOL = 17,
	STEER_IPV6_INSIDE = 41,
	STEER_ROUTING = 43,
	STEER_FRAGMENT_HEADER = 44,
	STEER_GRE_PROTOCOL = 47,
	STEER_AUTHENTICATION = 51,
	STEER_OPTIONS = 60,
};

/* What a frame carries. */
enum steer_ethertype {
	STEER_IPV4 = 0x0800,
	STEER_TAGGED = 0x8100,
	STEER_ETHERNET_INSIDE = 0x6558,
	STEER_IPV6 = 0x86dd,
	STEER_TAGGED_TWICE = 0x88a8,
};

/* A frame. */
struct steer_bytes {
	const unsigned char *frame;
	const unsigned char *end;
	/* By which `steer_behind` finds it again. */
	void *context;
};

/* A place in a frame. The compiler must not find it anew for each access, or the verifier does not see that it was
 * compared with the end. */
STEER_INLINE const unsigned char *steer_at(const struct steer_bytes *bytes, unsigned int place)
{
	const unsigned char *at = bytes->frame + (place & STEER_WITHIN);

#if defined(__bpf__)
	asm volatile("" : "+r"(at));
#endif
	return at;
}

/* Where a packet begins, and what its headers say. */
struct steer_packet {
	/* The IP header, and the version of IP: 4 or 6. */
	unsigned int network;
	unsigned int version;
	/* What follows the header of UDP, and its length as UDP says; 0 where there is none. */
	unsigned int payload;
	unsigned int length;
	/* Ports, of UDP and TCP; otherwise 0. */
	unsigned int source;
	unsigned int destination;
	unsigned int protocol;
	/* What follows the IP headers. */
	unsigned int transport;
};

/* Numbers in a frame, most significant byte first. A program in the kernel loads each at once, wherever it lies. */
STEER_INLINE unsigned int steer_16(const unsigned char *at)
{
#if defined(__bpf__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap16(*(const unsigned short *)at);
#else
	return (unsigned int)at[0] << 8 | at[1];
#endif
}

STEER_INLINE unsigned int steer_32(const unsigned char *at)
{
	return steer_16(at) << 16 | steer_16(at + 2);
}

/* Eight bytes as SipHash takes them, least significant byte first. */
STEER_INLINE unsigned long long steer_word(const unsigned char *at)
{
#if defined(__bpf__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return *(const unsigned long long *)at;
#else
	unsigned long long word = 0;

	for (int i = 7; i >= 0; i--)
		word = word << 8 | at[i];
	return word;
#endif
}

STEER_INLINE unsigned long long steer_rotated(unsigned long long word, int bits)
{
	return word << bits | word >> (64 - bits);
}

/* The state of a hash. */
struct steer_hash {
	unsigned long long v[4];
};

STEER_INLINE void steer_round(struct steer_hash *hash)
{
	unsigned long long *v = hash->v;

	v[0] += v[1];
	v[2] += v[3];
	v[1] = steer_rotated(v[1], 13) ^ v[0];
	v[3] = steer_rotated(v[3], 16) ^ v[2];
	v[0] = steer_rotated(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = steer_rotated(v[1], 17) ^ v[2];
	v[3] = steer_rotated(v[3], 21) ^ v[0];
	v[2] = steer_rotated(v[2], 32);
}

STEER_INLINE void steer_absorb(struct steer_hash *hash, unsigned long long word)
{
	hash->v[3] ^= word;
	steer_round(hash);
	hash->v[0] ^= word;
}

/* "somepseudorandomlygeneratedbytes", as the paper has it. */
STEER_INLINE void steer_begin(struct steer_hash *hash, unsigned long long first, unsigned long long second)
{
	hash->v[0] = first ^ 0x736f6d6570736575ULL;
	hash->v[1] = second ^ 0x646f72616e646f6dULL;
	hash->v[2] = first ^ 0x6c7967656e657261ULL;
	hash->v[3] = second ^ 0x7465646279746573ULL;
}

STEER_INLINE unsigned long long steer_end(struct steer_hash *hash)
{
	hash->v[2] ^= 0xff;
	steer_round(hash);
	steer_round(hash);
	steer_round(hash);
	return hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3];
}

/* What the frame carries, behind at most two tags, and where that begins; 0 where the frame is shorter. */
STEER_INLINE unsigned int steer_ethernet(const struct steer_bytes *bytes, unsigned int *at)
{
	const unsigned char *header = steer_at(bytes, *at);
	unsigned int type;

	if (header + STEER_ETHERNET > bytes->end)
		return 0;
	type = steer_16(header + 12);
	*at += STEER_ETHERNET;
	for (int tags = 0; tags < 2 && (type == STEER_TAGGED || type == STEER_TAGGED_TWICE); tags++) {
		header = steer_at(bytes, *at);
		if (header + STEER_TAG > bytes->end)
			return 0;
		type = steer_16(header + 2);
		*at += STEER_TAG;
	}
	return type;
}

STEER_INLINE enum steer_frame steer_ipv4(const struct steer_bytes *bytes, unsigned int at,
					 struct steer_packet *packet)
{
	const unsigned char *header = steer_at(bytes, at);
	unsigned int length;

	if (header + STEER_IPV4_HEADER > bytes->end)
		return STEER_SHORT;
	if (header[0] >> 4 != 4)
		return STEER_PASSED;
	length = (header[0] & 15) * 4;
	if (length < STEER_IPV4_HEADER || header + length > bytes->end)
		return STEER_SHORT;
	packet->version = 4;
	packet->protocol = header[9];
	packet->transport = at + length;
	/* A place behind the first, or more to follow. */
	return steer_16(header + 6) & 0x3fff ? STEER_FRAGMENT : STEER_STEERED;
}

/* The length of an extension header of IPv6; 0 for what is none. */
STEER_INLINE unsigned int steer_extension(const unsigned char *header, unsigned int protocol)
{
	switch (protocol) {
	case STEER_HOP_BY_HOP:
	case STEER_ROUTING:
	case STEER_OPTIONS:
		return (header[1] + 1) * 8;
	case STEER_FRAGMENT_HEADER:
		return 8;
	case STEER_AUTHENTICATION:
		return (header[1] + 2) * 4;
	default:
		return 0;
	}
}

STEER_INLINE int steer_is_extension(unsigned int protocol)
{
	return protocol == STEER_HOP_BY_HOP || protocol == STEER_ROUTING || protocol == STEER_OPTIONS ||
	       protocol == STEER_FRAGMENT_HEADER || protocol == STEER_AUTHENTICATION;
}

/* Goes behind the extension headers that begin at a place: in the upper half what the packet is then, in the middle the
 * protocol, in the lower half where that begins. */
STEER_INLINE unsigned long long steer_extensions(const struct steer_bytes *bytes, unsigned int at,
						 unsigned int protocol)
{
	unsigned long long kind = STEER_STEERED;

	for (int i = 0; i < STEER_EXTENSIONS && kind == STEER_STEERED && steer_is_extension(protocol); i++) {
		const unsigned char *header = steer_at(bytes, at);

		if (header + 8 > bytes->end)
			return (unsigned long long)STEER_SHORT << 32;
		/* A fragment header of a packet that is whole says so: no place behind the first, and no more. */
		if (protocol == STEER_FRAGMENT_HEADER && steer_16(header + 2) & 0xfff9)
			kind = STEER_FRAGMENT;
		at += steer_extension(header, protocol);
		protocol = header[0];
	}
	if (steer_at(bytes, at) > bytes->end)
		kind = STEER_SHORT;
	return kind << 32 | protocol << 16 | (at & STEER_WITHIN);
}

/* The same: whoever includes this says. A program in the kernel has it apart, so that the verifier follows it once. */
STEER_INLINE unsigned long long steer_behind(const struct steer_bytes *bytes, unsigned int at, unsigned int protocol);

STEER_INLINE enum steer_frame steer_ipv6(const struct steer_bytes *bytes, unsigned int at,
					 struct steer_packet *packet)
{
	const unsigned char *header = steer_at(bytes, at);
	unsigned long long behind;

	if (header + STEER_IPV6_HEADER > bytes->end)
		return STEER_SHORT;
	if (header[0] >> 4 != 6)
		return STEER_PASSED;
	packet->version = 6;
	packet->protocol = header[6];
	packet->transport = at + STEER_IPV6_HEADER;
	if (!steer_is_extension(packet->protocol))
		return STEER_STEERED;
	behind = steer_behind(bytes, packet->transport, packet->protocol);
	packet->protocol = behind >> 16 & 255;
	packet->transport = behind & STEER_WITHIN;
	return (enum steer_frame)(behind >> 32 & 3);
}

/* The ports, and the payload of UDP. */
STEER_INLINE enum steer_frame steer_ports(const struct steer_bytes *bytes, struct steer_packet *packet)
{
	const unsigned char *header = steer_at(bytes, packet->transport);
	/* Of TCP all of the header that does not vary must be there. */
	unsigned int least = packet->protocol == STEER_UDP_PROTOCOL ? STEER_UDP_HEADER : 20;

	if (packet->protocol != STEER_UDP_PROTOCOL && packet->protocol != STEER_TCP_PROTOCOL)
		return STEER_STEERED;
	if (header + least > bytes->end)
		return STEER_SHORT;
	packet->source = steer_16(header);
	packet->destination = steer_16(header + 2);
	if (packet->protocol == STEER_UDP_PROTOCOL) {
		packet->payload = packet->transport + STEER_UDP_HEADER;
		packet->length = steer_16(header + 4);
	}
	return STEER_STEERED;
}

/* The packet of a type at a place: STEER_PASSED where that is none of IP. */
STEER_INLINE enum steer_frame steer_network(const struct steer_bytes *bytes, unsigned int type,
					    unsigned int at, struct steer_packet *packet)
{
	enum steer_frame kind = STEER_PASSED;

	packet->network = at;
	packet->payload = 0;
	packet->length = 0;
	packet->source = 0;
	packet->destination = 0;
	if (type == STEER_IPV4)
		kind = steer_ipv4(bytes, at, packet);
	else if (type == STEER_IPV6)
		kind = steer_ipv6(bytes, at, packet);
	return kind == STEER_STEERED ? steer_ports(bytes, packet) : kind;
}

/* What GRE carries, and where that begins; 0 where it is another version, or its headers are not there. */
STEER_INLINE unsigned int steer_gre(const struct steer_bytes *bytes, unsigned int *at)
{
	const unsigned char *header = steer_at(bytes, *at);
	unsigned int flags;

	if (header + 4 > bytes->end)
		return 0;
	flags = steer_16(header);
	/* Source routing, which is deprecated, and versions other than 0. */
	if (flags & 0x4007)
		return 0;
	*at += 4 * (1 + (flags >> 15 & 1) + (flags >> 13 & 1) + (flags >> 12 & 1));
	return steer_16(header + 2);
}

/* The same of what is encapsulated in UDP to these ports. */
STEER_INLINE unsigned int steer_overlay(const struct steer_bytes *bytes, unsigned int port,
					unsigned int *at)
{
	const unsigned char *header = steer_at(bytes, *at);

	if (header + 8 > bytes->end)
		return 0;
	if (port == 4789) {
		*at += 8;
		return header[0] & 8 ? STEER_ETHERNET_INSIDE : 0;
	}
	if (port != 6081 || header[0] >> 6)
		return 0;
	*at += 8 + (header[0] & 0x3f) * 4;
	return steer_16(header + 2);
}

/* What a packet encapsulates, and where that begins; 0 where it is an ordinary one. */
STEER_INLINE unsigned int steer_inside(const struct steer_bytes *bytes, const struct steer_packet *packet, unsigned int *at)
{
	*at = packet->transport;
	switch (packet->protocol) {
	case STEER_IPV4_INSIDE:
		return STEER_IPV4;
	case STEER_IPV6_INSIDE:
		return STEER_IPV6;
	case STEER_GRE_PROTOCOL:
		return steer_gre(bytes, at);
	case STEER_UDP_PROTOCOL:
		*at = packet->payload;
		return steer_overlay(bytes, packet->destination, at);
	default:
		return 0;
	}
}

/* Puts the packet inside into the place of the one that carries it, if it is one of IP. */
STEER_INLINE enum steer_frame steer_unwrap(const struct steer_bytes *bytes, unsigned int traffic,
					   struct steer_packet *packet)
{
	struct steer_packet inner;
	enum steer_frame kind;
	unsigned int at, type = steer_inside(bytes, packet, &at);

	if (!type)
		return traffic == STEER_ENCAPSULATED ? STEER_PASSED : STEER_STEERED;
	at &= STEER_WITHIN;
	if (type == STEER_ETHERNET_INSIDE) {
		type = steer_ethernet(bytes, &at);
		if (!type)
			return STEER_SHORT;
	}
	kind = steer_network(bytes, type, at, &inner);
	if (kind == STEER_SHORT)
		return kind;
	/* A fragment inside has a flow as well: that of its addresses and its protocol. */
	if (kind != STEER_PASSED)
		*packet = inner;
	return STEER_STEERED;
}

STEER_INLINE int steer_is_one_of(const volatile unsigned short *values, unsigned int used, unsigned int value)
{
	for (unsigned int i = 0; i < STEER_PORTS && i < used; i++)
		if (values[i] == value)
			return 1;
	return 0;
}

/* Whether the frame is a request, STEER_STEERED, and the packet that its flow and its class are of. */
STEER_INLINE enum steer_frame steer_parse(const struct steer_bytes *bytes, const volatile struct steer_setup *setup, struct steer_packet *packet)
{
	unsigned int at = 0, type = steer_ethernet(bytes, &at);
	enum steer_frame kind;

	if (!type)
		return STEER_SHORT;
	kind = steer_network(bytes, type, at, packet);
	if (setup->traffic == STEER_UDP) {
		if (kind == STEER_STEERED || kind == STEER_FRAGMENT) {
			if (packet->protocol != STEER_UDP_PROTOCOL)
				return STEER_PASSED;
		}
		if (kind == STEER_STEERED &&
		    !steer_is_one_of(setup->ports, setup->ports_used, packet->destination))
			return STEER_PASSED;
		return kind;
	}
	return kind == STEER_STEERED ? steer_unwrap(bytes, setup->traffic, packet) : kind;
}

/* The number of the flow: the hash of addresses, ports and protocol, as `weird route` takes it. */
STEER_INLINE unsigned int steer_flow(const struct steer_bytes *bytes, const volatile struct steer_setup *setup, const struct steer_packet *packet)
{
	const unsigned char *header = steer_at(bytes, packet->network);
	unsigned long long last = packet->source >> 8 | (packet->source & 255) << 8;
	struct steer_hash hash;

	last |= (unsigned long long)(packet->destination >> 8 | (packet->destination & 255) << 8) << 16;
	last |= (unsigned long long)packet->protocol << 32;
	steer_begin(&hash, setup->flow_key[0], setup->flow_key[1]);
	if (packet->version == 4) {
		if (header + STEER_IPV4_HEADER > bytes->end)
			return 0;
		steer_absorb(&hash, steer_word(header + 12));
		steer_absorb(&hash, last | 13ULL << 56);
	} else {
		if (header + STEER_IPV6_HEADER > bytes->end)
			return 0;
		steer_absorb(&hash, steer_word(header + 8));
		steer_absorb(&hash, steer_word(header + 16));
		steer_absorb(&hash, steer_word(header + 24));
		steer_absorb(&hash, steer_word(header + 32));
		steer_absorb(&hash, last | 37ULL << 56);
	}
	return (unsigned int)steer_end(&hash);
}

STEER_INLINE unsigned int steer_code_point(const struct steer_bytes *bytes, const struct steer_packet *packet)
{
	const unsigned char *header = steer_at(bytes, packet->network);

	if (header + 2 > bytes->end)
		return 0;
	return packet->version == 4 ? header[1] >> 2 : steer_16(header) >> 6 & 0x3f;
}

/* The byte of the payload there; 0 where it has none. What fills a frame up to its least length is no payload. */
STEER_INLINE unsigned int steer_byte(const struct steer_bytes *bytes, const struct steer_packet *packet, unsigned int offset)
{
	const unsigned char *at = steer_at(bytes, packet->payload + offset);

	if (!packet->payload || offset + STEER_UDP_HEADER >= packet->length || at + 1 > bytes->end)
		return 0;
	return *at;
}

/* The class of a request. */
STEER_INLINE unsigned int steer_class(const struct steer_bytes *bytes, const volatile struct steer_setup *setup, const struct steer_packet *packet)
{
	switch (setup->class_rule) {
	case STEER_BYTE:
		return steer_byte(bytes, packet, setup->offset) >= setup->at_least;
	case STEER_PORT:
		return steer_is_one_of(setup->values, setup->values_used, packet->destination);
	case STEER_DSCP:
		return steer_is_one_of(setup->values, setup->values_used, steer_code_point(bytes, packet));
	default:
		return 0;
	}
}

/* How many requests are at a processor, the one that is served counted: whoever includes this says. */
STEER_INLINE unsigned int steer_length(unsigned int processor);

/* The next place of a part behind `at` that leads to a processor: the place in the upper half, the processor in the lower.
 * Null is what the verifier wants to see asked. */
STEER_APART unsigned long long steer_pass_over(const struct steer_decision *decision, unsigned int first,
					       unsigned int count, unsigned int at)
{
	if (!decision)
		return STEER_NONE;
	for (unsigned int step = 1; step < STEER_PLACES && step < count; step++) {
		/* Divided anew, as the verifier would follow a place that is counted for each of its values. */
		unsigned int place = (at + step) % count;
		unsigned int processor = decision->list[(first + place) & (STEER_PLACES - 1)];

		if (processor != STEER_NONE)
			return (unsigned long long)place << 32 | processor;
	}
	return STEER_NONE;
}

/* The processor whose turn it is, as the dispatchers that take servers in turn decide. */
STEER_INLINE unsigned int steer_cycle(const struct steer_decision *decision, unsigned int *turns, unsigned int class,
				      unsigned long long *redirected)
{
	const struct steer_part *part = &decision->parts[class & 1];
	unsigned int *turn = &turns[part->turn & 1];
	unsigned int at = *turn, count = part->count, processor;
	unsigned long long other;

	if (at >= count) {
		if (!count)
			return STEER_NONE;
		at %= count;
	}
	*turn = at + 1 < count ? at + 1 : 0;
	processor = decision->list[(part->first + at) & (STEER_PLACES - 1)];
	if (processor != STEER_NONE || decision->strict)
		return processor;
	other = steer_pass_over(decision, part->first, count, at);
	if ((unsigned int)other != STEER_NONE) {
		at = other >> 32;
		*turn = at + 1 < count ? at + 1 : 0;
		*redirected += 1;
	}
	return other;
}

/* The entry of a flow in the table of hashes: the hash of its label in weir-core, times the entries, over 2^64. */
STEER_INLINE unsigned int steer_entry(const struct steer_decision *decision, unsigned int flow)
{
	unsigned long long number, entries = decision->entries;
	struct steer_hash hash;

	steer_begin(&hash, decision->key[0], decision->key[1]);
	steer_absorb(&hash, flow);
	steer_absorb(&hash, flow | 12ULL << 56);
	number = steer_end(&hash);
	return ((number >> 32) * entries + ((number & 0xffffffff) * entries >> 32)) >> 32;
}

/* The processor of a flow in the lower half; in the upper one whether it is another than that of its entry. */
STEER_APART unsigned long long steer_by_hash(const struct steer_decision *decision, unsigned int flow)
{
	unsigned int places, place, processor;

	if (!decision || !decision->places)
		return STEER_NONE;
	places = decision->places;
	place = steer_entry(decision, flow) % places;
	processor = decision->list[place & (STEER_PLACES - 1)];
	if (processor != STEER_NONE)
		return processor;
	processor = steer_pass_over(decision, 0, places, place);
	return processor == STEER_NONE ? STEER_NONE : 1ULL << 32 | processor;
}

/* Of `best` and the processor of a place the one with fewer requests, of as many `best`: how many in the upper half, the
 * processor in the lower. */
STEER_APART unsigned long long steer_shorter(const struct steer_decision *decision, unsigned int place,
					     unsigned long long best)
{
	unsigned int processor, length;

	if (!decision)
		return best;
	processor = decision->list[place & (STEER_PLACES - 1)];
	if (processor == STEER_NONE)
		return best;
	length = steer_length(processor);
	return length < best >> 32 ? (unsigned long long)length << 32 | processor : best;
}

/* The processor with the fewest requests. */
STEER_APART unsigned int steer_shortest(const struct steer_decision *decision)
{
	unsigned long long best = ~0ULL;

	if (!decision)
		return STEER_NONE;
	for (unsigned int place = 0; place < STEER_PLACES && place < decision->places; place++)
		best = steer_shorter(decision, place, best);
	return (unsigned int)best;
}

/* Swaps so many bytes. */
STEER_INLINE void steer_swap(unsigned char *one, unsigned char *other, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		unsigned char byte = one[i];

		one[i] = other[i];
		other[i] = byte;
	}
}

/* Turns a frame of UDP round, so that it goes back to where it came from; whether it is one. The checksums stay what they
 * are, as sums do not depend on an order. */
STEER_INLINE int steer_turn_round(const struct steer_bytes *bytes)
{
	unsigned char *frame = (unsigned char *)bytes->frame, *header, *ports;
	unsigned int at = 0, type = steer_ethernet(bytes, &at);
	struct steer_packet packet;

	if (!type || steer_network(bytes, type, at, &packet) != STEER_STEERED)
		return 0;
	header = (unsigned char *)steer_at(bytes, packet.network);
	ports = (unsigned char *)steer_at(bytes, packet.transport);
	if (packet.protocol != STEER_UDP_PROTOCOL || ports + 4 > bytes->end)
		return 0;
	if (header + (packet.version == 4 ? STEER_IPV4_HEADER : STEER_IPV6_HEADER) > bytes->end)
		return 0;
	steer_swap(frame, frame + 6, 6);
	steer_swap(ports, ports + 2, 2);
	if (packet.version == 4)
		steer_swap(header + 12, header + 16, 4);
	else
		steer_swap(header + 8, header + 24, 16);
	return 1;
}

/* The bucket of a span, as `spans.rs` has it. */
STEER_INLINE unsigned int steer_bucket(unsigned long long span)
{
	unsigned long long rest = span;
	unsigned int power = 0, bucket;

	if (span < 4)
		return span;
	for (unsigned int step = 32; step; step >>= 1) {
		if (rest >> step) {
			power += step;
			rest >>= step;
		}
	}
	bucket = 4 * (power - 1) + (span >> (power - 2) & 3);
	return bucket < STEER_SPANS ? bucket : STEER_SPANS - 1;
}

#endif
