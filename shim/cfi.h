/* cfi.h: what the call frame information of a function says of one place in it. */
#ifndef SPOOR_CFI_H
#define SPOOR_CFI_H

#include "unwind.h"

#pragma GCC visibility push(hidden)

/* Which of sp_saved a register of that number is; -1: none that calls keep. */
int sp_cfi_kept(uint64_t reg);
/* Fill in where a function has put its caller's registers, at the instruction before pc; 0 if that is no simple matter. */
int sp_cfi_saved(uint64_t pc, const uint8_t *fde, uint64_t function, struct sp_saved *saved);
/* Fill in the rule of the instruction before pc from the function's FDE; 0 if that is
   no simple matter. */
int sp_cfi_rule(uint64_t pc, const uint8_t *fde, uint64_t function, struct sp_rule *rule);

#pragma GCC visibility pop

#endif
