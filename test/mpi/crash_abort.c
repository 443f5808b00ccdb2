// The last rank calls MPI_Abort in the middle of a loop, while the others wait for its next message.
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
    for (int step = 0;; step++) {
        int sum;
        if (step == STEPS && rank == size - 1)
            MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == step * size);
        if (step == STEPS - 1)
            say(rank, "crash_abort: %d steps done", STEPS);
    }
}
