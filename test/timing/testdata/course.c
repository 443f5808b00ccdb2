/* Programs with a known course of time: course MODE ITERATIONS MS. Ranks sleep for MS, exchange halos, sleep for half of that, and end each
   iteration with a reduction. The mode says which of them take longer:
   slow      the last rank in one iteration, by 20 × MS
   step      rank 1 from the middle on, by MS
   both      both of that, with a call that the compiler may make from two places
   period    all ranks in every 20th iteration, which write a file
   adapt     all ranks in every 5th iteration, which exchange more halos
   nest      all ranks after every 20 iterations of an inner loop */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size, iterations;
static double base;
static const char *mode;

static void compute(double ms) {
    struct timespec t = {(long)(ms / 1000), (long)((ms - 1000 * (long)(ms / 1000)) * 1e6)};
    nanosleep(&t, NULL);
}

static void halo(void) {
    double a = 1, b = 2, x, y;
    MPI_Request q[4];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Irecv(&x, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, q);
    MPI_Irecv(&y, 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, q + 1);
    MPI_Isend(&a, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, q + 2);
    MPI_Isend(&b, 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, q + 3);
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
}

static void reduce(void) {
    double x = 1, sum;
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void output(void) {
    double x = 1, sum;
    compute(3 * base);
    MPI_Reduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static int is(const char *name) { return !strcmp(mode, name); }

static void step(int i) {
    double first = base;
    int both = is("both");
    if ((is("slow") || both) && rank == size - 1 && i == iterations * 7 / 10)
        first += 20 * base;
    if ((is("step") || both) && rank == 1 && i >= iterations / 2)
        first += base;
    if (both) {
        compute(first);
        if (rank == size - 1 && i == iterations * 7 / 10)
            reduce();
        else
            reduce();
        return;
    }
    compute(first);
    halo();
    if (is("period") && i % 20 == 19)
        output();
    if (is("adapt") && i % 5 == 4)
        for (int k = 0; k < 3; k++) {
            compute(base);
            halo();
        }
    compute(base / 2);
    reduce();
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mode = argv[1];
    iterations = atoi(argv[2]);
    base = atof(argv[3]);
    for (int i = 0; i < iterations; i++) {
        step(i);
        if (is("nest") && i % 20 == 19)
            output();
    }
    MPI_Finalize();
    return 0;
}
