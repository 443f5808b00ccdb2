// Ranks that differ: a binomial tree by hand, loops whose length is the rank, and a rank that does much more.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int rank, size;

static int tree_sum(int value) { // the binomial tree towards rank 0
    for (int mask = 1; mask < size; mask *= 2) {
        if (rank & mask) {
            MPI_Send(&value, 1, MPI_INT, rank - mask, 0, MPI_COMM_WORLD);
            return 0;
        }
        if (rank + mask < size) {
            int part;
            MPI_Recv(&part, 1, MPI_INT, rank + mask, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            value += part;
        }
    }
    return value;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++) {
        int sum = tree_sum(rank + i);
        CHECK(rank != 0 || sum == size * (size - 1) / 2 + size * i);
    }
    // Rank r sends r messages of growing length to rank 0, which takes them in order of rank.
    int data[16];
    if (rank == 0) {
        for (int r = 1; r < size; r++)
            for (int i = 0; i < r; i++) {
                MPI_Status st;
                int count;
                MPI_Recv(data, 16, MPI_INT, r, 5, MPI_COMM_WORLD, &st);
                MPI_Get_count(&st, MPI_INT, &count);
                CHECK(count == i + 1 && data[i] == r);
            }
    } else {
        for (int i = 0; i < rank; i++) {
            data[i] = rank;
            MPI_Send(data, i + 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        }
    }
    if (rank == size - 1)
        for (int i = 0; i < 30; i++)
            MPI_Sendrecv(&i, 1, MPI_INT, 0, i, data, 1, MPI_INT, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    say(rank, "uneven: ok");
    MPI_Finalize();
    return 0;
}
