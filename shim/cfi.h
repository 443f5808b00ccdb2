/* cfi.h: what the call frame information of a function says of one place in it. */
#ifndef SPOOR_CFI_H
#define SPOOR_CFI_H

#include "unwind.h"

#pragma GCC visibility push(hidden)

/* Index in sp_saved of a register by its DWARF number; -1: not callee-saved. */
int sp_cfi_kept(uint64_t reg);
/* Set where a function saved its caller's registers, at the instruction before pc; 0 if the rules are too complex. */
int sp_cfi_saved(uint64_t pc, const uint8_t *fde, uint64_t function, struct sp_saved *saved);
/* Set the rule of the instruction before pc from the function's FDE; 0 if it is too complex. */
int sp_cfi_rule(uint64_t pc, const uint8_t *fde, uint64_t function, struct sp_rule *rule);

#pragma GCC visibility pop

#endif
