// A library whose constructor calls MPI, as that of MPI's C++ bindings does: it runs before those of preloaded libraries.
#include <mpi.h>

int asked;

__attribute__((constructor)) static void construct(void) {
    int flag;
    MPI_Initialized(&flag);
    asked = 1;
}
