// An attribute on MPI_COMM_SELF, whose delete callback MPI_Finalize calls, and which still talks to the other ranks.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int ran;

static int at_finalize(MPI_Comm comm, int key, void *value, void *extra) {
    int rank, size, n, sum;
    (void)key, (void)extra;
    MPI_Comm_size(comm, &n);
    CHECK(n == 1 && value == &ran);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    ran++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int rank, key, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &ran);
    MPI_Comm_free_keyval(&key);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!ran);
    MPI_Finalize();
    CHECK(ran == 1);
    MPI_Finalized(&flag);
    CHECK(flag);
    say(rank, "attr_finalize: ok");
    return 0;
}
