/* What the programs of `steer` and the daemon both read: the rule in force, and what is counted.
 *
 * Free of kernel types, so that it is read by any C compiler. Every structure has the same size and the same places
 * for all of them: numbers are aligned to their size, and nothing is left between them.
 */
#ifndef WEIR_STEER_INTF_H
#define WEIR_STEER_INTF_H

/* The most places of the list of processors, as in weir-core; and the largest number that a processor may have, and
 * one more. Both are powers of two. */
#define STEER_PLACES 1024
#define STEER_CPUS 1024
/* A place of the list that leads to no processor. */
#define STEER_NONE 0xffffffffu
/* The classes: 0 the short requests, 1 all others. */
#define STEER_CLASSES 2
/* The most ports and service code points of a rule. */
#define STEER_PORTS 16
/* Spans of time are counted in powers of two of nanoseconds, each divided into four, as in the daemon. */
#define STEER_SPANS 156
/* The largest field of a request that is served in the kernel. */
#define STEER_LARGEST_FIELD (1u << 20)
/* The most turns of the loop that serves a request, which is what the kernel takes at once. */
#define STEER_LONGEST_LOOP (1u << 23)

/* What becomes of a frame, and the place of its counter. */
enum steer_frame {
	/* To the queue of a processor. */
	STEER_STEERED = 0,
	/* Not ours: to the kernel, untouched. */
	STEER_PASSED = 1,
	/* Of ours by its first bytes, and shorter than its headers: to the kernel, untouched. */
	STEER_SHORT = 2,
	/* A fragment, which has no ports: to the kernel, untouched. */
	STEER_FRAGMENT = 3,
	/* No place of its part leads to a processor: dropped. */
	STEER_NO_SERVER = 4,
	/* Its place led to no processor, and it went to another place; counted beside STEER_STEERED. */
	STEER_REDIRECTED = 5,
	/* Its checksum was left to a device, and cannot be completed here: to the kernel, untouched. */
	STEER_LEFT_OUT = 6,
	STEER_FRAMES = 7,
};

/* How a processor is decided on. */
enum steer_rule {
	/* Not at all, as no rule was given yet: all frames go to the kernel, untouched. */
	STEER_IDLE = 0,
	/* The places of a part in turn. */
	STEER_CYCLE = 1,
	/* By the hash of the flow. */
	STEER_HASH = 2,
	/* The processor with the fewest requests, of several the first of the list. */
	STEER_SHORTEST = 3,
};

/* Places of the list that a class takes in turn, and which of the two turns counts them. */
struct steer_part {
	unsigned int first;
	unsigned int count;
	unsigned int turn;
	unsigned int unused;
};

/* A rule that decides. */
struct steer_decision {
	/* enum steer_rule */
	unsigned int rule;
	/* How many places the list has. */
	unsigned int places;
	/* Whether a request whose place leads to none is dropped. */
	unsigned int strict;
	/* Entries of the table of hashes; entry i is place i modulo `places`. */
	unsigned int entries;
	/* Of the hash, as weir-core makes it of a seed. */
	unsigned long long key[2];
	struct steer_part parts[STEER_CLASSES];
	/* The processors, or STEER_NONE. */
	unsigned int list[STEER_PLACES];
};

/* The rule in force, and room for the next: that is written, and then the number. */
struct steer_rules {
	struct steer_decision decisions[2];
	/* Which of the two is in force: 0 or 1. */
	unsigned int active;
	/* Whether the first program runs in the kernel's generic path; written once, before the first rule. */
	unsigned int generic;
	unsigned int unused[14];
};

/* Which frames are ours. */
enum steer_traffic {
	/* UDP to one of the ports. */
	STEER_UDP = 0,
	/* Any IP; of what is encapsulated (VXLAN, Geneve, GRE, IP in IP) the flow is that inside. */
	STEER_IP = 1,
	/* What is encapsulated, and nothing else. */
	STEER_ENCAPSULATED = 2,
};

/* What makes a request one of class 1. */
enum steer_class_rule {
	/* Nothing: all are of class 0. */
	STEER_ONE_CLASS = 0,
	/* The byte at `offset` of the payload is at least `at_least`. */
	STEER_BYTE = 1,
	/* The destination port is one of `values`. */
	STEER_PORT = 2,
	/* The differentiated services code point is one of `values`. */
	STEER_DSCP = 3,
};

/* What the programs are told once, when they are loaded. */
struct steer_setup {
	/* enum steer_traffic */
	unsigned int traffic;
	/* enum steer_class_rule */
	unsigned int class_rule;
	unsigned int offset;
	unsigned int at_least;
	/* Ports of ours, in host order; of them `ports_used` count. */
	unsigned int ports_used;
	unsigned int values_used;
	unsigned short ports[STEER_PORTS];
	unsigned short values[STEER_PORTS];
	/* The key of the hash that flows are numbered by. */
	unsigned long long flow_key[2];
	/* Whether requests are served here: `iterations` of a loop for each unit of the 32-bit field, most significant byte
	 * first, at `field` of the payload; and whether they are then sent back. */
	unsigned int serve;
	unsigned int reflect;
	unsigned int field;
	unsigned int iterations;
};

/* What goes with a frame to the queue, in front of it. */
struct steer_stamp {
	/* When it was received, by the monotonic clock, in nanoseconds. */
	unsigned long long received;
	/* The processor to whose queue it goes; a thread that serves a queue may be moved to another processor. */
	unsigned int processor;
	/* Its class, and twice the place where its payload begins, in bytes from the start of the frame; 0 for none. */
	unsigned int what;
};

/* The places of two parts whose turn it is. */
struct steer_turns {
	unsigned int at[2];
};

/* One processor as the receiver of frames: what it alone counts, and its turns. STEER_STEERED is counted by queue. */
struct steer_receiver {
	unsigned long long frames[STEER_FRAMES];
	struct steer_turns turns;
};

/* Requests at one processor; of a cache line each, so that nobody waits for another's. Never reset. */
struct steer_queue {
	/* Written where frames are received, by atomic additions. */
	unsigned long long steered;
	/* Those of them that found the queue full. */
	unsigned long long dropped;
	unsigned long long unused[6];
};

/* Its other side, written by the thread of its queue alone. */
struct steer_served {
	/* Those whose service has begun. */
	unsigned long long requests;
	/* Those of them that are done. */
	unsigned long long done;
	/* Those whose checksum was completed. */
	unsigned long long completed;
	unsigned long long unused[5];
};

/* What is counted where frames are received, where they wait, and where they are served, by processor. */
struct steer_counts {
	struct steer_receiver receivers[STEER_CPUS];
	struct steer_queue queues[STEER_CPUS];
	struct steer_served served[STEER_CPUS];
};

/* What one class waited at one processor, from its stamp to the begin of service. Never reset. */
struct steer_delays {
	unsigned long long requests;
	unsigned long long sum;
	unsigned long long longest;
	unsigned long long unused;
	unsigned long long spans[STEER_SPANS];
};

#endif
