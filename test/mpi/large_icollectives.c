// Nonblocking collectives with MPI_Count counts (MPI-4), all under way at once.
// ranks: 1 2 4 7
// mpi: mpich openmpi>=6.0
#include "check.h"
#include <mpi.h>

enum { KINDS = 16 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype t = MPI_INT;
    MPI_Comm_rank(w, &rank);
    MPI_Comm_size(w, &size);
    int *a = calloc(10 * size, sizeof *a);
    MPI_Count *ones = malloc(size * sizeof *ones);
    MPI_Aint *at = malloc(2 * size * sizeof *at), *bytes = at + size;
    MPI_Datatype *types = malloc(size * sizeof *types);
    CHECK(a && ones && at && types);
    for (int i = 0; i < size; i++)
        ones[i] = 1, at[i] = i, bytes[i] = i * (MPI_Aint)sizeof(int), types[i] = t;
    int *g = a, *gv = a + size, *ag = a + 2 * size, *agv = a + 3 * size, *sc = a + 4 * size, *to = a + 5 * size;
    int *aa = a + 6 * size, *aav = a + 7 * size, *aaw = a + 8 * size, *parts = a + 9 * size;
    for (int lap = 0; lap < 3; lap++) {
        int root = lap % size, word = rank == root ? lap : -1, mine = rank + lap;
        int sum, total, upto, below, share, share1, part, partv;
        for (int i = 0; i < size; i++)
            sc[i] = i + lap, to[i] = rank * 10 + i + lap, parts[i] = i + lap;
        MPI_Request r[KINDS];
        MPI_Ibcast_c(&word, 1, t, root, w, &r[0]);
        MPI_Igather_c(&mine, 1, t, g, 1, t, root, w, &r[1]);
        MPI_Igatherv_c(&mine, 1, t, gv, ones, at, t, root, w, &r[2]);
        MPI_Iscatter_c(sc, 1, t, &part, 1, t, root, w, &r[3]);
        MPI_Iscatterv_c(sc, ones, at, t, &partv, 1, t, root, w, &r[4]);
        MPI_Iallgather_c(&mine, 1, t, ag, 1, t, w, &r[5]);
        MPI_Iallgatherv_c(&mine, 1, t, agv, ones, at, t, w, &r[6]);
        MPI_Ialltoall_c(to, 1, t, aa, 1, t, w, &r[7]);
        MPI_Ialltoallv_c(to, ones, at, t, aav, ones, at, t, w, &r[8]);
        MPI_Ialltoallw_c(to, ones, bytes, types, aaw, ones, bytes, types, w, &r[9]);
        MPI_Ireduce_c(&mine, &sum, 1, t, MPI_SUM, root, w, &r[10]);
        MPI_Iallreduce_c(&mine, &total, 1, t, MPI_SUM, w, &r[11]);
        MPI_Iscan_c(&rank, &upto, 1, t, MPI_SUM, w, &r[12]);
        MPI_Iexscan_c(&rank, &below, 1, t, MPI_SUM, w, &r[13]);
        MPI_Ireduce_scatter_c(parts, &share, ones, t, MPI_SUM, w, &r[14]);
        MPI_Ireduce_scatter_block_c(parts, &share1, 1, t, MPI_SUM, w, &r[15]);
        MPI_Waitall(KINDS, r, MPI_STATUSES_IGNORE);
        int every = size * (size - 1) / 2 + size * lap;
        CHECK(word == lap && part == rank + lap && partv == part && total == every && (rank != root || sum == every));
        CHECK(upto == rank * (rank + 1) / 2 && (rank == 0 || below == rank * (rank - 1) / 2));
        CHECK(share == size * (rank + lap) && share1 == share);
        for (int i = 0; i < size; i++) {
            CHECK(rank != root || (g[i] == i + lap && gv[i] == i + lap));
            CHECK(ag[i] == i + lap && agv[i] == i + lap);
            CHECK(aa[i] == i * 10 + rank + lap && aav[i] == aa[i] && aaw[i] == aa[i]);
        }
    }
    free(a), free(ones), free(at), free(types);
    say(rank, "large_icollectives: ok");
    MPI_Finalize();
    return 0;
}
