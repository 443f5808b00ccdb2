// The send modes: synchronous, ready and buffered, blocking and not, and the attached buffer they use.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { N = 6 };

int main(int argc, char **argv) {
    int rank, size, bytes, packed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int in[N], out[N];
    for (int i = 0; i < N; i++)
        out[i] = rank * 10 + i;

    MPI_Pack_size(2, MPI_INT, MPI_COMM_WORLD, &packed);
    bytes = 2 * (packed + MPI_BSEND_OVERHEAD);
    char *pool = malloc(bytes), *back;
    CHECK(pool);
    MPI_Buffer_attach(pool, bytes);
    for (int round = 0; round < 10; round++) {
        MPI_Request req[2 * N];
        for (int i = 0; i < N; i++) {
            in[i] = -1;
            MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &req[i]);
        }
        MPI_Barrier(MPI_COMM_WORLD); // all receives are posted: ready sends are allowed
        MPI_Ssend(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD);
        MPI_Rsend(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Bsend(&out[2], 1, MPI_INT, right, 2, MPI_COMM_WORLD);
        MPI_Issend(&out[3], 1, MPI_INT, right, 3, MPI_COMM_WORLD, &req[N]);
        MPI_Irsend(&out[4], 1, MPI_INT, right, 4, MPI_COMM_WORLD, &req[N + 1]);
        MPI_Ibsend(&out[5], 1, MPI_INT, right, 5, MPI_COMM_WORLD, &req[N + 2]);
        MPI_Waitall(N + 3, req, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++)
            CHECK(in[i] == left * 10 + i);
        // Detaching waits until the buffered messages are gone.
        MPI_Buffer_detach(&back, &bytes);
        CHECK(back == pool);
        MPI_Buffer_attach(pool, bytes);
    }
    MPI_Buffer_detach(&back, &bytes);
    free(pool);
    say(rank, "sendmodes: ok");
    MPI_Finalize();
    return 0;
}
