// Calls in a loop, half of them after rank 0 has run a command. The gaps between them are
// random, as their times have to be large on the quietest machine.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, calls = atoi(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < calls; i++) {
        if (i == calls / 2) {
            if (rank == 0 && argc > 2 && system(argv[2]) != 0)
                MPI_Abort(MPI_COMM_WORLD, 3);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        for (int k = 0; k < 1000; k++) {
            for (volatile int spin = rand() % 256; spin > 0; spin--)
                ;
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        }
        int x = i;
        MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
