/* What the program `route` and the daemon both read: the places of its counters, and the form of an address.
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
	/* With a VLAN tag: to the kernel. */
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

/* The most queues of an interface, and the most addresses of the kernel on it. */
#define ROUTE_QUEUES 64
#define ROUTE_ADDRESSES 256

#endif
