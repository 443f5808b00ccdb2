/* "Computes" for known times, unequally on the ranks, between messages and reductions: asleep, so that it takes as
   long on a machine that others use. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static void compute(double seconds) {
    struct timespec t = {0, (long)(seconds * 1e9)};
    nanosleep(&t, NULL);
}

int main(int argc, char **argv) {
    int rank, size, steps = argc > 1 ? atoi(argv[1]) : 100;
    double in[1000], out[1000] = {0}, sum, mine = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < steps; i++) {
        MPI_Request r[2];
        MPI_Irecv(in, 1000, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[0]);
        compute(0.002);
        MPI_Isend(out, 1000, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD, &r[1]);
        compute(0.001 * (1 + (rank + i) % size)); /* who is late changes from step to step */
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        for (int k = 0; k < 10; k++) { /* short gaps */
            compute(0.00005);
            MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
        if (i % 10 == 9) {
            compute(rank == 0 ? 0.02 : 0.001);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
