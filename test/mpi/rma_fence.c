// One-sided transfers between fences: Put, Get, Accumulate, asserts, and what a window tells about itself.
// ranks: 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { N = 8 };

int main(int argc, char **argv) {
    int rank, size, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *cells = calloc(N * size, sizeof *cells), mine[N], got[N];
    CHECK(cells);
    MPI_Win win;
    MPI_Win_create(cells, N * size * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Group group;
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &n);
    CHECK(n == size);
    MPI_Group_free(&group);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_get_info(win, &info);
    MPI_Info_get_nkeys(info, &n);
    CHECK(n >= 0);
    MPI_Info_free(&info);

    for (int step = 1; step <= 5; step++) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        for (int i = 0; i < N; i++)
            mine[i] = rank * 100 + step * 10 + i;
        MPI_Put(mine, N, MPI_INT, right, rank * N, N, MPI_INT, win);
        MPI_Win_fence(0, win);
        for (int i = 0; i < N; i++)
            CHECK(cells[left * N + i] == left * 100 + step * 10 + i);
        MPI_Win_fence(0, win);
        MPI_Get(got, 3, MPI_INT, right, rank * N + 2, 3, MPI_INT, win); // back what was put
        MPI_Win_fence(MPI_MODE_NOSTORE, win);
        CHECK(got[0] == mine[2] && got[2] == mine[4]);
        for (int p = 0; p < size; p++)
            MPI_Accumulate(&step, 1, MPI_INT, p, rank * N, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_fence(0, win);
        CHECK(cells[left * N] == left * 100 + step * 11);
        MPI_Win_fence(0, win); // nobody changes what others still look at
        for (int p = 0; p < size; p++) // and with MPI_REPLACE, by a derived target type
            if (p == right)
                MPI_Accumulate(mine, 1, MPI_INT, p, rank * N, 1, MPI_INT, MPI_REPLACE, win);
        MPI_Put(mine, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        CHECK(cells[left * N] == left * 100 + step * 10);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
    free(cells);
    say(rank, "rma_fence: ok");
    MPI_Finalize();
    return 0;
}
