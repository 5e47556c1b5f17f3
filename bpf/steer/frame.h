/* The headers of a frame: where its packet begins, and what it is.
 *
 * Every access is behind a comparison with the end, in the form that the kernel's verifier follows.
 *
 * Source:  IEEE 802.3, 802.1Q and 802.1ad (frames, up to two tags); RFC 791, RFC 8200, RFC 4302 (IP); RFC 768, RFC 9293
 *          (ports); RFC 7348 (VXLAN), RFC 8926 (Geneve), RFC 2784 and 2890 (GRE), RFC 2003, 2473 and 4213 (IP in IP)
 * Work:    O(1)
 * Units:   bytes from the start of a frame
 * Departs: of what is encapsulated twice the first packet inside is taken; more than four extension headers of IPv6 are as
 *          a protocol without ports
 */
#ifndef WEIR_STEER_FRAME_H
#define WEIR_STEER_FRAME_H

#include "hash.h"
#include "intf.h"

#define STEER_ETHERNET 14
#define STEER_TAG 4
#define STEER_IPV4_HEADER 20
#define STEER_IPV6_HEADER 40
#define STEER_UDP_HEADER 8
/* The headers of a datagram over IPv4 without tags and options. */
#define STEER_PLAIN (STEER_ETHERNET + STEER_IPV4_HEADER + STEER_UDP_HEADER)
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
	const unsigned char *at = bytes->frame + (__builtin_constant_p(place) ? place : place & STEER_WITHIN);

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
	unsigned int protocol;
	/* What follows the IP headers. */
	unsigned int transport;
	/* The ports, of UDP and TCP, and the destination among them; 0 where there are none. */
	unsigned int ports;
	unsigned int destination;
	/* What follows the header of UDP; 0 where there is none. */
	unsigned int payload;
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
	packet->ports = packet->transport;
	packet->destination = steer_16(header + 2);
	if (packet->protocol == STEER_UDP_PROTOCOL)
		packet->payload = packet->transport + STEER_UDP_HEADER;
	return STEER_STEERED;
}

/* The packet of a type at a place: STEER_PASSED where that is none of IP. */
STEER_INLINE enum steer_frame steer_network(const struct steer_bytes *bytes, unsigned int type,
					    unsigned int at, struct steer_packet *packet)
{
	enum steer_frame kind = STEER_PASSED;

	packet->network = at;
	packet->payload = 0;
	packet->ports = 0;
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
	struct steer_packet inner = { 0 };
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

#endif
