/*
 * trampoline.h: functions of this library whose names may be another library's.
 *
 * mpi_init_ is a name of the MPI's for Fortran, and link and tee are names of the C library's. A program may
 * have a library of its own with a function of such a name, which takes and returns something else. As this
 * library is preloaded, the name leads here all the same.
 *
 * So such a name is a jump through a slot. At the first call the slot gets its target: the wrapper, or the
 * function that would have been called without this library. The stack and all registers for arguments and
 * results are as the caller left them, so that any function can be the target.
 */
#ifndef SPOOR_TRAMPOLINE_H
#define SPOOR_TRAMPOLINE_H

#include "arch/arch.h"
#include "shim.h"

#ifdef SP_TRAMPOLINE_CODE
/* `name` leads to `wrapper`, or past it. */
#define SP_TRAMPOLINE(name, wrapper) SP_TRAMPOLINE_CODE(name, wrapper)
#else
#define SP_TRAMPOLINE(name, wrapper) extern __typeof__(wrapper) name SP_API __attribute__((alias(#wrapper)))
#endif

/* Whether a function has the name of a wrapper by accident, so that the wrapper must not forward to it. */
int sp_is_foreign(const char *name, const void *function);

#endif
