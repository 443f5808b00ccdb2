// Blocking collectives with MPI_Count counts and MPI_Aint displacements (MPI-4).
// ranks: 1 2 4 7
// mpi: mpich openmpi>=6.0
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype t = MPI_INT;
    MPI_Comm_rank(w, &rank);
    MPI_Comm_size(w, &size);
    int *a = calloc(3 * size, sizeof *a), *all = a + size, *to = a + 2 * size;
    MPI_Count *ones = malloc(size * sizeof *ones);
    MPI_Aint *at = malloc(2 * size * sizeof *at), *bytes = at + size;
    MPI_Datatype *types = malloc(size * sizeof *types);
    CHECK(a && ones && at && types);
    for (int i = 0; i < size; i++)
        ones[i] = 1, at[i] = i, bytes[i] = i * (MPI_Aint)sizeof(int), types[i] = t;
    int total = size * (size - 1) / 2;
    for (int root = 0; root < size; root++) {
        int word = rank == root ? 77 : 0, mine = rank + 5, sum = -1;
        MPI_Bcast_c(&word, 1, t, root, w);
        CHECK(word == 77);
        MPI_Gather_c(&mine, 1, t, a, 1, t, root, w);
        CHECK(rank != root || a[size - 1] == size + 4);
        MPI_Scatter_c(a, 1, t, &word, 1, t, root, w);
        CHECK(word == mine);
        mine++;
        MPI_Gatherv_c(&mine, 1, t, a, ones, at, t, root, w);
        CHECK(rank != root || a[size - 1] == size + 5);
        MPI_Scatterv_c(a, ones, at, t, &word, 1, t, root, w);
        CHECK(word == mine);
        MPI_Reduce_c(&rank, &sum, 1, t, MPI_SUM, root, w);
        CHECK(sum == (rank == root ? total : -1));
    }
    MPI_Allgather_c(&rank, 1, t, all, 1, t, w);
    CHECK(all[size - 1] == size - 1);
    MPI_Allgatherv_c(&rank, 1, t, all, ones, at, t, w);
    CHECK(all[0] == 0);
    for (int form = 0; form < 3; form++) {
        for (int i = 0; i < size; i++)
            to[i] = rank * 10 + i + form;
        if (form == 0)
            MPI_Alltoall_c(to, 1, t, all, 1, t, w);
        else if (form == 1)
            MPI_Alltoallv_c(to, ones, at, t, all, ones, at, t, w);
        else
            MPI_Alltoallw_c(to, ones, bytes, types, all, ones, bytes, types, w);
        for (int i = 0; i < size; i++)
            CHECK(all[i] == i * 10 + rank + form);
    }
    int x = -1;
    MPI_Allreduce_c(&rank, &x, 1, t, MPI_MAX, w);
    CHECK(x == size - 1);
    MPI_Scan_c(&rank, &x, 1, t, MPI_SUM, w);
    CHECK(x == rank * (rank + 1) / 2);
    MPI_Exscan_c(&rank, &x, 1, t, MPI_SUM, w);
    CHECK(rank == 0 || x == rank * (rank - 1) / 2);
    for (int i = 0; i < size; i++)
        to[i] = i;
    MPI_Reduce_scatter_c(to, &x, ones, t, MPI_SUM, w);
    CHECK(x == rank * size);
    x = -1;
    MPI_Reduce_scatter_block_c(to, &x, 1, t, MPI_SUM, w);
    CHECK(x == rank * size);
    free(a), free(ones), free(at), free(types);
    say(rank, "large_collectives: ok");
    MPI_Finalize();
    return 0;
}
