/* Reads frames, each behind its length in two bytes, the lower first; writes for each what `route_classify` says, the
 * 16 bytes of the destination, and type, outer and inner VLAN of its tags in two bytes each, the higher first. */
#include <stdio.h>
#include <string.h>

#include "route.h"

static void word(unsigned int value)
{
	putchar(value >> 8);
	putchar(value & 255);
}

int main(void)
{
	static unsigned char frame[65536];
	unsigned char length[2];

	while (fread(length, 1, 2, stdin) == 2) {
		unsigned int bytes = length[0] | length[1] << 8;
		struct route_address to;
		struct route_tags tags;

		if (fread(frame, 1, bytes, stdin) != bytes)
			return 1;
		memset(&to, 0, sizeof(to));
		/* At the end of the buffer, so that a sanitizer sees what is read behind it. */
		unsigned char *at = frame + sizeof(frame) - bytes;
		memmove(at, frame, bytes);
		putchar(route_classify(at, at + bytes, &to, &tags));
		fwrite(to.bytes, 1, sizeof(to.bytes), stdout);
		word(tags.type);
		word(tags.outer);
		word(tags.inner);
	}
	return 0;
}
