// Passive target: locks, flushes, Fetch_and_op, Compare_and_swap, Get_accumulate on memory from Win_allocate.
// ranks: 2 4 7
// mpi: mpich openmpi
// nondet: Compare_and_swap is tried until it wins
#include "check.h"
#include <mpi.h>

enum { COUNTER, CHAMPION, SUM, LAST, CELLS };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *cells, one = 1, old = -1;
    MPI_Win win;
    MPI_Win_allocate(CELLS * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < CELLS; i++)
        cells[i] = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 10; i++) {
        MPI_Fetch_and_op(&one, &old, MPI_INT, 0, COUNTER, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(old >= i && old < 10 * size);
    }
    int seen = 0, want, me = rank + 1, next = 0;
    do { // everyone becomes champion once, in some order
        want = next;
        MPI_Compare_and_swap(&me, &want, &seen, MPI_INT, 0, CHAMPION, win);
        MPI_Win_flush(0, win);
        next = seen;
    } while (seen != want);
    int two[2] = {rank, rank * 2}, before[2];
    MPI_Get_accumulate(two, 2, MPI_INT, before, 2, MPI_INT, (rank + 1) % size, SUM, 2, MPI_INT, MPI_SUM, win);
    MPI_Win_flush_local((rank + 1) % size, win);
    MPI_Win_flush_local_all(win);
    MPI_Win_flush_all(win);
    CHECK(before[0] == 0 && before[1] == 0);
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    int left = (rank + size - 1) % size, total = 0;
    MPI_Fetch_and_op(NULL, &total, MPI_INT, 0, COUNTER, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    CHECK(total == 10 * size);
    MPI_Win_sync(win);
    CHECK(cells[SUM] == left && cells[LAST] == 2 * left);
    MPI_Win_unlock_all(win);

    MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win);
    MPI_Get(&old, 1, MPI_INT, 0, COUNTER, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    CHECK(old == 10 * size);
    MPI_Win_free(&win);
    say(rank, "rma_lock: counted %d", total);
    MPI_Finalize();
    return 0;
}
