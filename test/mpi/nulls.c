// Calls on nothing: MPI_PROC_NULL partners, MPI_REQUEST_NULL in every completion call, zero counts, NULL buffers.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, count, flag, at, index[3];
    MPI_Status st, sts[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int x = 5;
    MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_INT, &count);
    CHECK(x == 5 && st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG && count == 0);
    MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &st);
    CHECK(st.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Request req[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &req[0]);
    MPI_Irecv(&x, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &req[2]);
    MPI_Waitall(3, req, sts); // a null request between two live ones
    // (MPICH 4.0 gives the nonblocking receive one shared request whose status doesn't say MPI_PROC_NULL.)
    MPI_Get_count(&sts[2], MPI_INT, &count);
    CHECK(count == 0 && sts[1].MPI_SOURCE == MPI_ANY_SOURCE);

    // Every completion call on null requests, on none at all, with and without statuses.
    for (int n = 0; n <= 3; n += 3) {
        MPI_Waitall(n, req, sts);
        MPI_Waitall(n, req, MPI_STATUSES_IGNORE);
        MPI_Waitany(n, req, &at, &st);
        CHECK(at == MPI_UNDEFINED);
        MPI_Waitsome(n, req, &count, index, sts);
        CHECK(count == MPI_UNDEFINED);
        MPI_Testall(n, req, &flag, MPI_STATUSES_IGNORE);
        CHECK(flag);
        MPI_Testany(n, req, &at, &flag, MPI_STATUS_IGNORE);
        CHECK(flag && at == MPI_UNDEFINED);
        MPI_Testsome(n, req, &count, index, MPI_STATUSES_IGNORE);
        CHECK(count == MPI_UNDEFINED);
    }
    MPI_Wait(&req[0], &st);
    CHECK(st.MPI_SOURCE == MPI_ANY_SOURCE && st.MPI_TAG == MPI_ANY_TAG);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    MPI_Test(&req[0], &flag, &st);
    CHECK(flag);
    MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &st);
    CHECK(flag);

    // Empty messages with a NULL buffer travel like any other.
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(NULL, 0, MPI_INT, right, 9, NULL, 0, MPI_INT, left, 9, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_INT, &count);
    CHECK(st.MPI_SOURCE == left && st.MPI_TAG == 9 && count == 0);
    MPI_Bcast(NULL, 0, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    say(rank, "nulls: ok");
    MPI_Finalize();
    return 0;
}
