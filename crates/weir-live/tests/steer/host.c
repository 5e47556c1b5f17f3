/* `bpf/steer/steer.h` on the host: does what each command of the standard input says, and writes what comes of it.
 *
 * Numbers are those of the machine. A frame lies in memory of its own length, so that a sanitizer sees what is read
 * beyond it.
 *
 *   D decision           from now on this one
 *   T                    all turns are at the begin, and nothing was sent on
 *   L processor length   so many requests are at a processor
 *   R receiver class flow  -> processor, and how many were sent on so far
 *   S setup              from now on this one
 *   F length bytes       -> what the frame is, its flow, its class, and where its payload begins
 *   M length bytes       -> whether it was turned round, and its bytes
 *   C length bytes       -> whether a checksum was completed, and its bytes
 *   B span               -> its bucket
 *   Z                    -> sizes and places of the structures
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steer.h"

#define RECEIVERS 256

static unsigned int lengths[STEER_CPUS];

static inline unsigned int steer_length(unsigned int processor)
{
	return lengths[processor % STEER_CPUS];
}

static inline unsigned long long steer_behind(const struct steer_bytes *bytes, unsigned int at, unsigned int protocol)
{
	return steer_extensions(bytes, at, protocol);
}

static inline unsigned long long steer_sum_of(const struct steer_bytes *bytes, unsigned int at, unsigned int length)
{
	return steer_sum(bytes, at, length);
}

static void take(void *into, size_t size)
{
	if (size && fread(into, size, 1, stdin) != 1)
		exit(2);
}

static void give(const void *from, size_t size)
{
	if (size && fwrite(from, size, 1, stdout) != 1)
		exit(2);
}

static void give_number(unsigned int number)
{
	give(&number, sizeof(number));
}

static void decide(const struct steer_decision *decision, struct steer_turns *turns,
		   unsigned long long *redirected)
{
	struct {
		unsigned int receiver, class, flow;
	} request;
	unsigned long long found;
	struct steer_turns *at;

	take(&request, sizeof(request));
	switch (decision->rule) {
	case STEER_CYCLE:
		at = &turns[request.receiver % RECEIVERS];
		found = steer_next(decision, at, request.class);
		if (found == STEER_NONE)
			found = steer_turn(decision, request.class, at);
		break;
	case STEER_HASH:
		found = steer_by_hash(decision, request.flow);
		break;
	case STEER_SHORTEST:
		found = steer_shortest(decision);
		break;
	default:
		found = STEER_NONE;
	}
	*redirected += found >> 32;
	give_number((unsigned int)found);
	give_number((unsigned int)*redirected);
}

static struct steer_bytes frame(void)
{
	unsigned short length;
	unsigned char *frame;

	take(&length, sizeof(length));
	frame = malloc(length ? length : 1);
	if (!frame)
		exit(2);
	take(frame, length);
	return (struct steer_bytes){ .frame = frame, .end = frame + length, .context = NULL };
}

static void parse(const struct steer_setup *setup)
{
	struct steer_bytes bytes = frame();
	struct steer_packet packet = { 0 }, plain;
	enum steer_frame kind = steer_parse(&bytes, setup, &packet);
	int ours = kind == STEER_STEERED;

	/* The short way leads to the same. */
	if (steer_is_plain(&bytes, setup, &plain) && (!ours || memcmp(&plain, &packet, sizeof(plain))))
		exit(3);

	give_number(kind);
	give_number(ours ? steer_flow(&bytes, setup, &packet) : 0);
	give_number(ours ? steer_class(&bytes, setup, &packet) : 0);
	give_number(ours ? packet.payload : 0);
	free((void *)bytes.frame);
}

static void turn_round(void)
{
	struct steer_bytes bytes = frame();

	give_number(steer_turn_round(&bytes));
	give(bytes.frame, bytes.end - bytes.frame);
	free((void *)bytes.frame);
}

static void complete(void)
{
	struct steer_bytes bytes = frame();

	give_number(steer_complete(&bytes));
	give(bytes.frame, bytes.end - bytes.frame);
	free((void *)bytes.frame);
}

static void layout(void)
{
	const unsigned int places[] = {
		sizeof(struct steer_setup),
		offsetof(struct steer_setup, ports),
		offsetof(struct steer_setup, flow_key),
		offsetof(struct steer_setup, iterations),
		sizeof(struct steer_decision),
		offsetof(struct steer_decision, key),
		offsetof(struct steer_decision, parts),
		offsetof(struct steer_decision, list),
		sizeof(struct steer_rules),
		offsetof(struct steer_rules, active),
		offsetof(struct steer_rules, generic),
		sizeof(struct steer_receiver),
		sizeof(struct steer_queue),
		offsetof(struct steer_queue, dropped),
		sizeof(struct steer_served),
		offsetof(struct steer_served, completed),
		sizeof(struct steer_counts),
		offsetof(struct steer_counts, queues),
		offsetof(struct steer_counts, served),
		sizeof(struct steer_delays),
		offsetof(struct steer_delays, longest),
		offsetof(struct steer_delays, spans),
	};

	give(places, sizeof(places));
}

int main(void)
{
	static struct steer_decision decision;
	static struct steer_setup setup;
	static struct steer_turns turns[RECEIVERS];
	unsigned long long redirected = 0, span;
	unsigned int one[2];
	int command;

	while ((command = getchar()) != EOF) {
		switch (command) {
		case 'D':
			take(&decision, sizeof(decision));
			break;
		case 'T':
			for (int i = 0; i < RECEIVERS; i++)
				turns[i].at[0] = turns[i].at[1] = 0;
			redirected = 0;
			break;
		case 'L':
			take(one, sizeof(one));
			lengths[one[0] % STEER_CPUS] = one[1];
			break;
		case 'R':
			decide(&decision, turns, &redirected);
			break;
		case 'S':
			take(&setup, sizeof(setup));
			break;
		case 'F':
			parse(&setup);
			break;
		case 'M':
			turn_round();
			break;
		case 'C':
			complete();
			break;
		case 'B':
			take(&span, sizeof(span));
			give_number(steer_bucket(span));
			break;
		case 'Z':
			layout();
			break;
		default:
			return 2;
		}
	}
	return 0;
}
