// Every rank calls exit without MPI_Finalize. Launchers may call this a failure.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { STEPS = 40 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < STEPS; step++) {
        int word = step;
        MPI_Bcast(&word, 1, MPI_INT, step % size, MPI_COMM_WORLD);
        CHECK(word == step);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    say(rank, "crash_exit: %d steps done", STEPS);
    exit(0);
}
