// Rank 0 writes through a NULL pointer between two calls, while the others are blocked in a receive from it.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>
#include <sys/resource.h>

enum { STEPS = 40 };

int main(int argc, char **argv) {
    int rank, size;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); // leave no core file behind
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *volatile nowhere = NULL;
    for (int step = 0;; step++) {
        int word = step;
        if (rank == 0) {
            for (int p = 1; p < size; p++)
                MPI_Send(&word, 1, MPI_INT, p, 0, MPI_COMM_WORLD);
            if (step == STEPS - 1) {
                say(rank, "crash_segv: %d steps done", STEPS);
                *nowhere = word;
            }
        } else {
            MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(word == step);
        }
        if (size == 1)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}
