// Phases that MPI_Pcontrol marks: one that comes again, one of odd ranks only, and a message that one phase begins and the next completes.
// ranks: 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, got = 0, sum = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Pcontrol(3, "setup");
    MPI_Bcast(&got, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int step = 0; step < 10; step++) {
        MPI_Pcontrol(4, "exchange", step);
        MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &request);
        MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD);
        MPI_Pcontrol(5);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(got == (rank + size - 1) % size);
        if (rank % 2 == 1)
            MPI_Pcontrol(60);
        MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2);
    }
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD); // is not recorded
    MPI_Pcontrol(-1);
    MPI_Barrier(MPI_COMM_WORLD);
    say(rank, "phases: ok");
    MPI_Finalize();
    return 0;
}
