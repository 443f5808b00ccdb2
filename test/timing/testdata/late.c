/* Ranks that compute differently long, in two places: even ranks come 30 ms late to each barrier, and each
   rank works a little more than the one before it ahead of each reduction. Every rank measures what it computed and how long it
   waited, and writes that down: how long all of it took, the sums of both places,
   and what it computed ahead of each barrier. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#define ROUNDS 8

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

/* What went by since the clock was read last: it is read once between two stretches, so that nothing falls between them. */
static double since(double *at) {
    double was = *at;
    *at = now();
    return *at - was;
}

static void compute(long us) {
    struct timespec t = {0, us * 1000};
    nanosleep(&t, NULL);
}

int main(int argc, char **argv) {
    double at, began, span, each[ROUNDS], work[2] = {0, 0}, wait[2] = {0, 0}, sum;
    char name[64];
    int rank, i;
    FILE *f;

    MPI_Init(&argc, &argv);
    began = now();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (at = began, i = 0; i < ROUNDS; i++) {
        compute(rank % 2 ? 2000 : 32000);
        work[0] += each[i] = since(&at);
        MPI_Barrier(MPI_COMM_WORLD);
        wait[0] += since(&at);
        compute(4000 + 2000 * rank);
        work[1] += since(&at);
        MPI_Allreduce(work, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        wait[1] += since(&at);
    }
    span = at - began;
    MPI_Finalize();
    sprintf(name, "rank%d.txt", rank);
    f = fopen(name, "w");
    fprintf(f, "%.0f %.0f %.0f %.0f %.0f", span, work[0], wait[0], work[1], wait[1]);
    for (i = 0; i < ROUNDS; i++)
        fprintf(f, " %.0f", each[i]);
    fprintf(f, "\n");
    return fclose(f);
}
