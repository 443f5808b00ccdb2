// One-sided calls that return requests: Rput, Rget, Raccumulate, Rget_accumulate.
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
    // Aligned, because MPICH 4.0's Rget_accumulate rounds the base of the target window down to 16 bytes.
    _Alignas(16) int cells[4] = {rank, rank, rank, 0};
    MPI_Win win;
    MPI_Win_create(cells, sizeof cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    MPI_Request req[4];
    int put = rank * 10, got = -1, add = 5, three = 3, was = -1;
    MPI_Rput(&put, 1, MPI_INT, right, 0, 1, MPI_INT, win, &req[0]);
    MPI_Raccumulate(&add, 1, MPI_INT, right, 1, 1, MPI_INT, MPI_SUM, win, &req[1]);
    MPI_Rget_accumulate(&three, 1, MPI_INT, &was, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_PROD, win, &req[2]);
    MPI_Waitall(3, req, MPI_STATUSES_IGNORE);
    CHECK(was == right);
    MPI_Win_flush_all(win);
    MPI_Rget(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win, &req[3]);
    MPI_Wait(&req[3], MPI_STATUS_IGNORE);
    CHECK(got == rank * 10);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    CHECK(cells[0] == left * 10 && cells[1] == rank + 5 && cells[2] == rank * 3);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    say(rank, "rma_requests: ok");
    MPI_Finalize();
    return 0;
}
