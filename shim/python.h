/* python.h: call sites of programs in Python. */
#ifndef SPOOR_PYTHON_H
#define SPOOR_PYTHON_H

#include "shim.h"

/* Look whether this process is one that calls MPI from Python: at the first call, and again when MPI_Init
   is through. Whether it is. */
int sp_python_start(void);
/* What stands in an ENTER record for a call from `site`: the number of a line of Python that a SOURCE
   record told of, or of a stack of such lines; site itself where the call is not Python's.
   Calls of MPI are Python's that come from mpi4py, others (`any`) that a thread makes that has
   frames of Python. Call before the record is begun. */
const void *sp_python_site(struct sp_thread *t, const void *site, int any);

#endif
