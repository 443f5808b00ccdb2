// Parameters that never repeat: counts that grow, tags from a formula, buffers that move on through an array.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { STEPS = 100 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *out = malloc(STEPS * STEPS * sizeof *out), *in = calloc(STEPS * STEPS, sizeof *in), at = 0;
    CHECK(out && in);
    for (int i = 0; i < STEPS * STEPS; i++)
        out[i] = rank + i;
    for (int i = 1; i < STEPS; i++) {
        int tag = i * i % 101, count;
        MPI_Status st;
        MPI_Sendrecv(out + at, i, MPI_INT, right, tag, in + at, i + 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        MPI_Get_count(&st, MPI_INT, &count);
        CHECK(count == i && st.MPI_TAG == tag && in[at] == left + at && in[at + i - 1] == left + at + i - 1);
        at += i;
    }
    say(rank, "growing: %d numbers", at);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
