/* MPI_THREAD_MULTIPLE: three threads of two ranks exchange with the same thread of the other rank, each after
   having slept, rank 0 longer than rank 1. Each writes down when it called and when that returned, with the tag that says
   which thread it is; tag 9 stands for the other calls of the first thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 3, ROUNDS = 25 };

static int rank;
static MPI_Comm own[THREADS];
static double from[THREADS][ROUNDS], to[THREADS][ROUNDS];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static void *work(void *arg) {
    int me = (int)(size_t)arg;
    struct timespec t = {0, (rank ? 1000000 : 4000000) + 700000 * me};
    for (int i = 0; i < ROUNDS; i++) {
        int in;
        nanosleep(&t, NULL);
        from[me][i] = now();
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, me, &in, 1, MPI_INT, 1 - rank, me, own[me], MPI_STATUS_IGNORE);
        to[me][i] = now();
        if (in != i)
            abort();
    }
    return NULL;
}

int main(int argc, char **argv) {
    double at[4];
    char name[32];
    int provided;
    pthread_t threads[THREADS];

    at[0] = now();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    at[1] = now();
    for (int i = 1; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(size_t)i))
            abort();
    work(NULL);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    at[2] = now();
    MPI_Finalize();
    at[3] = now();
    sprintf(name, "truth.%d", rank);
    FILE *f = fopen(name, "w");
    for (int me = 0; me < THREADS; me++)
        for (int i = 0; i < ROUNDS; i++)
            fprintf(f, "%d %.0f %.0f\n", me, from[me][i], to[me][i]);
    fprintf(f, "9 %.0f %.0f\n9 %.0f %.0f\n", at[0], at[1], at[2], at[3]);
    return fclose(f);
}
