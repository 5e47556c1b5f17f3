/* Requests: which frames they are, of which flow and class, and what is sent back.
 *
 * What is only needed by some rules is found by functions of its own, so that the others do not pay for it.
 *
 * Source:  this project; the number of a flow is that of `weird route`
 * Work:    O(1), and the ports of the setup
 * Units:   bytes from the start of a frame
 */
#ifndef WEIR_STEER_REQUEST_H
#define WEIR_STEER_REQUEST_H

#include "checksum.h"

STEER_INLINE int steer_is_one_of(const volatile unsigned short *values, unsigned int used, unsigned int value)
{
	/* Most rules have one value. */
	if (used && values[0] == value)
		return 1;
	for (unsigned int i = 1; i < STEER_PORTS && i < used; i++)
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
	if (kind != STEER_STEERED)
		return kind;
	if (steer_is_left_out(bytes, packet))
		return STEER_LEFT_OUT;
	kind = steer_unwrap(bytes, setup->traffic, packet);
	return kind == STEER_STEERED && steer_is_left_out(bytes, packet) ? STEER_LEFT_OUT : kind;
}

/* The same for most frames: whether it is a request, as a datagram over IPv4 without tags, options and fragments is, to one
 * of our ports. What this takes for none may be one; all of a request lies where the compiler knows. */
STEER_INLINE int steer_is_plain(const struct steer_bytes *bytes, const volatile struct steer_setup *setup,
				struct steer_packet *packet)
{
	const unsigned char *frame = bytes->frame;

	if (setup->traffic != STEER_UDP || frame + STEER_PLAIN > bytes->end)
		return 0;
	if (steer_16(frame + 12) != STEER_IPV4 || frame[STEER_ETHERNET] != 0x45 || steer_16(frame + 20) & 0x3fff)
		return 0;
	if (frame[23] != STEER_UDP_PROTOCOL)
		return 0;
	*packet = (struct steer_packet){
		.network = STEER_ETHERNET,
		.version = 4,
		.protocol = STEER_UDP_PROTOCOL,
		.transport = STEER_PLAIN - STEER_UDP_HEADER,
		.ports = STEER_PLAIN - STEER_UDP_HEADER,
		.destination = steer_16(frame + 36),
		.payload = STEER_PLAIN,
	};
	return steer_is_one_of(setup->ports, setup->ports_used, packet->destination);
}

/* The number of the flow: the hash of addresses, ports and protocol, as `weird route` takes it. */
STEER_INLINE unsigned int steer_flow(const struct steer_bytes *bytes, const volatile struct steer_setup *setup, const struct steer_packet *packet)
{
	const unsigned char *header = steer_at(bytes, packet->network);
	const unsigned char *ports = steer_at(bytes, packet->ports);
	unsigned long long last = (unsigned long long)packet->protocol << 32;
	struct steer_hash hash;

	if (packet->ports && ports + 4 <= bytes->end)
		for (int i = 0; i < 4; i++)
			last |= (unsigned long long)ports[i] << 8 * i;
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
	const unsigned char *header = steer_at(bytes, packet->ports);
	const unsigned char *byte = header + STEER_UDP_HEADER + (offset & STEER_WITHIN);

	if (!packet->payload || header + STEER_UDP_HEADER > bytes->end || byte + 1 > bytes->end)
		return 0;
	/* What UDP says its length is has its header in it. */
	return offset + STEER_UDP_HEADER < steer_16(header + 4) ? *byte : 0;
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
	struct steer_packet packet = { 0 };

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

#endif
