// Persistent requests in a loop: Send_init, Recv_init, Ssend_init, Bsend_init, Rsend_init, Start, Startall.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { LAPS = 25 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    char pool[4096];
    MPI_Buffer_attach(pool, sizeof pool);
    int out[4], in[4];
    MPI_Request req[8];
    for (int i = 0; i < 4; i++)
        MPI_Recv_init(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &req[i]);
    MPI_Send_init(&out[0], 1, MPI_INT, right, 0, MPI_COMM_WORLD, &req[4]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, right, 1, MPI_COMM_WORLD, &req[5]);
    MPI_Bsend_init(&out[2], 1, MPI_INT, right, 2, MPI_COMM_WORLD, &req[6]);
    MPI_Rsend_init(&out[3], 1, MPI_INT, right, 3, MPI_COMM_WORLD, &req[7]);

    for (int lap = 0; lap < LAPS; lap++) {
        for (int i = 0; i < 4; i++)
            out[i] = rank * 1000 + lap * 4 + i;
        MPI_Startall(4, req);
        MPI_Barrier(MPI_COMM_WORLD); // the ready send needs its receive posted
        for (int i = 4; i < 8; i++)
            MPI_Start(&req[i]);
        if (lap % 2) {
            MPI_Waitall(8, req, MPI_STATUSES_IGNORE);
        } else {
            MPI_Status st;
            for (int i = 0; i < 8; i++) {
                MPI_Wait(&req[i], &st);
                CHECK(i >= 4 || (st.MPI_SOURCE == left && st.MPI_TAG == i));
            }
        }
        for (int i = 0; i < 4; i++)
            CHECK(in[i] == left * 1000 + lap * 4 + i);
    }
    // An inactive persistent request is complete at once, with an empty status.
    MPI_Status st;
    int flag = 0;
    MPI_Test(&req[0], &flag, &st);
    CHECK(flag && req[0] != MPI_REQUEST_NULL && st.MPI_SOURCE == MPI_ANY_SOURCE);
    for (int i = 0; i < 8; i++) {
        MPI_Request_free(&req[i]);
        CHECK(req[i] == MPI_REQUEST_NULL);
    }
    void *back;
    int bytes;
    MPI_Buffer_detach(&back, &bytes);
    CHECK(back == pool && bytes == sizeof pool);
    say(rank, "persistent: %d laps", LAPS);
    MPI_Finalize();
    return 0;
}
