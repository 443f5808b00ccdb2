// Recursive doubling: partners are rank XOR 1, 2, 4 …, with message sizes that double each round.
// ranks: 1 2 4 8
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK((size & (size - 1)) == 0);
    int *all = malloc(size * sizeof *all);
    CHECK(all);
    for (int step = 0; step < 10; step++) {
        all[rank] = rank * 7 + step;
        for (int mask = 1; mask < size; mask *= 2) { // each side holds mask numbers by now
            int partner = rank ^ mask, mine = rank & ~(mask - 1), theirs = partner & ~(mask - 1);
            MPI_Sendrecv(all + mine, mask, MPI_INT, partner, mask, all + theirs, mask, MPI_INT, partner, mask,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < size; i++)
            CHECK(all[i] == i * 7 + step);
    }
    free(all);
    say(rank, "butterfly: ok");
    MPI_Finalize();
    return 0;
}
