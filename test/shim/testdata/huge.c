// One call whose record is larger than a ring: 100,000 block lengths and displacements.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 100000 };

int main(int argc, char **argv) {
    int rank, size = 0, n = 0;
    int *lengths = malloc(BLOCKS * sizeof *lengths), *places = malloc(BLOCKS * sizeof *places);
    for (int i = 0; i < BLOCKS; i++) {
        lengths[i] = i % 3;
        places[i] = 5 * i;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++) {
        MPI_Datatype type;
        MPI_Type_indexed(BLOCKS - i, lengths, places, MPI_BYTE, &type);
        MPI_Type_size(type, &size);
        MPI_Type_free(&type);
        n += size;
    }
    if (rank == 0)
        printf("%d bytes\n", n);
    MPI_Finalize();
}
