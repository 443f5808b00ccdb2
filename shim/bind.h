/* bind.h: what references of loaded objects lead to. */
#ifndef SPOOR_BIND_H
#define SPOOR_BIND_H

/* How many loaded libraries may still have to be examined. */
extern int sp_bind_waits;

/* Examine the objects that were loaded at program start. */
void sp_bind_start(void);
/* The program is about to load a library. */
void sp_bind_asked(int flags);
/* Examine objects loaded since the last call. */
void sp_bind_look(void);
/* sp_bind_look, from an MPI call by a thread that is loading a library. */
void sp_bind_called(void);

/* dlsym.c: whether a name is one of MPI's. */
int sp_is_mpi_symbol(const char *name);
/* dlsym.c: what a reference to `name` should lead to that leads to p, which is in the scope
   of the handle: a wrapper, or p. */
void *sp_reference(void *handle, const char *name, void *p);

#endif
