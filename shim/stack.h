/* stack.h: what called the function that called MPI. */
#ifndef SPOOR_STACK_H
#define SPOOR_STACK_H

#include "shim.h"

#define SP_MAX_FRAMES 64
#define SP_MAX_AGAIN 8 /* largest number of consecutive equal frames that are kept */
#define SP_MAX_STACKS 65536u /* per ring; for further stacks only the site is recorded */

/* Whether SPOOR_STACK asks for more than a call's own site. */
int sp_stack_wanted(void);
/* Called at the first MPI call, and again at the end of MPI_Init. */
void sp_stack_start(void);
/* The return addresses of a key that sp_stack_site returned to the calling thread, innermost first, and how many. */
int sp_stack_frames(const struct sp_thread *t, uint64_t key, uint64_t *pcs);
/* Objects were loaded or unloaded: code may be elsewhere. */
void sp_stack_refresh(void);
/* Further threads may call MPI: look for their start functions from now on. */
void sp_stack_threads(void);
/* The outermost return addresses on the calling thread's stack, innermost first, at most SP_OUTERMOST; 0 if
   they can't be found with certainty. */
#define SP_OUTERMOST 8
int sp_stack_outermost(const struct sp_thread *t, uint64_t *pcs);

#endif
