/* Which frames the router takes: reads the Ethernet and IP headers, and finds the destination.
 *
 * Free of kernel types and calls: the same text is compiled for the kernel by `route.bpf.c` and for the host by a
 * test, which holds it against another parser. Every access is behind a comparison with `end`, in the form that the
 * kernel's verifier follows.
 *
 * Source:  IEEE 802.3 and 802.1Q (frames); RFC 791, RFC 8200 (IP); RFC 4861, section 4 (neighbour discovery)
 * Work:    O(1): 14 bytes of Ethernet, 20 or 40 of IP, and 1 of ICMPv6
 * Departs: neighbour discovery behind extension headers is not seen
 */
#ifndef WEIR_ROUTE_H
#define WEIR_ROUTE_H

#include "intf.h"

#define ROUTE_ETHERNET 14
#define ROUTE_IPV4 20
#define ROUTE_IPV6 40

static inline __attribute__((always_inline)) unsigned int route_ethertype(const unsigned char *frame)
{
	return (unsigned int)frame[12] << 8 | frame[13];
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

/* What the frame is, before addresses of the kernel and sockets are looked up; where it is ROUTE_ROUTED, its
 * destination is written to `to`. */
static inline __attribute__((always_inline)) enum route_frame
route_classify(const unsigned char *frame, const unsigned char *end, struct route_address *to)
{
	if (frame + ROUTE_ETHERNET > end)
		return ROUTE_SHORT;
	switch (route_ethertype(frame)) {
	case 0x0800:
		return route_ipv4(frame + ROUTE_ETHERNET, end, to);
	case 0x86dd:
		return route_ipv6(frame + ROUTE_ETHERNET, end, to);
	case 0x0806:
		return ROUTE_NEIGHBOUR;
	case 0x8100:
	case 0x88a8:
		return ROUTE_VLAN;
	default:
		return ROUTE_OTHER;
	}
}

#endif
