// MPI_THREAD_MULTIPLE: four threads call at once, on communicators of their own and on MPI_COMM_WORLD with own tags.
// ranks: 1 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>
#include <pthread.h>

enum { THREADS = 4, LAPS = 12 };

static int rank, size;
static MPI_Comm own[THREADS];

static void *work(void *arg) {
    int me = (int)(size_t)arg, main_thread, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Is_thread_main(&main_thread);
    CHECK(main_thread == (me == 0));
    for (int lap = 0; lap < LAPS; lap++) {
        int out = rank * 100 + me * 10 + lap % 10, in[2] = {-1, -1}, sum;
        MPI_Request req[2];
        // The same request variables' values, one set per thread, on one shared communicator.
        MPI_Irecv(&in[0], 1, MPI_INT, left, me, MPI_COMM_WORLD, &req[0]);
        MPI_Isend(&out, 1, MPI_INT, right, me, MPI_COMM_WORLD, &req[1]);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        CHECK(in[0] == left * 100 + me * 10 + lap % 10);
        MPI_Sendrecv(&out, 1, MPI_INT, right, 50, &in[1], 1, MPI_INT, left, 50, own[me], MPI_STATUS_IGNORE);
        CHECK(in[1] == in[0]);
        if (lap % (me + 2) == 0) { // threads don't call collectives equally often
            MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, own[me]);
            CHECK(sum == me * size);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Query_thread(&level);
    CHECK(level == provided && provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[t]);
    for (int t = 1; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, work, (void *)(size_t)t) == 0);
    work(NULL); // thread 0 is the main one
    for (int t = 1; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0);
    for (int t = 0; t < THREADS; t++)
        MPI_Comm_free(&own[t]);
    say(rank, "threads: %d threads, %d laps", THREADS, LAPS);
    MPI_Finalize();
    return 0;
}
