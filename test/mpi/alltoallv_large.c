// Alltoallv with long counts arrays that differ from step to step, and messages too big to be sent eagerly.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { STEPS = 4, BASE = 20000 };

static int amount(int from, int to, int step) { return (from * 7 + to * 3 + step) % 5 * BASE; }

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *tables = malloc(4 * size * sizeof *tables);
    CHECK(tables);
    int *sc = tables, *sd = sc + size, *rc = sd + size, *rd = rc + size;
    long moved = 0;
    for (int step = 0; step < STEPS; step++) {
        int outs = 0, ins = 0;
        for (int p = 0; p < size; p++) {
            sc[p] = amount(rank, p, step);
            rc[p] = amount(p, rank, step);
            sd[p] = outs, outs += sc[p];
            rd[p] = ins, ins += rc[p];
        }
        int *out = malloc((outs + 1) * sizeof *out), *in = malloc((ins + 1) * sizeof *in);
        CHECK(out && in);
        for (int p = 0; p < size; p++)
            for (int i = 0; i < sc[p]; i++)
                out[sd[p] + i] = rank * 1000 + p;
        MPI_Alltoallv(out, sc, sd, MPI_INT, in, rc, rd, MPI_INT, MPI_COMM_WORLD);
        for (int p = 0; p < size; p++)
            for (int i = 0; i < rc[p]; i++)
                CHECK(in[rd[p] + i] == p * 1000 + rank);
        moved += ins;
        free(out);
        free(in);
    }
    long total;
    MPI_Reduce(&moved, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    say(rank, "alltoallv_large: %ld numbers", total);
    free(tables);
    MPI_Finalize();
    return 0;
}
