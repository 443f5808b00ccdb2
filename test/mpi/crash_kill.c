// One rank gets SIGKILL, which no handler can see, with requests outstanding.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>
#include <signal.h>

enum { STEPS = 40 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int step = 0;; step++) {
        int in = -1;
        MPI_Request req[2];
        MPI_Irecv(&in, 1, MPI_INT, left, step, MPI_COMM_WORLD, &req[0]);
        if (step == STEPS && rank == size / 2)
            raise(SIGKILL);
        MPI_Isend(&step, 1, MPI_INT, right, step, MPI_COMM_WORLD, &req[1]);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        CHECK(in == step);
        if (step == STEPS - 1)
            say(rank, "crash_kill: %d steps done", STEPS);
    }
}
