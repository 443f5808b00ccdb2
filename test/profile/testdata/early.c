/* Calls from constructors come before main, as those of libmpi_cxx do in C++ programs under Open MPI. LIBRARY makes the library, whose
   constructor the loader calls; the C library calls the program's own. INIT has MPI initialised there. */
#include <mpi.h>

#ifdef LIBRARY
static __attribute__((constructor)) void of_library(void) {
    int is;
    MPI_Initialized(&is);
}

int library(void) { return 0; }
#else
int library(void);

static __attribute__((constructor, noinline)) void of_program(void) {
    int is;
    MPI_Initialized(&is);
#ifdef INIT
    MPI_Init(0, 0);
#endif
}

static __attribute__((noinline)) void twice(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); MPI_Barrier(MPI_COMM_WORLD); /* on one line */
}

int main(void) {
    int is, rank = library();
    MPI_Initialized(&is);
    if (!is)
        MPI_Init(0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    twice(); twice(); /* on one line */
    MPI_Finalize();
    return 0;
}
#endif
