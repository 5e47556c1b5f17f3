/* What a dispatcher and the daemon both read: how the programs behind it are called.
 *
 * The layout is that of libxdp's protocol, so that its tools read it too. Free of kernel types, so that it is read by any C
 * compiler. Whoever includes it says by `DISPATCHER_VERSION` which version of the protocol it is for, 2 or 3.
 */
#ifndef WEIR_DISPATCHER_INTF_H
#define WEIR_DISPATCHER_INTF_H

/* The programs that one dispatcher calls at most. */
#define DISPATCHER_SLOTS 10
/* How a configuration begins. */
#define DISPATCHER_MAGIC 236
/* What a slot returns that no program has replaced; always among the actions that go on. */
#define DISPATCHER_NEXT 31

struct dispatcher_config {
	unsigned char magic;
	unsigned char version;
	/* How many slots are called, from the first on. */
	unsigned char programs;
	/* Whether all programs take frames in fragments. */
	unsigned char frags;
	/* By slot: a bit for each action after which the next program is called. */
	unsigned int actions[DISPATCHER_SLOTS];
	/* By slot: the priority by which it got its place; the least comes first. */
	unsigned int priorities[DISPATCHER_SLOTS];
	/* By slot: the flags that its program was loaded with. */
	unsigned int flags[DISPATCHER_SLOTS];
#if DISPATCHER_VERSION >= 3
	/* Whether the programs are bound to a device. */
	unsigned char bound;
#endif
};

#endif
