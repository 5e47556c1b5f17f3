/* `bpf/steer/steer.h` for the fuzz target `steer`. */
#include <stddef.h>

#include "steer.h"

static inline unsigned int steer_length(unsigned int processor)
{
	return processor;
}

static inline unsigned long long steer_behind(const struct steer_bytes *bytes, unsigned int at, unsigned int protocol)
{
	return steer_extensions(bytes, at, protocol);
}

void weir_steer_parse(const unsigned char *frame, size_t length, unsigned int traffic, unsigned int rule,
		      unsigned int offset, unsigned int said[4])
{
	const struct steer_setup setup = {
		.traffic = traffic,
		.class_rule = rule,
		.offset = offset,
		.at_least = 10,
		.ports_used = 2,
		.values_used = 2,
		.ports = { 9000, 53 },
		.values = { 9000, 46 },
		.flow_key = { 1, 2 },
	};
	const struct steer_bytes bytes = { .frame = frame, .end = frame + length, .context = NULL };
	struct steer_packet packet = { 0 };

	said[0] = steer_parse(&bytes, &setup, &packet);
	said[1] = said[2] = said[3] = 0;
	if (said[0] != STEER_STEERED)
		return;
	said[1] = steer_flow(&bytes, &setup, &packet);
	said[2] = steer_class(&bytes, &setup, &packet);
	said[3] = packet.payload;
}

int weir_steer_turn_round(unsigned char *frame, size_t length)
{
	const struct steer_bytes bytes = { .frame = frame, .end = frame + length, .context = NULL };

	return steer_turn_round(&bytes);
}
