// The blocking collectives with one count for all: from Barrier to Exscan, and Reduce_local.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { N = 3 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int all = N * size;
    int *a = malloc(all * sizeof *a), *b = malloc(all * sizeof *b);
    CHECK(a && b);

    for (int root = 0; root < size; root++) {
        MPI_Barrier(MPI_COMM_WORLD);
        int word[N] = {rank, rank, rank};
        MPI_Bcast(word, N, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(word[0] == root && word[N - 1] == root);

        int mine[N] = {rank, rank + 1, rank + 2};
        MPI_Gather(mine, N, MPI_INT, a, N, MPI_INT, root, MPI_COMM_WORLD);
        if (rank == root)
            for (int i = 0; i < all; i++) {
                CHECK(a[i] == i / N + i % N);
                a[i] += 10;
            }
        MPI_Scatter(a, N, MPI_INT, mine, N, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(mine[0] == rank + 10 && mine[2] == rank + 12);

        int sum = -1;
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        CHECK(sum == (rank == root ? size * (size - 1) / 2 : -1));
    }

    int mine[N] = {rank, 2 * rank, 3 * rank};
    MPI_Allgather(mine, N, MPI_INT, b, N, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < all; i++)
        CHECK(b[i] == (i % N + 1) * (i / N));
    for (int i = 0; i < all; i++)
        a[i] = rank * 100 + i;
    MPI_Alltoall(a, N, MPI_INT, b, N, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < all; i++)
        CHECK(b[i] == i / N * 100 + rank * N + i % N);

    struct {
        double value;
        int where;
    } in = {-rank, rank}, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    CHECK(out.value == -(size - 1) && out.where == size - 1);

    int below = 0;
    MPI_Scan(&rank, &below, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(below == rank * (rank + 1) / 2);
    below = 0;
    MPI_Exscan(&rank, &below, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(below == rank * (rank - 1) / 2);

    int *counts = malloc(size * sizeof *counts);
    CHECK(counts);
    for (int i = 0; i < size; i++)
        counts[i] = i % 2 ? 0 : N;
    for (int i = 0; i < all; i++)
        a[i] = i;
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int before = (rank + 1) / 2 * N;
    for (int i = 0; i < counts[rank]; i++)
        CHECK(b[i] == (before + i) * size);
    MPI_Reduce_scatter_block(a, b, N, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        CHECK(b[i] == rank * N + i);

    int x[2] = {3, 8}, y[2] = {4, 5};
    MPI_Reduce_local(x, y, 2, MPI_INT, MPI_PROD);
    CHECK(y[0] == 12 && y[1] == 40);

    say(rank, "collectives: ok");
    free(a);
    free(b);
    free(counts);
    MPI_Finalize();
    return 0;
}
