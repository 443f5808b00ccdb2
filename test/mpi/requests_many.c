// Thousands of outstanding requests, small ones that complete at once and share handles, finished in several orders.
// ranks: 1 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { N = 2000 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request *req = malloc(2 * N * sizeof *req);
    int *in = malloc(N * sizeof *in), *out = malloc(N * sizeof *out);
    CHECK(req && in && out);
    for (int order = 0; order < 3; order++) {
        for (int i = 0; i < N; i++) {
            in[i] = -1;
            out[i] = rank * N + i + order;
            MPI_Isend(&out[i], 1, MPI_INT, right, i % 50, MPI_COMM_WORLD, &req[2 * i]); // often complete already
            MPI_Irecv(&in[i], 1, MPI_INT, left, i % 50, MPI_COMM_WORLD, &req[2 * i + 1]);
        }
        if (order == 0)
            MPI_Waitall(2 * N, req, MPI_STATUSES_IGNORE);
        else if (order == 1)
            for (int i = 2 * N - 1; i >= 0; i--)
                MPI_Wait(&req[i], MPI_STATUS_IGNORE);
        else // sends first, then receives with a stride that visits all
            for (int i = 0; i < 2 * N; i++)
                MPI_Wait(&req[i < N ? 2 * i : 2 * ((i - N) * 7 % N) + 1], MPI_STATUS_IGNORE);
        for (int i = 0; i < 2 * N; i++)
            CHECK(req[i] == MPI_REQUEST_NULL);
        for (int i = 0; i < N; i++)
            CHECK(in[i] == left * N + i + order);
    }
    free(req), free(in), free(out);
    say(rank, "requests_many: %d requests", 2 * N);
    MPI_Finalize();
    return 0;
}
