// Intercommunicators: Intercomm_create, traffic and collectives across, Intercomm_merge.
// ranks: 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, flag, n, me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int side = rank % 2, others = side ? (size + 1) / 2 : size / 2;
    MPI_Comm half, inter, both, dup;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 12, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &n);
    MPI_Comm_rank(inter, &me);
    CHECK(flag && n == others && me == rank / 2);
    MPI_Group remote;
    MPI_Comm_remote_group(inter, &remote);
    MPI_Group_size(remote, &n);
    CHECK(n == others);
    MPI_Group_free(&remote);

    // Ranks in an intercommunicator are those of the other side.
    if (me < others && me < size / 2) {
        int in = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, me, 0, &in, 1, MPI_INT, me, 0, inter, MPI_STATUS_IGNORE);
        CHECK(in == (side ? rank - 1 : rank + 1));
    }
    MPI_Comm_dup(inter, &dup);
    int word = rank + 100, sum = -1, root = side ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&word, 1, MPI_INT, root, dup); // from rank 0 of the even side to the odd side
    CHECK(word == (side ? 100 : rank + 100));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup); // each side gets the other's sum
    int evens = 0, odds = 0;
    for (int i = 0; i < size; i++)
        *(i % 2 ? &odds : &evens) += i;
    CHECK(sum == (side ? evens : odds));
    int *all = malloc(size * sizeof *all);
    CHECK(all);
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, root, dup);
    if (root == MPI_ROOT)
        for (int i = 0; i < others; i++)
            CHECK(all[i] == 2 * i + 1);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, dup);
    for (int i = 0; i < others; i++)
        CHECK(all[i] == 2 * i + !side);
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);

    MPI_Intercomm_merge(inter, side, &both); // evens first
    MPI_Comm_rank(both, &me);
    CHECK(me == (side ? (size + 1) / 2 : 0) + rank / 2);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, both);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Comm_free(&both);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    free(all);
    say(rank, "intercomm: ok");
    MPI_Finalize();
    return 0;
}
