// Post, start, complete, wait and test: one-sided epochs between neighbours only.
// ranks: 2 4 7
// mpi: mpich openmpi
// nondet: how often Win_test says no
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, cells[4] = {-1, -1, -1, -1};
    MPI_Win win;
    MPI_Win_create(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Group world, origin, target;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &origin);
    MPI_Group_incl(world, 1, &right, &target);
    for (int step = 0; step < 6; step++) {
        int value = rank * 10 + step, flag;
        MPI_Win_post(origin, 0, win);
        MPI_Win_start(target, 0, win);
        MPI_Put(&value, 1, MPI_INT, right, step % 4, 1, MPI_INT, win);
        MPI_Win_complete(win);
        if (step % 2)
            MPI_Win_wait(win);
        else
            for (flag = 0; !flag;)
                MPI_Win_test(win, &flag);
        CHECK(cells[step % 4] == left * 10 + step);
    }
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    say(rank, "rma_pscw: ok");
    MPI_Finalize();
    return 0;
}
