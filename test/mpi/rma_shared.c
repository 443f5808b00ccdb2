// Shared memory windows: loads and stores into the neighbour's part, Win_shared_query.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, unit;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    int me;
    MPI_Comm_rank(node, &me);
    int *mine, *theirs, *first;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_allocate_shared(16 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, (me + 1) % size, &bytes, &unit, &theirs);
    CHECK(bytes == 16 * sizeof *mine && unit == sizeof *mine);
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first); // the lowest rank that has memory
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    mine[0] = -1;
    MPI_Win_sync(win);
    MPI_Barrier(node);
    for (int step = 0; step < 5; step++) {
        theirs[0] = me * 10 + step;
        MPI_Win_sync(win);
        MPI_Barrier(node);
        MPI_Win_sync(win);
        CHECK(mine[0] == (me + size - 1) % size * 10 + step);
        CHECK(first[0] == (size - 1) * 10 + step);
        // A part of shared memory as a message buffer.
        MPI_Sendrecv(&mine[0], 1, MPI_INT, (me + 1) % size, 0, &mine[5], 1, MPI_INT, (me + size - 1) % size, 0, node,
                     MPI_STATUS_IGNORE);
        CHECK(mine[5] == (me + 2 * size - 2) % size * 10 + step);
        MPI_Barrier(node);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    say(rank, "rma_shared: ok");
    MPI_Finalize();
    return 0;
}
