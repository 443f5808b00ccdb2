// One-sided calls with MPI_Count counts (MPI-4), on windows made by the large-count forms.
// ranks: 2 4
// mpi: mpich openmpi>=6.0
#include "check.h"
#include <mpi.h>

static int rank, size, right, left;

// The same exchanges on whatever window is given; part points to the rank's own four ints.
static void exercise(MPI_Win win, int *part) {
    MPI_Datatype t = MPI_INT;
    int one = 1, got = -1, was = -1, value = rank * 10;
    MPI_Request r[4];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    part[0] = part[1] = part[2] = part[3] = 0;
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Put_c(&value, 1, t, right, 0, 1, t, win);
    MPI_Win_flush(right, win);
    MPI_Get_c(&got, 1, t, right, 0, 1, t, win);
    MPI_Win_flush(right, win);
    CHECK(got == value);
    MPI_Accumulate_c(&one, 1, t, right, 1, 1, t, MPI_SUM, win);
    MPI_Get_accumulate_c(&one, 1, t, &was, 1, t, right, 2, 1, t, MPI_SUM, win);
    MPI_Win_flush(right, win);
    CHECK(was == 0);
    MPI_Rput_c(&value, 1, t, right, 3, 1, t, win, &r[0]);
    MPI_Raccumulate_c(&one, 1, t, right, 1, 1, t, MPI_SUM, win, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Win_flush(right, win);
    MPI_Rget_c(&got, 1, t, right, 3, 1, t, win, &r[2]);
    MPI_Rget_accumulate_c(&one, 1, t, &was, 1, t, right, 0, 1, t, MPI_SUM, win, &r[3]);
    MPI_Waitall(2, &r[2], MPI_STATUSES_IGNORE);
    CHECK(got == value && was == value);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(part[0] == left * 10 + 1 && part[1] == 2 && part[2] == 1 && part[3] == left * 10);
    MPI_Win_unlock(rank, win);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Aint bytes = 4 * sizeof(int), unit = sizeof(int), there;
    MPI_Win win;
    _Alignas(16) int mine[4]; // as in rma_requests.c
    int *part, *theirs;
    MPI_Win_create_c(mine, bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    exercise(win, mine);
    MPI_Win_free(&win);
    MPI_Win_allocate_c(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
    exercise(win, part);
    MPI_Win_free(&win);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Win_allocate_shared_c(bytes, unit, MPI_INFO_NULL, node, &part, &win);
    part[0] = rank;
    MPI_Barrier(node);
    int first;
    MPI_Win_shared_query_c(win, 0, &there, &unit, &theirs);
    CHECK(there == bytes && unit == sizeof(int));
    MPI_Win_lock_all(0, win);
    MPI_Get_c(&first, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
    CHECK(first == theirs[0]);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    say(rank, "large_rma: ok");
    MPI_Finalize();
    return 0;
}
