/* The dispatcher: calls the programs of an interface one after another, until one decides.
 *
 * Each slot is a function that a program replaces when it is attached (BPF_PROG_TYPE_EXT). What no program has replaced says
 * that the next is to be called. The configuration is constant once the dispatcher is loaded, so that the kernel leaves out
 * the slots that are not used.
 *
 * Source:  xdp-tools, lib/libxdp/protocol.org (protocol and layout; the text is our own)
 * Work:    a call, a comparison and a shift for each program
 * Departs: where there is one program it has the first slot, and not the place of the dispatcher itself
 */
#ifndef WEIR_DISPATCHER_H
#define WEIR_DISPATCHER_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "intf.h"

/* By this variable of this section an older libxdp finds the version; its value is the length of the array. */
int (*dispatcher_version)[DISPATCHER_VERSION] SEC("xdp_metadata");

/* Written by the daemon before it loads the dispatcher. */
static const volatile struct dispatcher_config config;

/* A slot. A program that changes the bounds of frames may only replace a function that does so, too: hence the call, which
 * changes nothing. The compiler is not to know what is returned. */
#define SLOT(number)                                                                                                   \
	__attribute__((noinline)) int prog##number(struct xdp_md *context)                                             \
	{                                                                                                              \
		int verdict = DISPATCHER_NEXT;                                                                         \
                                                                                                                       \
		if (!context)                                                                                          \
			return XDP_ABORTED;                                                                            \
		bpf_xdp_adjust_tail(context, 0);                                                                       \
		asm volatile("" : "+r"(verdict));                                                                      \
		return verdict;                                                                                        \
	}

SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)
SLOT(4)
SLOT(5)
SLOT(6)
SLOT(7)
SLOT(8)
SLOT(9)

#define CALL(number)                                                                                                   \
	if (config.programs <= number)                                                                                 \
		return XDP_PASS;                                                                                       \
	verdict = prog##number(context);                                                                               \
	if (!(config.actions[number] & 1U << verdict))                                                                 \
		return verdict;

SEC("xdp")
int xdp_dispatcher(struct xdp_md *context)
{
	int verdict;

	CALL(0)
	CALL(1)
	CALL(2)
	CALL(3)
	CALL(4)
	CALL(5)
	CALL(6)
	CALL(7)
	CALL(8)
	CALL(9)
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#endif
