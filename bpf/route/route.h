/* Which frames the router takes: reads the Ethernet header, at most two VLAN tags and the IP header, and finds the
 * destination.
 *
 * Free of kernel types and calls: the same text is compiled for the kernel by `route.bpf.c` and for the host by a
 * test, which holds it against another parser. Every access is behind a comparison with `end`, in the form that the
 * kernel's verifier follows.
 *
 * Source:  IEEE 802.3 and 802.1Q (frames); RFC 791, RFC 8200 (IP); RFC 4861, section 4 (neighbour discovery)
 * Work:    O(1): 14 bytes of Ethernet, 4 of each tag, 20 or 40 of IP, and 1 of ICMPv6
 * Departs: neighbour discovery behind extension headers is not seen
 */
#ifndef WEIR_ROUTE_H
#define WEIR_ROUTE_H

#include "intf.h"

#define ROUTE_ETHERNET 14
#define ROUTE_TAG 4
#define ROUTE_CUSTOMER 0x8100
#define ROUTE_SERVICE 0x88a8
#define ROUTE_IPV4 20
#define ROUTE_IPV6 40

static inline __attribute__((always_inline)) unsigned int route_word(const unsigned char *at)
{
	return (unsigned int)at[0] << 8 | at[1];
}

static inline __attribute__((always_inline)) int route_is_tag(unsigned int type)
{
	return type == ROUTE_CUSTOMER || type == ROUTE_SERVICE;
}

/* Router solicitation to redirect. A valid one has a hop limit of 255: it never was forwarded. */
static inline __attribute__((always_inline)) int route_is_discovery(const unsigned char *header,
								     const unsigned char *end)
{
	if (header[6] != 58 || header[7] != 255 || header + ROUTE_IPV6 + 1 > end)
		return 0;
	return header[ROUTE_IPV6] >= 133 && header[ROUTE_IPV6] <= 137;
}

static inline __attribute__((always_inline)) enum route_frame
route_ipv4(const unsigned char *header, const unsigned char *end, struct route_address *to)
{
	if (header + ROUTE_IPV4 > end)
		return ROUTE_SHORT;
	for (int i = 0; i < 10; i++)
		to->bytes[i] = 0;
	to->bytes[10] = to->bytes[11] = 0xff;
	for (int i = 0; i < 4; i++)
		to->bytes[12 + i] = header[16 + i];
	return ROUTE_ROUTED;
}

static inline __attribute__((always_inline)) enum route_frame
route_ipv6(const unsigned char *header, const unsigned char *end, struct route_address *to)
{
	if (header + ROUTE_IPV6 > end)
		return ROUTE_SHORT;
	for (int i = 0; i < 16; i++)
		to->bytes[i] = header[24 + i];
	return route_is_discovery(header, end) ? ROUTE_NEIGHBOUR : ROUTE_ROUTED;
}

/* What stands behind the type of a frame, or of its last tag. */
static inline __attribute__((always_inline)) enum route_frame
route_packet(unsigned int type, const unsigned char *header, const unsigned char *end, struct route_address *to)
{
	switch (type) {
	case 0x0800:
		return route_ipv4(header, end, to);
	case 0x86dd:
		return route_ipv6(header, end, to);
	case 0x0806:
		return ROUTE_NEIGHBOUR;
	default:
		return ROUTE_OTHER;
	}
}

/* A frame with two tags, of which the inner one begins at `tag`. */
static inline __attribute__((always_inline)) enum route_frame
route_inner(unsigned int type, const unsigned char *tag, const unsigned char *end, struct route_address *to,
	    struct route_tags *tags)
{
	unsigned int behind;

	if (tag + ROUTE_TAG > end)
		return ROUTE_SHORT;
	behind = route_word(tag + 2);
	tags->outer = tags->inner;
	tags->inner = route_word(tag) & 0xfff;
	/* No interface has a service tag within another, or a third tag. */
	if (type != ROUTE_CUSTOMER || route_is_tag(behind))
		return ROUTE_VLAN;
	return route_packet(behind, tag + ROUTE_TAG, end, to);
}

/* What the frame is, before its VLAN, addresses of the kernel and sockets are looked up. Its tags are written to `tags`,
 * zeros without any; where it is ROUTE_ROUTED, its destination is written to `to`. */
static inline __attribute__((always_inline)) enum route_frame
route_classify(const unsigned char *frame, const unsigned char *end, struct route_address *to,
	       struct route_tags *tags)
{
	const unsigned char *tag = frame + ROUTE_ETHERNET;
	unsigned int type, behind;

	tags->type = tags->outer = tags->inner = 0;
	if (tag > end)
		return ROUTE_SHORT;
	type = route_word(frame + 12);
	if (!route_is_tag(type))
		return route_packet(type, tag, end, to);
	if (tag + ROUTE_TAG > end)
		return ROUTE_SHORT;
	tags->type = type;
	tags->inner = route_word(tag) & 0xfff;
	behind = route_word(tag + 2);
	if (route_is_tag(behind))
		return route_inner(behind, tag + ROUTE_TAG, end, to, tags);
	if (type != ROUTE_CUSTOMER)
		return ROUTE_VLAN;
	return route_packet(behind, tag + ROUTE_TAG, end, to);
}

#endif
