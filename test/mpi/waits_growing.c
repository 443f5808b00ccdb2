// A loop that starts two requests more each time and waits for all of them at once: each wait is another call.
// The argument is how many rounds there are.
// ranks: 1 2 3
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, n = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request *all = malloc(2 * (size_t)n * sizeof *all);
    CHECK(all != NULL);
    for (int i = 0; i < n; i++) {
        int k = 0;
        for (int j = 0; j < i; j++) {
            MPI_Isend(NULL, 0, MPI_INT, right, 3, MPI_COMM_WORLD, &all[k++]);
            MPI_Irecv(NULL, 0, MPI_INT, left, 3, MPI_COMM_WORLD, &all[k++]);
        }
        MPI_Waitall(k, all, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    say(rank, "%d rounds on %d ranks", n, size);
    MPI_Finalize();
    free(all);
    return 0;
}
