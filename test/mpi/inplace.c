// MPI_IN_PLACE in every collective that allows it, blocking forms.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, root = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *a = malloc(size * sizeof *a), *counts = malloc(size * sizeof *counts), *displs = malloc(size * sizeof *displs);
    MPI_Datatype *types = malloc(size * sizeof *types);
    CHECK(a && counts && displs && types);
    for (int i = 0; i < size; i++)
        counts[i] = 1, displs[i] = i, types[i] = MPI_INT;
    int mine = rank + 1;

    for (int v = 0; v < 2; v++) { // gather and scatter, then with counts
        a[0] = 1;
        void *send = rank == root ? MPI_IN_PLACE : &mine;
        if (v)
            MPI_Gatherv(send, 1, MPI_INT, a, counts, displs, MPI_INT, root, MPI_COMM_WORLD);
        else
            MPI_Gather(send, 1, MPI_INT, a, 1, MPI_INT, root, MPI_COMM_WORLD);
        if (rank == root)
            for (int i = 0; i < size; i++)
                CHECK(a[i] == i + 1);
        void *recv = rank == root ? MPI_IN_PLACE : &mine;
        if (v)
            MPI_Scatterv(a, counts, displs, MPI_INT, recv, 1, MPI_INT, root, MPI_COMM_WORLD);
        else
            MPI_Scatter(a, 1, MPI_INT, recv, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(mine == rank + 1);
    }
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < size; i++)
            a[i] = i == rank ? rank * 2 : -1;
        if (v)
            MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, counts, displs, MPI_INT, MPI_COMM_WORLD);
        else
            MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            CHECK(a[i] == i * 2);
    }
    for (int v = 0; v < 3; v++) {
        for (int i = 0; i < size; i++)
            a[i] = rank * 10 + i;
        if (v == 0) {
            MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a, 1, MPI_INT, MPI_COMM_WORLD);
        } else if (v == 1) {
            MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, a, counts, displs, MPI_INT, MPI_COMM_WORLD);
        } else {
            for (int i = 0; i < size; i++)
                displs[i] *= (int)sizeof(int);
            MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, a, counts, displs, types, MPI_COMM_WORLD);
        }
        for (int i = 0; i < size; i++)
            CHECK(a[i] == i * 10 + rank);
    }
    int total = size * (size + 1) / 2, x = rank + 1;
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(x == total);
    x = rank + 1;
    MPI_Reduce(rank == root ? MPI_IN_PLACE : &x, rank == root ? &x : NULL, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    CHECK(x == (rank == root ? total : rank + 1));
    x = rank + 1;
    MPI_Scan(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(x == (rank + 1) * (rank + 2) / 2);
    x = rank + 1;
    MPI_Exscan(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank == 0 || x == rank * (rank + 1) / 2);
    for (int i = 0; i < size; i++)
        a[i] = i;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(a[0] == rank * size);
    for (int i = 0; i < size; i++)
        a[i] = i;
    MPI_Reduce_scatter(MPI_IN_PLACE, a, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(a[0] == rank * size);
    say(rank, "inplace: ok");
    free(a), free(counts), free(displs), free(types);
    MPI_Finalize();
    return 0;
}
