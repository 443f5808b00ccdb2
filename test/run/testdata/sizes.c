// Two ranks exchange messages whose sizes look random, and rank 0 runs a command first.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    static char out[4096], in[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && argc > 2 && system(argv[2]) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    unsigned long seed = 1;
    for (int i = 0; i < atoi(argv[1]); i++) {
        seed = seed * 6364136223846793005UL + 1442695040888963407UL;
        MPI_Sendrecv(out, (int)(1 + (seed >> 40) % 4096), MPI_BYTE, !rank, 1, in, 4096, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
