// An intercommunicator made from two groups (MPI-4): Intercomm_create_from_groups, in the world model.
// ranks: 2 4
// mpi: mpich openmpi>=5.0
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, n, in = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Group world, low, high;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int first[1][3] = {{0, size / 2 - 1, 1}};
    MPI_Group_range_incl(world, 1, first, &low);
    MPI_Group_range_excl(world, 1, first, &high);
    int below = rank < size / 2;
    MPI_Comm inter;
    OK(MPI_Intercomm_create_from_groups(below ? low : high, 0, below ? high : low, 0, "spoor-test", MPI_INFO_NULL,
                                        MPI_ERRORS_ARE_FATAL, &inter));
    MPI_Comm_remote_size(inter, &n);
    CHECK(n == size / 2);
    int me = below ? rank : rank - size / 2;
    MPI_Sendrecv(&rank, 1, MPI_INT, me, 0, &in, 1, MPI_INT, me, 0, inter, MPI_STATUS_IGNORE);
    CHECK(in == (below ? rank + size / 2 : rank - size / 2));
    MPI_Comm_free(&inter);
    MPI_Group_free(&low);
    MPI_Group_free(&high);
    MPI_Group_free(&world);
    say(rank, "sessions_intercomm: ok");
    MPI_Finalize();
    return 0;
}
