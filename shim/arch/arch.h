/*
 * arch.h: the processor. Each has a header here that says the same things:
 *
 *   sp_arch_ticks, sp_arch_steady   its counter, and whether that runs evenly
 *   REG_…, SP_KEPT, sp_arch_kept    registers, as call frame information numbers them
 *   SP_PC_BITS, sp_arch_pc          addresses of code
 *   SP_BACK_ON_STACK                where a call leaves its return address
 *   SP_GOROUTINES                   whether stacks go on from where Go calls C
 *   SP_TRAMPOLINE_…                 trampoline.h; not there for unknown processors
 *   SP_RELOC_…, SP_ENTRY, SP_VFORK  what dlsym.c, bind.c and io/filter.c need; not there for unknown processors
 */
#ifndef SPOOR_ARCH_H
#define SPOOR_ARCH_H

#if defined(__x86_64__)
#include "x86_64.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#else
#include "other.h"
#endif

#endif
