/* bind.h: what references of loaded objects lead to. */
#ifndef SPOOR_BIND_H
#define SPOOR_BIND_H

/* How many libraries that were loaded may have to be looked at. */
extern int sp_bind_waits;

/* Look at the objects that the program was started with. */
void sp_bind_start(void);
/* The program is about to load a library. */
void sp_bind_asked(int flags);
/* Look at what was loaded since. */
void sp_bind_look(void);
/* The same in a call of MPI by a thread that loads libraries. */
void sp_bind_called(void);

/* dlsym.c: whether a name is one of MPI's. */
int sp_is_mpi_symbol(const char *name);
/* dlsym.c: what a reference to `name` should lead to that leads to p, which is in the scope
   of the handle: a wrapper, or p. */
void *sp_reference(void *handle, const char *name, void *p);

#endif
