// Persistent collectives with MPI_Count counts (MPI-4), started twice.
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
    MPI_Info none = MPI_INFO_NULL;
    MPI_Comm_rank(w, &rank);
    MPI_Comm_size(w, &size);
    int *a = calloc(11 * size, sizeof *a);
    MPI_Count *ones = malloc(size * sizeof *ones);
    MPI_Aint *at = malloc(2 * size * sizeof *at), *bytes = at + size;
    MPI_Datatype *types = malloc(size * sizeof *types);
    CHECK(a && ones && at && types);
    int *g = a, *gv = a + size, *ag = a + 2 * size, *agv = a + 3 * size, *sc = a + 4 * size, *to = a + 5 * size;
    int *aa = a + 6 * size, *aav = a + 7 * size, *aaw = a + 8 * size, *parts = a + 9 * size, *given = a + 10 * size;
    for (int i = 0; i < size; i++)
        ones[i] = 1, at[i] = i, bytes[i] = i * (MPI_Aint)sizeof(int), types[i] = t, given[i] = i;
    // As in persistent_collectives.c, the first two and the last keep what they send.
    int root = 0, fixed = rank, word, mine, sum, total, upto, below, share, share1, part, partv;
    MPI_Request r[KINDS];
    MPI_Gather_init_c(&fixed, 1, t, g, 1, t, root, w, none, &r[0]);
    MPI_Allgather_init_c(&fixed, 1, t, ag, 1, t, w, none, &r[1]);
    MPI_Bcast_init_c(&word, 1, t, root, w, none, &r[2]);
    MPI_Gatherv_init_c(&mine, 1, t, gv, ones, at, t, root, w, none, &r[3]);
    MPI_Scatterv_init_c(sc, ones, at, t, &partv, 1, t, root, w, none, &r[4]);
    MPI_Allgatherv_init_c(&mine, 1, t, agv, ones, at, t, w, none, &r[5]);
    MPI_Alltoall_init_c(to, 1, t, aa, 1, t, w, none, &r[6]);
    MPI_Alltoallv_init_c(to, ones, at, t, aav, ones, at, t, w, none, &r[7]);
    MPI_Alltoallw_init_c(to, ones, bytes, types, aaw, ones, bytes, types, w, none, &r[8]);
    MPI_Reduce_init_c(&mine, &sum, 1, t, MPI_SUM, root, w, none, &r[9]);
    MPI_Allreduce_init_c(&mine, &total, 1, t, MPI_SUM, w, none, &r[10]);
    MPI_Scan_init_c(&rank, &upto, 1, t, MPI_SUM, w, none, &r[11]);
    MPI_Exscan_init_c(&rank, &below, 1, t, MPI_SUM, w, none, &r[12]);
    MPI_Reduce_scatter_init_c(parts, &share, ones, t, MPI_SUM, w, none, &r[13]);
    MPI_Reduce_scatter_block_init_c(parts, &share1, 1, t, MPI_SUM, w, none, &r[14]);
    MPI_Scatter_init_c(given, 1, t, &part, 1, t, root, w, none, &r[15]);
    for (int lap = 0; lap < 2; lap++) {
        mine = rank + lap;
        word = rank == root ? lap : -1;
        for (int i = 0; i < size; i++)
            sc[i] = i + lap, to[i] = rank * 10 + i + lap, parts[i] = i + lap;
        int started = KINDS - lap;
        MPI_Startall(started, r);
        MPI_Waitall(started, r, MPI_STATUSES_IGNORE);
        int every = size * (size - 1) / 2 + size * lap;
        CHECK(word == lap && part == rank && partv == rank + lap && total == every && (rank != root || sum == every));
        CHECK(upto == rank * (rank + 1) / 2 && (rank == 0 || below == rank * (rank - 1) / 2));
        CHECK(share == size * (rank + lap) && share1 == share);
        for (int i = 0; i < size; i++) {
            CHECK(rank != root || (g[i] == i && gv[i] == i + lap));
            CHECK(ag[i] == i && agv[i] == i + lap);
            CHECK(aa[i] == i * 10 + rank + lap && aav[i] == aa[i] && aaw[i] == aa[i]);
        }
    }
    for (int i = 0; i < KINDS; i++)
        MPI_Request_free(&r[i]);
    free(a), free(ones), free(at), free(types);
    say(rank, "large_persistent: ok");
    MPI_Finalize();
    return 0;
}
