/* deepbind.h: libraries that a program loads with RTLD_DEEPBIND. */
#ifndef SPOOR_DEEPBIND_H
#define SPOOR_DEEPBIND_H

/* How many libraries loaded so may have to be looked at. */
extern int sp_deepbind_waits;

/* The program is about to load a library so. */
void sp_deepbind_asked(int flags);
/* Lead the references of what was loaded to the wrappers. */
void sp_deepbind_look(void);
/* The same in a call of MPI by a thread that loads libraries so. */
void sp_deepbind_called(void);

/* dlsym.c: whether a name is one of MPI's. */
int sp_is_mpi_symbol(const char *name);
/* dlsym.c: what a reference to `name` should lead to that leads to p, which is in the scope
   of the handle: a wrapper, or p. */
void *sp_reference(void *handle, const char *name, void *p);

#endif
