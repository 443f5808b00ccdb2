/* Rank 0 runs the command that it is given, which starts a job of its own, before MPI_Finalize; without a command this is that job. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && argc > 1)
        failed = system(argv[1]) != 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return failed;
}
