/* To which processor a request goes.
 *
 * Free of kernel types and calls, as are the headers that this includes: the same text is compiled for the kernel by
 * `steer.bpf.c` and for the host by a test, which holds it against another parser and against the dispatchers of weir-core.
 *
 * Source:  the dispatchers of weir-core, which name theirs
 * Work:    O(1); a step for each place passed over; O(places) for the shortest queue
 * Units:   places of the list; requests
 */
#ifndef WEIR_STEER_H
#define WEIR_STEER_H

#include "request.h"

/* Functions with long loops. Programs in the kernel have them apart, so that the verifier follows each once. */
#ifndef STEER_APART
#define STEER_APART STEER_INLINE
#endif

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

/* The processor whose turn it is, as the dispatchers that take servers in turn decide: the processor in the lower half, in
 * the upper one whether it is another than that of the place. `turns` are the two of the receiver. */
STEER_APART unsigned long long steer_turn(const struct steer_decision *decision, unsigned int class,
					  struct steer_turns *turns)
{
	unsigned int first, count, at, processor, *turn;
	unsigned long long other;

	if (!decision || !turns)
		return STEER_NONE;
	turn = &turns->at[decision->parts[class & 1].turn & 1];
	first = decision->parts[class & 1].first;
	count = decision->parts[class & 1].count;
	if (!count)
		return STEER_NONE;
	at = *turn % count;
	*turn = at + 1 < count ? at + 1 : 0;
	processor = decision->list[(first + at) & (STEER_PLACES - 1)];
	if (processor != STEER_NONE || decision->strict)
		return processor;
	other = steer_pass_over(decision, first, count, at);
	if ((unsigned int)other == STEER_NONE)
		return STEER_NONE;
	at = other >> 32;
	*turn = at + 1 < count ? at + 1 : 0;
	return 1ULL << 32 | (unsigned int)other;
}

/* The same where it is simply the next place, which it mostly is; otherwise STEER_NONE, and nothing is changed. */
STEER_INLINE unsigned int steer_next(const struct steer_decision *decision, struct steer_turns *turns,
				     unsigned int class)
{
	const struct steer_part *part = &decision->parts[class & 1];
	unsigned int *turn = &turns->at[part->turn & 1];
	unsigned int at = *turn, count = part->count, processor;

	if (at >= count)
		return STEER_NONE;
	processor = decision->list[(part->first + at) & (STEER_PLACES - 1)];
	if (processor != STEER_NONE)
		*turn = at + 1 < count ? at + 1 : 0;
	return processor;
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
