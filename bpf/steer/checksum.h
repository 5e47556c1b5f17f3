/* Checksums that a sender has left to its device, completed.
 *
 * Between virtual devices there is no such device. The sender has written the sum of the pseudo-header and no more, and
 * what goes to the queue of a processor loses the kernel's note of it: the receiver would find it wrong. A checksum that
 * equals that sum is taken for one of these. A complete one equals it as well once in 65,536, and is then computed anew
 * with the same result.
 *
 * Source:  RFC 1071 (sums); RFC 768, RFC 9293, RFC 8200 section 8.1 (pseudo-headers); RFC 9260 section 6.8 (SCTP)
 * Work:    O(1) to find out, O(bytes) to complete
 * Units:   bytes from the start of a frame; sums of words of 16 bits, least significant byte first, which does not matter
 *          to a sum
 * Departs: checksums of GRE and SCTP are not completed: such frames are left to the kernel, which still has its note; of
 *          what is encapsulated twice the first packet inside is the last that is looked at
 */
#ifndef WEIR_STEER_CHECKSUM_H
#define WEIR_STEER_CHECKSUM_H

#include "frame.h"

#define STEER_SCTP_PROTOCOL 132
/* Bytes that are summed at a time, and how often: up to the last place of a frame. */
#define STEER_CHUNK 32
#define STEER_CHUNKS ((STEER_WITHIN + 1) / STEER_CHUNK)
/* Not a sum: the frame ends before. */
#define STEER_NO_SUM (~0ULL)

/* A message with a checksum. */
struct steer_message {
	/* Where it begins, how many bytes it has, and where among them the checksum is. */
	unsigned int at;
	unsigned int length;
	unsigned int field;
};

STEER_INLINE unsigned long long steer_halves(unsigned long long word)
{
	return (word & 0xffffffff) + (word >> 32);
}

/* A sum in 16 bits. */
STEER_INLINE unsigned int steer_folded(unsigned long long sum)
{
	sum = steer_halves(steer_halves(sum));
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* A number of 16 bits as it counts in a sum. */
STEER_INLINE unsigned int steer_swapped(unsigned int number)
{
	return (number & 0xff) << 8 | (number >> 8 & 0xff);
}

/* The sum of what is left where no chunk is: fewer bytes than that. */
STEER_INLINE unsigned long long steer_sum_rest(const struct steer_bytes *bytes, unsigned int at, unsigned int length)
{
	unsigned long long sum = 0;

	for (unsigned int i = 0; i < STEER_CHUNK; i++) {
		const unsigned char *byte = steer_at(bytes, at + i);

		if (i >= length)
			break;
		if (byte + 1 > bytes->end)
			return STEER_NO_SUM;
		sum += i & 1 ? *byte << 8 : *byte;
	}
	return sum;
}

/* The sum of so many bytes, or STEER_NO_SUM. */
STEER_INLINE unsigned long long steer_sum(const struct steer_bytes *bytes, unsigned int at, unsigned int length)
{
	unsigned long long sum = 0, rest;

	for (unsigned int i = 0; i < STEER_CHUNKS && length >= STEER_CHUNK; i++) {
		const unsigned char *chunk = steer_at(bytes, at);

		if (chunk + STEER_CHUNK > bytes->end)
			return STEER_NO_SUM;
		sum += steer_halves(steer_word(chunk)) + steer_halves(steer_word(chunk + 8));
		sum += steer_halves(steer_word(chunk + 16)) + steer_halves(steer_word(chunk + 24));
		at += STEER_CHUNK;
		length -= STEER_CHUNK;
	}
	rest = steer_sum_rest(bytes, at, length);
	return rest == STEER_NO_SUM ? rest : sum + rest;
}

/* The same: whoever includes this says. A program in the kernel has it apart, so that the verifier follows it once. */
STEER_INLINE unsigned long long steer_sum_of(const struct steer_bytes *bytes, unsigned int at, unsigned int length);

/* The message of a packet of UDP or TCP that has a checksum; whether it is one and there. */
STEER_INLINE int steer_message(const struct steer_bytes *bytes, const struct steer_packet *packet,
			       struct steer_message *message)
{
	const unsigned char *ip = steer_at(bytes, packet->network);
	const unsigned char *header = steer_at(bytes, packet->transport);
	unsigned int behind = packet->transport - packet->network;
	unsigned int length;

	if (!packet->ports || ip + STEER_IPV4_HEADER > bytes->end || header + STEER_UDP_HEADER > bytes->end)
		return 0;
	length = packet->version == 4 ? steer_16(ip + 2) : steer_16(ip + 4) + STEER_IPV6_HEADER;
	if (length < behind + STEER_UDP_HEADER)
		return 0;
	length -= behind;
	message->at = packet->transport;
	message->field = packet->protocol == STEER_UDP_PROTOCOL ? 6 : 16;
	if (packet->protocol == STEER_UDP_PROTOCOL) {
		unsigned int said = steer_16(header + 4);

		if (said < STEER_UDP_HEADER || said > length)
			return 0;
		length = said;
	}
	message->length = length;
	return length >= message->field + 2;
}

/* The sum of the pseudo-header, not folded. */
STEER_INLINE unsigned long long steer_pseudo(const struct steer_bytes *bytes, const struct steer_packet *packet,
					     unsigned int length)
{
	const unsigned char *ip = steer_at(bytes, packet->network);
	unsigned long long sum = steer_swapped(length) + steer_swapped(packet->protocol);

	if (packet->version == 4) {
		if (ip + STEER_IPV4_HEADER > bytes->end)
			return STEER_NO_SUM;
		return sum + steer_halves(steer_word(ip + 12));
	}
	if (ip + STEER_IPV6_HEADER > bytes->end)
		return STEER_NO_SUM;
	sum += steer_halves(steer_word(ip + 8)) + steer_halves(steer_word(ip + 16));
	return sum + steer_halves(steer_word(ip + 24)) + steer_halves(steer_word(ip + 32));
}

/* Completes the checksum of a packet that was left to the device; whether it was. */
STEER_INLINE int steer_complete_packet(const struct steer_bytes *bytes, const struct steer_packet *packet)
{
	struct steer_message message;
	unsigned long long pseudo, sum;
	unsigned char *field;
	unsigned int whole;

	if (!steer_message(bytes, packet, &message))
		return 0;
	pseudo = steer_pseudo(bytes, packet, message.length);
	field = (unsigned char *)steer_at(bytes, message.at + message.field);
	if (pseudo == STEER_NO_SUM || field + 2 > bytes->end)
		return 0;
	if ((unsigned int)(field[0] | field[1] << 8) != steer_folded(pseudo))
		return 0;
	/* The field has the sum of the pseudo-header, which so is in the sum. */
	sum = steer_sum_of(bytes, message.at, message.length);
	if (sum == STEER_NO_SUM)
		return 0;
	whole = ~steer_folded(sum) & 0xffff;
	/* In UDP zero means that there is none. */
	if (!whole)
		whole = 0xffff;
	field = (unsigned char *)steer_at(bytes, message.at + message.field);
	if (field + 2 > bytes->end)
		return 0;
	field[0] = whole;
	field[1] = whole >> 8;
	return 1;
}

/* Whether the checksum of a packet was left to a device and is of a kind that is not completed here: SCTP's, which is no
 * sum, and that of GRE. Both are 0 then. */
STEER_INLINE int steer_is_left_out(const struct steer_bytes *bytes, const struct steer_packet *packet)
{
	const unsigned char *header = steer_at(bytes, packet->transport);

	if (packet->protocol == STEER_SCTP_PROTOCOL)
		return header + 12 <= bytes->end && !steer_32(header + 8);
	if (packet->protocol == STEER_GRE_PROTOCOL)
		return header + 8 <= bytes->end && header[0] & 0x80 && !steer_16(header + 4);
	return 0;
}

/* Puts the packet inside into `inner`; whether there is one of IP. */
STEER_INLINE int steer_find_inner(const struct steer_bytes *bytes, const struct steer_packet *packet,
				  struct steer_packet *inner)
{
	unsigned int at, type = steer_inside(bytes, packet, &at);

	if (!type)
		return 0;
	at &= STEER_WITHIN;
	if (type == STEER_ETHERNET_INSIDE)
		type = steer_ethernet(bytes, &at);
	return steer_network(bytes, type, at, inner) == STEER_STEERED;
}

/* Completes the checksums of a frame that were left to the device; whether there was one. First that of what is
 * encapsulated, which is part of the other. */
STEER_INLINE int steer_complete(const struct steer_bytes *bytes)
{
	struct steer_packet packet = { 0 }, inner = { 0 };
	unsigned int at = 0, type = steer_ethernet(bytes, &at);
	int done = 0;

	if (steer_network(bytes, type, at, &packet) != STEER_STEERED)
		return 0;
	if (steer_find_inner(bytes, &packet, &inner))
		done = steer_complete_packet(bytes, &inner);
	return steer_complete_packet(bytes, &packet) || done;
}

#endif
