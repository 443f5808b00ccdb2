// Blocking standard sends and receives round a ring: Send, Recv, Sendrecv, Sendrecv_replace, Get_count.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { N = 16, LAPS = 5 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    // A token goes round the ring: rank 0 sends first, the others receive first.
    if (size > 1) {
        for (int lap = 0; lap < LAPS; lap++) {
            int token = lap;
            MPI_Status st;
            if (rank == 0) {
                MPI_Send(&token, 1, MPI_INT, right, lap, MPI_COMM_WORLD);
                MPI_Recv(&token, 1, MPI_INT, left, lap, MPI_COMM_WORLD, &st);
                CHECK(token == lap + size - 1);
            } else {
                MPI_Recv(&token, 1, MPI_INT, left, lap, MPI_COMM_WORLD, &st);
                token++;
                MPI_Send(&token, 1, MPI_INT, right, lap, MPI_COMM_WORLD);
            }
            CHECK(st.MPI_SOURCE == left && st.MPI_TAG == lap);
        }
    }

    // Messages shorter than the buffer: the count comes from the status.
    double out[N], in[N];
    for (int i = 0; i < N; i++) {
        out[i] = rank * 100 + i;
        in[i] = -1;
    }
    MPI_Status st;
    int got;
    MPI_Sendrecv(out, rank + 1, MPI_DOUBLE, right, 7, in, N, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, MPI_DOUBLE, &got);
    CHECK(got == left + 1);
    for (int i = 0; i < got; i++)
        CHECK(in[i] == left * 100 + i);
    CHECK(in[got] == -1);

    int value = rank;
    for (int i = 0; i < size; i++)
        MPI_Sendrecv_replace(&value, 1, MPI_INT, right, i, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == rank);

    say(rank, "sendrecv: %d laps", LAPS);
    MPI_Finalize();
    return 0;
}
