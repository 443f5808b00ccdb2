// Nonblocking collectives, started one after the other and completed together, out of order, or by polling.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { KINDS = 12 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *a = malloc(6 * size * sizeof *a), *counts = malloc(size * sizeof *counts);
    CHECK(a && counts);
    int *gathered = a, *scatter = a + size, *all = a + 2 * size, *to = a + 3 * size, *from = a + 4 * size;
    int *parts = a + 5 * size;
    for (int i = 0; i < size; i++)
        counts[i] = 1;
    for (int round = 0; round < 4; round++) {
        int root = round % size, word = rank == root ? round : -1, mine = rank + round;
        int part = -1, sum = -1, total = -1, upto = -1, below = -1, share = -1, share1 = -1;
        for (int i = 0; i < size; i++)
            scatter[i] = i * 3, to[i] = rank * 10 + i, parts[i] = i;
        MPI_Request req[KINDS];
        MPI_Ibarrier(MPI_COMM_WORLD, &req[0]);
        MPI_Ibcast(&word, 1, MPI_INT, root, MPI_COMM_WORLD, &req[1]);
        MPI_Igather(&mine, 1, MPI_INT, gathered, 1, MPI_INT, root, MPI_COMM_WORLD, &req[2]);
        MPI_Iscatter(scatter, 1, MPI_INT, &part, 1, MPI_INT, root, MPI_COMM_WORLD, &req[3]);
        MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &req[4]);
        MPI_Ialltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD, &req[5]);
        MPI_Ireduce(&mine, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, &req[6]);
        MPI_Iallreduce(&mine, &total, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &req[7]);
        MPI_Iscan(&rank, &upto, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req[8]);
        MPI_Iexscan(&rank, &below, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req[9]);
        MPI_Ireduce_scatter(parts, &share, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req[10]);
        MPI_Ireduce_scatter_block(parts, &share1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &req[11]);
        if (round % 2) {
            MPI_Waitall(KINDS, req, MPI_STATUSES_IGNORE);
        } else {
            for (int i = KINDS - 1; i >= 0; i--)
                MPI_Wait(&req[i], MPI_STATUS_IGNORE);
        }
        CHECK(word == round && part == rank * 3 && total == size - 1 + round);
        CHECK(rank != root || sum == size * (size - 1) / 2 + size * round);
        CHECK(upto == rank * (rank + 1) / 2 && (rank == 0 || below == rank * (rank - 1) / 2));
        CHECK(share == rank * size && share1 == rank * size);
        for (int i = 0; i < size; i++) {
            CHECK(rank != root || gathered[i] == i + round);
            CHECK(all[i] == i + round && from[i] == i * 10 + rank);
        }
    }
    free(a);
    free(counts);
    say(rank, "icollectives: ok");
    MPI_Finalize();
    return 0;
}
