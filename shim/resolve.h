/* resolve.h: finding the MPI library and telling which it is. */
#ifndef SPOOR_RESOLVE_H
#define SPOOR_RESOLVE_H

/* Fill sp_real and sp_flavour; leaves sp_mode at SP_EARLY, or at SP_OFF if the
   MPI is of no known kind. Any thread, any number of times. */
void sp_resolve(void);

/* Whether the wrappers forward to the library in which `init` is PMPI_Init, or will
   now. */
int sp_prefer(void *handle, const void *init);

/* A symbol of the MPI library. */
void *sp_symbol(const char *name);
/* A symbol of any loaded object but this library, for which no search order
   leads to the object. Slow. */
void *sp_symbol_loaded(const char *name);

/* Whether an address is code of the MPI library, or of a library that the user
   named as belonging to it. */
int sp_is_mpi(const void *address);

#endif
