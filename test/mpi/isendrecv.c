// Nonblocking Sendrecv (MPI-4): Isendrecv, Isendrecv_replace, several outstanding at once.
// ranks: 1 2 4 7
// mpi: mpich openmpi>=5.0
#include "check.h"
#include <mpi.h>

enum { N = 8 };

int main(int argc, char **argv) {
    int rank, size, out[N], in[N], turn[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request req[2 * N];
    MPI_Status st[2 * N];
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N; i++) {
            out[i] = turn[i] = rank * 100 + round * 10 + i;
            MPI_Isendrecv(&out[i], 1, MPI_INT, right, i, &in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &req[i]);
            MPI_Isendrecv_replace(&turn[i], 1, MPI_INT, left, N + i, right, N + i, MPI_COMM_WORLD, &req[N + i]);
        }
        MPI_Waitall(2 * N, req, st);
        for (int i = 0; i < N; i++) {
            CHECK(in[i] == left * 100 + round * 10 + i);
            CHECK(turn[i] == right * 100 + round * 10 + i);
        }
    }
    say(rank, "isendrecv: ok");
    MPI_Finalize();
    return 0;
}
