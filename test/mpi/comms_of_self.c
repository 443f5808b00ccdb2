// Communicators made of MPI_COMM_SELF, after one of MPI_COMM_WORLD: duplicates, one of a duplicate, an intercommunicator of two and what it merges to.
// ranks: 2
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    MPI_Comm all, mine, again, between, merged;
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_dup(MPI_COMM_SELF, &mine);
    MPI_Comm_dup(mine, &again);
    MPI_Barrier(all);
    MPI_Barrier(again);
    MPI_Comm_size(again, &size);
    CHECK(size == 1);

    MPI_Intercomm_create(mine, 0, all, 1 - rank, 3, &between);
    MPI_Intercomm_merge(between, rank, &merged);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == 1);

    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&again);
    MPI_Comm_free(&mine);
    MPI_Comm_free(&all);
    MPI_Finalize();
    return 0;
}
