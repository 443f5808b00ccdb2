// A wait for all requests that fails for one leaves others under way (MPI_ERR_PENDING), and they are waited for again.
// After a barrier, with receives by name and from anybody. Open MPI returns before the other message is sent, MPICH when it is there.
// ranks: 2
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static void receive(int rank, int any, int size) {
    int a[8] = {0}, b[8];
    MPI_Request q[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[3];
    if (rank == 0) {
        OK(MPI_Send(a, 8, MPI_INT, 1, 5, MPI_COMM_WORLD));
#ifdef OPEN_MPI
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Send(a, size, MPI_INT, 1, 6, MPI_COMM_WORLD));
#else
        OK(MPI_Send(a, size, MPI_INT, 1, 6, MPI_COMM_WORLD));
        OK(MPI_Barrier(MPI_COMM_WORLD));
#endif
        return;
    }
    OK(MPI_Irecv(b, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, &q[0])); // too short
    OK(MPI_Irecv(b + 4, 4, MPI_INT, any ? MPI_ANY_SOURCE : 0, any ? MPI_ANY_TAG : 6, MPI_COMM_WORLD, &q[2]));
    CHECK(MPI_Waitall(3, q, s) == MPI_ERR_IN_STATUS);
    CHECK(s[2].MPI_ERROR == MPI_ERR_PENDING && q[2] != MPI_REQUEST_NULL && q[0] == MPI_REQUEST_NULL);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Waitall(3, q, s));
    CHECK(s[2].MPI_SOURCE == 0 && s[2].MPI_TAG == 6);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 4; i++)
        receive(rank, i & 1, 1 + i);
    MPI_Finalize();
    return 0;
}
