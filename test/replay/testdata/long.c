/* Many calls from few places: messages around a ring, tests in between, and a reduction now and then. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size, laps = argc > 1 ? atoi(argv[1]) : 1000;
    static double in[64], out[64];
    double mine = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < laps; i++) {
        MPI_Request r[2];
        int flag;
        MPI_Irecv(in, 64, MPI_DOUBLE, MPI_ANY_SOURCE, i % 100, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(out, 64, MPI_DOUBLE, (rank + 1) % size, i % 100, MPI_COMM_WORLD, &r[1]);
        MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        if (i % 100 == 99)
            MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
