// Collectives with a count per rank: Gatherv, Scatterv, Allgatherv, Alltoallv, Alltoallw.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

// Rank r sends (r + p) % 3 numbers to rank p.
static int portion(int r, int p) { return (r + p) % 3; }

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *counts = malloc(size * sizeof(int)), *displs = malloc(size * sizeof(int)), total = 0;
    CHECK(counts && displs);
    for (int i = 0; i < size; i++) { // rank i holds i + 1 numbers, with a hole between neighbours
        counts[i] = i + 1;
        displs[i] = total + i;
        total += i + 1;
    }
    int *all = malloc((total + size) * sizeof(int)), *mine = malloc(size * sizeof(int));
    CHECK(all && mine);
    for (int i = 0; i <= rank; i++)
        mine[i] = rank * 10 + i;

    int root = size - 1;
    // Counts and displacements matter at the root only; elsewhere they may be NULL.
    MPI_Gatherv(mine, rank + 1, MPI_INT, all, rank == root ? counts : NULL, rank == root ? displs : NULL, MPI_INT,
                root, MPI_COMM_WORLD);
    if (rank == root)
        for (int r = 0; r < size; r++)
            for (int i = 0; i < counts[r]; i++)
                CHECK(all[displs[r] + i]++ == r * 10 + i);
    MPI_Scatterv(rank == root ? all : NULL, counts, displs, MPI_INT, mine, rank + 1, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i <= rank; i++)
        CHECK(mine[i] == rank * 10 + i + 1);
    MPI_Allgatherv(mine, rank + 1, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            CHECK(all[displs[r] + i] == r * 10 + i + 1);

    int *rcounts = malloc(size * sizeof(int)), *rdispls = malloc(size * sizeof(int));
    double *out = malloc(3 * size * sizeof *out), *in = malloc(3 * size * sizeof *in);
    MPI_Datatype *types = malloc(size * sizeof *types);
    CHECK(rcounts && rdispls && out && in && types);
    for (int p = 0; p < size; p++) {
        counts[p] = portion(rank, p);
        rcounts[p] = portion(p, rank);
        displs[p] = rdispls[p] = 3 * p;
        for (int i = 0; i < 3; i++)
            out[3 * p + i] = rank * 100 + p * 10 + i;
    }
    for (int form = 0; form < 2; form++) {
        for (int i = 0; i < 3 * size; i++)
            in[i] = -1;
        if (form == 0) {
            MPI_Alltoallv(out, counts, displs, MPI_DOUBLE, in, rcounts, rdispls, MPI_DOUBLE, MPI_COMM_WORLD);
        } else { // displacements in bytes
            for (int p = 0; p < size; p++) {
                displs[p] *= (int)sizeof(double);
                rdispls[p] *= (int)sizeof(double);
                types[p] = MPI_DOUBLE;
            }
            MPI_Alltoallw(out, counts, displs, types, in, rcounts, rdispls, types, MPI_COMM_WORLD);
        }
        for (int p = 0; p < size; p++)
            for (int i = 0; i < 3; i++)
                CHECK(in[3 * p + i] == (i < rcounts[p] ? p * 100 + rank * 10 + i : -1));
    }
    say(rank, "vectors: %d numbers", total);
    free(counts), free(displs), free(all), free(mine);
    free(rcounts), free(rdispls), free(out), free(in), free(types);
    MPI_Finalize();
    return 0;
}
