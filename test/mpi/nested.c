// Loops five deep with calls at every level, trip counts that depend on outer loops, and calls through functions.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int rank, size, right, left, calls;

static int ring(int value, int tag) {
    int in;
    MPI_Sendrecv(&value, 1, MPI_INT, right, tag, &in, 1, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    calls++;
    return in;
}

static void inner(int i, int j) {
    for (int k = 0; k <= j; k++) {
        CHECK(ring(rank + k, 3) == left + k);
        for (int l = 0; l < 2; l++) {
            CHECK(ring(l, 4) == l);
            if ((i + k) % 3 == 0)
                for (int m = 0; m < i % 2 + 1; m++)
                    CHECK(ring(m, 5) == m);
        }
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < 4; i++) {
        int root = i % size;
        MPI_Bcast(&root, 1, MPI_INT, root, MPI_COMM_WORLD);
        for (int j = 0; j < 3; j++) {
            CHECK(ring(j, 2) == j);
            inner(i, j);
        }
    }
    int most;
    MPI_Allreduce(&calls, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(most == calls);
    say(rank, "nested: %d exchanges", calls);
    MPI_Finalize();
    return 0;
}
