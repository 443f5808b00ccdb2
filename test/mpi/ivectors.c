// Nonblocking collectives with a count per rank, in place as well, overlapped with point-to-point traffic.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *counts = malloc(3 * size * sizeof *counts), *displs = counts + size, *bytes = displs + size, total = 0;
    CHECK(counts);
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        displs[i] = total;
        bytes[i] = total * (int)sizeof(int);
        total += i + 1;
    }
    // Rank r sends p + 1 numbers to rank p, so it gets r + 1 from each.
    int *ones = malloc(3 * size * sizeof *ones), *rdispls = ones + size, *rbytes = rdispls + size;
    int *mine = malloc((rank + 1) * sizeof(int)), *got = malloc((rank + 1) * sizeof(int));
    int *g = malloc(total * sizeof(int)), *ag = malloc(total * sizeof(int)), *out = malloc(total * sizeof(int));
    int *in = malloc((rank + 1) * size * sizeof(int)), *win = malloc((rank + 1) * size * sizeof(int));
    MPI_Datatype *types = malloc(size * sizeof *types);
    CHECK(ones && mine && got && g && ag && out && in && win && types);
    for (int p = 0; p < size; p++) {
        ones[p] = rank + 1;
        rdispls[p] = p * (rank + 1);
        rbytes[p] = rdispls[p] * (int)sizeof(int);
        types[p] = MPI_INT;
        for (int i = 0; i <= p; i++)
            out[displs[p] + i] = rank * 100 + p * 10 + i;
    }
    for (int i = 0; i <= rank; i++)
        mine[i] = rank * 10 + i;

    for (int root = 0; root < size; root++) {
        for (int i = 0; i < total; i++)
            ag[i] = g[i] = -1;
        memcpy(ag + displs[rank], mine, (rank + 1) * sizeof(int));
        MPI_Request req[7];
        int token = -1;
        MPI_Igatherv(mine, rank + 1, MPI_INT, g, counts, displs, MPI_INT, root, MPI_COMM_WORLD, &req[0]);
        MPI_Irecv(&token, 1, MPI_INT, left, root, MPI_COMM_WORLD, &req[1]);
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INT, ag, counts, displs, MPI_INT, MPI_COMM_WORLD, &req[2]);
        MPI_Ialltoallv(out, counts, displs, MPI_INT, in, ones, rdispls, MPI_INT, MPI_COMM_WORLD, &req[3]);
        MPI_Isend(&rank, 1, MPI_INT, right, root, MPI_COMM_WORLD, &req[4]);
        MPI_Ialltoallw(out, counts, bytes, types, win, ones, rbytes, types, MPI_COMM_WORLD, &req[5]);
        MPI_Wait(&req[0], MPI_STATUS_IGNORE);
        MPI_Iscatterv(g, counts, displs, MPI_INT, got, rank + 1, MPI_INT, root, MPI_COMM_WORLD, &req[6]);
        MPI_Waitall(7, req, MPI_STATUSES_IGNORE);
        CHECK(token == left);
        for (int i = 0; i <= rank; i++)
            CHECK(got[i] == mine[i]);
        for (int r = 0; r < size; r++)
            for (int i = 0; i <= r; i++)
                CHECK(ag[displs[r] + i] == r * 10 + i && (rank != root || g[displs[r] + i] == r * 10 + i));
        for (int p = 0; p < size; p++)
            for (int i = 0; i <= rank; i++)
                CHECK(in[rdispls[p] + i] == p * 100 + rank * 10 + i && win[rdispls[p] + i] == in[rdispls[p] + i]);
    }
    free(counts), free(ones), free(mine), free(got), free(g), free(ag), free(out), free(in), free(win), free(types);
    say(rank, "ivectors: ok");
    MPI_Finalize();
    return 0;
}
