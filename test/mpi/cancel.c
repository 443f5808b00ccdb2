// Cancelled receives, Test_cancelled, Request_free of an active send, and a receive that was matched before its cancel.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, flag, in = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status st;

    for (int i = 0; i < 5; i++) { // nobody sends with these tags
        MPI_Request req;
        MPI_Irecv(&in, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, 100 + i, MPI_COMM_WORLD, &req);
        MPI_Cancel(&req);
        CHECK(req != MPI_REQUEST_NULL);
        MPI_Wait(&req, &st);
        MPI_Test_cancelled(&st, &flag);
        CHECK(flag && in == -1);
    }
    MPI_Request pair[2];
    MPI_Irecv(&in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &pair[0]);
    MPI_Irecv(&in, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &pair[1]);
    int out = rank;
    MPI_Sendrecv(&out, 1, MPI_INT, right, 1, NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&pair[0], &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(!flag && in == left);
    MPI_Cancel(&pair[1]);
    MPI_Status sts[2];
    MPI_Waitall(2, pair, sts);
    MPI_Test_cancelled(&sts[1], &flag);
    CHECK(flag);

    // A send whose request is given up at once; the answer tells that it went out.
    int answer;
    MPI_Request req;
    MPI_Isend(&out, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &req);
    MPI_Request_free(&req);
    CHECK(req == MPI_REQUEST_NULL);
    MPI_Recv(&in, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&in, 1, MPI_INT, left, 8, &answer, 1, MPI_INT, right, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(answer == rank);

    // A persistent receive that is started, cancelled, and started again.
    MPI_Recv_init(&in, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &req);
    MPI_Start(&req);
    MPI_Cancel(&req);
    MPI_Wait(&req, &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(flag && req != MPI_REQUEST_NULL);
    MPI_Barrier(MPI_COMM_WORLD); // no neighbour sends before this
    MPI_Start(&req);
    MPI_Send(&out, 1, MPI_INT, right, 9, MPI_COMM_WORLD);
    MPI_Wait(&req, &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(!flag && in == left);
    MPI_Request_free(&req);
    say(rank, "cancel: ok");
    MPI_Finalize();
    return 0;
}
