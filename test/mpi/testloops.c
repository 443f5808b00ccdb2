// Polling: loops over Test, Testall, Testany, Testsome and Request_get_status until the requests are done.
// ranks: 1 2 4 7
// mpi: mpich openmpi
// nondet: how often a test says no, and what completes together
#include "check.h"
#include <mpi.h>

enum { N = 6 };

static int rank, size, in[N], out[N];
static MPI_Request req[2 * N];

static void post(int round) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        out[i] = rank * 100 + round * 10 + i;
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &req[i]);
    }
    for (int i = 0; i < N; i++)
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &req[N + i]);
}

static void verify(int round) {
    int left = (rank + size - 1) % size;
    for (int i = 0; i < N; i++)
        CHECK(in[i] == left * 100 + round * 10 + i);
    for (int i = 0; i < 2 * N; i++)
        CHECK(req[i] == MPI_REQUEST_NULL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int flag, at, count, index[2 * N];
    MPI_Status st, sts[2 * N];

    post(0);
    for (int i = 0; i < 2 * N; i++)
        for (flag = 0; !flag;)
            MPI_Test(&req[i], &flag, &st);
    verify(0);

    post(1);
    for (flag = 0; !flag;)
        MPI_Testall(2 * N, req, &flag, sts);
    verify(1);
    CHECK(sts[0].MPI_TAG == 0 && sts[N - 1].MPI_TAG == N - 1);

    post(2);
    for (int left = 2 * N; left > 0;) {
        MPI_Testany(2 * N, req, &at, &flag, &st);
        if (flag) {
            CHECK(at != MPI_UNDEFINED);
            left--;
        }
    }
    verify(2);
    MPI_Testany(2 * N, req, &at, &flag, &st);
    CHECK(flag && at == MPI_UNDEFINED);

    post(3);
    for (int left = 2 * N; left > 0; left -= count)
        MPI_Testsome(2 * N, req, &count, index, sts);
    verify(3);
    MPI_Testsome(2 * N, req, &count, index, MPI_STATUSES_IGNORE);
    CHECK(count == MPI_UNDEFINED);

    // Request_get_status tells, but leaves the request alive.
    post(4);
    for (int i = 0; i < 2 * N; i++) {
        for (flag = 0; !flag;)
            MPI_Request_get_status(req[i], &flag, i % 2 ? &st : MPI_STATUS_IGNORE);
        CHECK(req[i] != MPI_REQUEST_NULL);
        MPI_Test(&req[i], &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
    }
    verify(4);

    say(rank, "testloops: ok");
    MPI_Finalize();
    return 0;
}
