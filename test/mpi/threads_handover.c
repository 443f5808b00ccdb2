// Requests started by one thread and completed by another, and a thread born and gone in every step.
// ranks: 1 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>
#include <pthread.h>

enum { STEPS = 10, N = 5 };

static MPI_Request req[2 * N];

static void *finish(void *arg) {
    (void)arg;
    MPI_Waitall(2 * N, req, MPI_STATUSES_IGNORE);
    return NULL;
}

int main(int argc, char **argv) {
    int rank, size, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int step = 0; step < STEPS; step++) {
        int in[N], out[N];
        for (int i = 0; i < N; i++) {
            out[i] = rank * 1000 + step * N + i;
            MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &req[i]);
            MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &req[N + i]);
        }
        pthread_t helper;
        CHECK(pthread_create(&helper, NULL, finish, NULL) == 0);
        CHECK(pthread_join(helper, NULL) == 0);
        for (int i = 0; i < N; i++)
            CHECK(in[i] == left * 1000 + step * N + i);
    }
    say(rank, "threads_handover: %d threads", STEPS);
    MPI_Finalize();
    return 0;
}
