/* Both ranks send before they receive, which hangs unless the MPI keeps messages of this size. */
#include <mpi.h>

int main(int argc, char **argv) {
    static char in[32768], out[32768];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(out, sizeof out, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(in, sizeof in, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
