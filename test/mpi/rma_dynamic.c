// Dynamic windows: memory attached and detached as the program runs, addressed by absolute addresses.
// ranks: 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int step = 1; step <= 3; step++) {
        int *block = malloc(step * 1000 * sizeof *block);
        CHECK(block);
        block[7] = -1;
        MPI_Win_attach(win, block, step * 1000 * sizeof *block);
        MPI_Aint here, there;
        MPI_Get_address(&block[7], &here);
        MPI_Sendrecv(&here, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int value = rank * 10 + step;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
        MPI_Put(&value, 1, MPI_INT, right, there, 1, MPI_INT, win);
        MPI_Win_unlock(right, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        CHECK(block[7] == left * 10 + step);
        MPI_Win_unlock(rank, win);
        MPI_Win_detach(win, block);
        free(block);
    }
    MPI_Win_free(&win);
    say(rank, "rma_dynamic: ok");
    MPI_Finalize();
    return 0;
}
