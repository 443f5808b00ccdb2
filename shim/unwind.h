/*
 * unwind.h: from a place in the code to how its caller is found.
 *
 * What the compiler noted for exceptions (.eh_frame) says for each instruction
 * where the caller's stack pointer, frame pointer and return address are. Reading
 * that takes a microsecond, so what it says of a return address is kept as a
 * rule, which takes a few nanoseconds to follow. libgcc has the search among the
 * loaded objects and the code registered at run time; it is looked up when it is
 * first needed. Its _Unwind_Backtrace is not used: it follows whatever it finds on
 * the stack, and dies of a frame that is broken.
 *
 * Nothing here allocates, locks, or looks at memory other than tables of loaded
 * objects.
 */
#ifndef SPOOR_UNWIND_H
#define SPOOR_UNWIND_H

#include <stdint.h>

#include "arch/arch.h"

#pragma GCC visibility push(hidden)

enum sp_cfa_from {
	SP_CFA_NONE = 0, /* unknown, or the outermost frame */
	SP_CFA_SP,       /* stack pointer + cfa */
	SP_CFA_FP,       /* frame pointer + cfa */
	SP_CFA_AT_FP,    /* the word at frame pointer + cfa: the function realigned its stack */
};

enum sp_fp_from {
	SP_FP_SAME = 0,
	SP_FP_AT_CFA, /* saved at CFA + fp */
	SP_FP_AT_FP,  /* saved at the frame pointer + fp */
	SP_FP_LOST,
};

/* How to get from a function, stopped at a call, to its caller. */
struct sp_rule {
	uint64_t pc; /* return address */
	int32_t cfa, fp, ra; /* the return address is at CFA + ra */
	uint8_t cfa_from, fp_from;
	uint8_t guess; /* no tables exist: assumes code with frame pointers */
};

/* Where a function, at a call, has saved its caller's registers. */
struct sp_saved {
	uint64_t pc;
	uint8_t known;
	uint8_t from[SP_KEPT]; /* enum sp_fp_from, of any of them */
	int32_t at[SP_KEPT];
};

/* Find libgcc's tables; 0 if there are none: then all rules are guesses. */
int sp_unwind_open(void);
/* The start of the function that a return address is in; 0: not known. */
uint64_t sp_unwind_function(uint64_t pc);
/* Fill in the rule of a return address. */
void sp_unwind_rule(uint64_t pc, struct sp_rule *rule);

/* Fill in what is saved at a return address. */
void sp_unwind_saved(uint64_t pc, struct sp_saved *saved);

#pragma GCC visibility pop

#endif
