/* Two reductions that a program comes to from many places, each time after another computation: MPI_Allreduce after 12 call
   sites, MPI_Reduce after 20, which is more than the recorder tells apart. Each rank writes down what it computed before each. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double took[2][40];
static int n[2], rank, dummy, sum;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void compute(int which) {
    double at = now();
    struct timespec t = {0, n[which] % 2 ? 8000000 : 1000000};
    nanosleep(&t, NULL);
    took[which][n[which]++] = now() - at;
}

static __attribute__((noinline)) void allreduce(void) {
    compute(0);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void reduce(void) {
    compute(1);
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

#define FROM(after) \
    MPI_Comm_size(MPI_COMM_WORLD, &dummy); \
    after()
#define FOUR(after) FROM(after); FROM(after); FROM(after); FROM(after)

int main(int argc, char **argv) {
    char name[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FOUR(allreduce); FOUR(allreduce); FOUR(allreduce);
    MPI_Barrier(MPI_COMM_WORLD);
    FOUR(reduce); FOUR(reduce); FOUR(reduce); FOUR(reduce); FOUR(reduce);
    MPI_Finalize();
    sprintf(name, "truth.%d", rank);
    FILE *f = fopen(name, "w");
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < n[which]; i++)
            fprintf(f, "%d.%d 1 %.9f\n", which, i, took[which][i]);
    return fclose(f);
}
