/* Rank 0 sends a message while tracing is off: the trace has its receive alone. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Pcontrol(0);
        MPI_Send(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Pcontrol(1);
    } else if (rank == 1) {
        MPI_Recv(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
