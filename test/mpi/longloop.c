// A long run of a few calls, to fill buffers: the argument is the number of iterations.
// ranks: 1 2 4
// mpi: mpich openmpi
// args: 20000
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, in, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 20000;
    // On MPI_COMM_SELF, so that thousands of calls don't wait for the scheduler.
    for (int i = 0; i < steps; i++) {
        MPI_Request req;
        MPI_Irecv(&in, 1, MPI_INT, 0, i % 7, MPI_COMM_SELF, &req);
        MPI_Send(&i, 1, MPI_INT, 0, i % 7, MPI_COMM_SELF);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        CHECK(in == i);
        if (i % 1000 == 999)
            MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    CHECK(sum <= steps);
    say(rank, "longloop: %d iterations", steps);
    MPI_Finalize();
    return 0;
}
