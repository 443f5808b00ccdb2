// Inner loops that run once more, or less, in each round of the outer one.
// As in factorisations and sorting networks; the same again and again, two in turn, and in steps of three.
// The argument is how many rounds there are.
// ranks: 1 2 3
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int rank, size, word[2];

static void exchange(void) {
    MPI_Request both[2];
    MPI_Isend(&word[0], 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &both[0]);
    MPI_Irecv(&word[1], 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    CHECK(word[1] == (rank + size - 1) % size);
}

static void norm(void) {
    double one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == size);
}

static void growing(int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            exchange();
        norm();
    }
}

static void shrinking(int n) {
    for (int i = n; i > 0; i--) {
        MPI_Bcast(&word[0], 0, MPI_INT, 0, MPI_COMM_WORLD);
        for (int j = 0; j < i; j++)
            exchange();
    }
}

static void repeated(int n) {
    for (int k = 0; k < 4; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 1; i <= n; i++) {
            norm();
            for (int j = 0; j < i; j++)
                MPI_Sendrecv(&word[0], 1, MPI_INT, (rank + 1) % size, 4, &word[1], 1, MPI_INT, (rank + size - 1) % size, 4, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        }
    }
}

static void side_by_side(int n) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < 3 * i; j++)
            MPI_Barrier(MPI_COMM_WORLD);
        norm();
        for (int j = i; j < n; j++)
            exchange();
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    word[0] = rank;
    growing(n);
    shrinking(n);
    repeated(n);
    side_by_side(n);
    say(rank, "triangles of %d rounds on %d ranks", n, size);
    MPI_Finalize();
    return 0;
}
