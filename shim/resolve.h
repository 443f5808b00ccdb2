/* resolve.h: finding the MPI library and telling which it is. */
#ifndef SPOOR_RESOLVE_H
#define SPOOR_RESOLVE_H

extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

/* Whether an address is this library's. */
static inline int sp_is_own(const void *address)
{
	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

/* Fill sp_real, sp_next and sp_flavour; leaves sp_mode at SP_EARLY, or at SP_OFF if the
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

/* Whether an address is code below the wrappers: of the MPI library, of a layer on top of
   it (layers.c), or of a library that the user named as belonging to it. */
int sp_is_below(const void *address);
/* Whether a file's name is that of an MPI library, or named by the user so. */
int sp_is_mpi_name(const char *path);

#endif
