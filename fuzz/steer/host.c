/* `bpf/steer/steer.h` for the fuzz target `steer`. A frame is put before memory that nobody may read, so that what is read
 * beyond it ends the program. */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "steer.h"

#define ROOM (1 << 16)
#define PAGE (1 << 16)

static inline unsigned int steer_length(unsigned int processor)
{
	return processor;
}

static inline unsigned long long steer_behind(const struct steer_bytes *bytes, unsigned int at, unsigned int protocol)
{
	return steer_extensions(bytes, at, protocol);
}

static inline unsigned long long steer_sum_of(const struct steer_bytes *bytes, unsigned int at, unsigned int length)
{
	return steer_sum(bytes, at, length);
}

/* The frame at the end of the room. */
static struct steer_bytes guarded(const unsigned char *frame, size_t length)
{
	static unsigned char *room;

	if (!room) {
		room = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (room == MAP_FAILED || mprotect(room + ROOM, PAGE, PROT_NONE))
			__builtin_trap();
	}
	if (length > ROOM)
		length = ROOM;
	memcpy(room + ROOM - length, frame, length);
	return (struct steer_bytes){ .frame = room + ROOM - length, .end = room + ROOM, .context = NULL };
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
	const struct steer_bytes bytes = guarded(frame, length);
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
	const struct steer_bytes bytes = guarded(frame, length);
	int turned = steer_turn_round(&bytes);

	memcpy(frame, bytes.frame, bytes.end - bytes.frame);
	return turned;
}

int weir_steer_complete(unsigned char *frame, size_t length)
{
	const struct steer_bytes bytes = guarded(frame, length);
	int completed = steer_complete(&bytes);

	memcpy(frame, bytes.frame, bytes.end - bytes.frame);
	return completed;
}
