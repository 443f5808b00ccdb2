/* stack.h: what called the function that called MPI. */
#ifndef SPOOR_STACK_H
#define SPOOR_STACK_H

#include "shim.h"

#define SP_MAX_FRAMES 64
#define SP_MAX_AGAIN 8 /* equal ones in a row */
#define SP_MAX_STACKS 65536u /* per ring; further ones are known by their site alone */

/* Whether SPOOR_STACK asks for more than a call's own site. */
int sp_stack_wanted(void);
/* Follow it: at the first call, and again when MPI_Init is through. */
void sp_stack_start(void);
/* The return addresses that a key stands for which sp_stack_site returned to the calling thread, innermost first, and how many. */
int sp_stack_frames(const struct sp_thread *t, uint64_t key, uint64_t *pcs);
/* Objects were loaded or unloaded: code may be elsewhere. */
void sp_stack_refresh(void);
/* Threads besides the one that initialises MPI may call it: their first functions will be looked for. */
void sp_stack_threads(void);
/* The outermost return addresses on the calling thread's stack, innermost first, at most SP_OUTERMOST; 0 if
   they can't be found with certainty. */
#define SP_OUTERMOST 8
int sp_stack_outermost(const struct sp_thread *t, uint64_t *pcs);

#endif
