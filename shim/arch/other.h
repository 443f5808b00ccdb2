/* other.h: a processor that the shim knows nothing of; see arch.h. Ticks are those of the clock, stacks are guessed, and what is
   written in assembly elsewhere is left to the C library. */
#include <stdint.h>

static inline uint64_t sp_arch_ticks(void) { return 0; }
static inline int sp_arch_steady(void) { return 0; }

#define REG_SP -1
#define REG_FP -2
#define REG_RA -3
#define SP_KEPT 11
#define SP_PC_BITS 47
#define SP_GOROUTINES 0
#define SP_BACK_ON_STACK 0

static inline int sp_arch_kept(uint64_t reg)
{
	(void)reg;
	return -1;
}

static inline uint64_t sp_arch_pc(uint64_t pc) { return pc; }
