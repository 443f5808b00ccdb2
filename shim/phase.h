/* phase.h: phases that begin by name: by a plugin, or by MPI_Pcontrol(level, name). */
#ifndef SPOOR_PHASE_H
#define SPOOR_PHASE_H

#include "shim.h"

/* Follow SPOOR_PHASE_NAMES. */
void sp_phase_start(void);
/* The calling thread's next call begins a phase. Of a long name the first 64 bytes count. */
void sp_phase_begins(struct sp_thread *t, const char *name);
/* The same, of what the program passed to MPI_Pcontrol behind a level, if that is a name. */
void sp_phase_begins_if_name(struct sp_thread *t, const void *argument);
/* Copy memory that need not be there: the result is how many bytes there are, below 0 if that is nothing. */
long sp_peek(const void *at, void *to, size_t size);
/* What stands in the ENTER record of a call from `site`, or with that key: one of its own if a
   phase begins, of which a PHASE record tells. */
const void *sp_phase_site(struct sp_thread *t, const void *site);

#endif
