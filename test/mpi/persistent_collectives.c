// Persistent collectives (MPI-4): every *_init on a whole communicator, started and completed again and again.
// ranks: 1 2 4 7
// mpi: mpich openmpi>=5.0
// MPICH 4.0 copies the data of Gather_init and Allgather_init when the request is made, so theirs never changes here,
// and it can't start Scatter_init's request twice.
#include "check.h"
#include <mpi.h>

enum { KINDS = 17, LAPS = 4 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Info none = MPI_INFO_NULL;
    int root = size - 1, fixed = rank, word, mine, sum, total, upto, below, share, share1, part, partv;
    int *a = calloc(12 * size, sizeof *a), *ones = malloc(3 * size * sizeof *ones);
    MPI_Datatype *types = malloc(size * sizeof *types);
    CHECK(a && ones && types);
    int *at = ones + size, *bytes = at + size;
    for (int i = 0; i < size; i++)
        ones[i] = 1, at[i] = i, bytes[i] = i * (int)sizeof(int), types[i] = MPI_INT;
    int *g = a, *gv = a + size, *ag = a + 2 * size, *agv = a + 3 * size, *sc = a + 4 * size, *to = a + 5 * size;
    int *aa = a + 6 * size, *aav = a + 7 * size, *aaw = a + 8 * size, *parts = a + 9 * size;
    int *given = a + 10 * size;
    for (int i = 0; i < size; i++)
        given[i] = i;
    MPI_Request r[KINDS];
    MPI_Barrier_init(w, none, &r[0]);
    MPI_Bcast_init(&word, 1, MPI_INT, root, w, none, &r[1]);
    MPI_Gather_init(&fixed, 1, MPI_INT, g, 1, MPI_INT, root, w, none, &r[2]);
    MPI_Gatherv_init(&mine, 1, MPI_INT, gv, ones, at, MPI_INT, root, w, none, &r[3]);
    MPI_Scatterv_init(sc, ones, at, MPI_INT, &partv, 1, MPI_INT, root, w, none, &r[4]);
    MPI_Allgather_init(&fixed, 1, MPI_INT, ag, 1, MPI_INT, w, none, &r[6]);
    MPI_Allgatherv_init(&mine, 1, MPI_INT, agv, ones, at, MPI_INT, w, none, &r[7]);
    MPI_Alltoall_init(to, 1, MPI_INT, aa, 1, MPI_INT, w, none, &r[8]);
    MPI_Alltoallv_init(to, ones, at, MPI_INT, aav, ones, at, MPI_INT, w, none, &r[9]);
    MPI_Alltoallw_init(to, ones, bytes, types, aaw, ones, bytes, types, w, none, &r[10]);
    MPI_Reduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, root, w, none, &r[11]);
    MPI_Allreduce_init(&mine, &total, 1, MPI_INT, MPI_SUM, w, none, &r[12]);
    MPI_Scan_init(&rank, &upto, 1, MPI_INT, MPI_SUM, w, none, &r[13]);
    MPI_Exscan_init(&rank, &below, 1, MPI_INT, MPI_SUM, w, none, &r[14]);
    MPI_Reduce_scatter_init(parts, &share, ones, MPI_INT, MPI_SUM, w, none, &r[15]);
    MPI_Reduce_scatter_block_init(parts, &share1, 1, MPI_INT, MPI_SUM, w, none, &r[5]);
    MPI_Scatter_init(given, 1, MPI_INT, &part, 1, MPI_INT, root, w, none, &r[16]);
    for (int lap = 0; lap < LAPS; lap++) {
        mine = rank + lap;
        word = rank == root ? lap : -1;
        for (int i = 0; i < size; i++)
            sc[i] = i + lap, to[i] = rank * 10 + i + lap, parts[i] = i + lap;
        if (lap % 2) {
            MPI_Startall(KINDS - 1, r);
            MPI_Waitall(KINDS - 1, r, MPI_STATUSES_IGNORE);
        } else {
            for (int i = 0; i < KINDS - (lap > 0); i++) {
                MPI_Start(&r[i]);
                MPI_Wait(&r[i], MPI_STATUS_IGNORE);
            }
        }
        int all = size * (size - 1) / 2 + size * lap;
        CHECK(word == lap && part == rank && partv == rank + lap && total == all && (rank != root || sum == all));
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
    free(a), free(ones), free(types);
    say(rank, "persistent_collectives: %d laps", LAPS);
    MPI_Finalize();
    return 0;
}
