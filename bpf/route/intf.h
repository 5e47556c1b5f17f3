/* What the program `route` and the daemon both read: the places of its counters and
 * settings, and the forms of addresses and tags.
 *
 * Free of kernel types, so that it is read by any C compiler.
 */
#ifndef WEIR_ROUTE_INTF_H
#define WEIR_ROUTE_INTF_H

/* What becomes of a frame, and the place of its counter. */
enum route_frame {
	/* IPv4 or IPv6 for the router: to the socket of the queue that it came by. */
	ROUTE_ROUTED = 0,
	/* ARP or neighbour discovery: to the kernel, where the neighbourhood socket hears it as well. */
	ROUTE_NEIGHBOUR = 1,
	/* For an address that the kernel itself has on this interface: to the kernel. */
	ROUTE_KERNEL = 2,
	/* Of a VLAN that the router does not serve, or without a tag where it serves none such: to the kernel. */
	ROUTE_VLAN = 3,
	/* Neither IPv4, IPv6 nor ARP: to the kernel. */
	ROUTE_OTHER = 4,
	/* Shorter than an Ethernet header and the fixed part of its IP header: to the kernel, which drops it. */
	ROUTE_SHORT = 5,
	/* For the router, and no socket takes it: to the kernel, or dropped, as `on_failure` says. */
	ROUTE_NO_SOCKET = 6,
	ROUTE_FRAMES = 7,
};

/* An address; one of IPv4 is a.b.c.d as ::ffff:a.b.c.d. */
struct route_address {
	unsigned char bytes[16];
};

/* The tags of a frame, in the byte order of the machine; one without a tag has zeros. A single tag is the inner one. */
struct route_tags {
	/* The EtherType of the first tag. */
	unsigned short type;
	/* The VLANs of the outer of two tags and of the inner one. */
	unsigned short outer, inner;
};

/* The places of what the daemon says of a whole interface. */
enum route_setting {
	/* What becomes of frames for the router that no socket takes: XDP_PASS or XDP_DROP. */
	ROUTE_WITHOUT_SOCKET = 0,
	/* Whether frames without a tag are left to the kernel. */
	ROUTE_ONLY_TAGGED = 1,
	ROUTE_SETTINGS = 2,
};

/* The most queues of an interface, and the most addresses of the kernel on it, and the most VLANs that it serves. */
#define ROUTE_QUEUES 64
#define ROUTE_ADDRESSES 256
#define ROUTE_VLANS 256

#endif
