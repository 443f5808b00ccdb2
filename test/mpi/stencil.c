// A one-dimensional halo exchange: a loop of Irecv, Isend, Waitall and a residual by Allreduce.
// ranks: 1 2 4 7
// mpi: mpich openmpi
// args: 50
#include "check.h"
#include <math.h>
#include <mpi.h>

enum { CELLS = 64 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = argc > 1 ? atoi(argv[1]) : 50;
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    double *u = calloc(CELLS + 2, sizeof *u), *v = calloc(CELLS + 2, sizeof *v);
    CHECK(u && v);
    if (rank == 0)
        u[0] = v[0] = 1; // the hot end
    double first = 0, change = 0;
    for (int s = 0; s < steps; s++) {
        MPI_Request req[4];
        MPI_Irecv(&u[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &req[0]);
        MPI_Irecv(&u[CELLS + 1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &req[1]);
        MPI_Isend(&u[CELLS], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &req[2]);
        MPI_Isend(&u[1], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &req[3]);
        MPI_Waitall(4, req, MPI_STATUSES_IGNORE);

        double mine = 0;
        for (int i = 1; i <= CELLS; i++) {
            v[i] = 0.5 * u[i] + 0.25 * (u[i - 1] + u[i + 1]);
            mine += fabs(v[i] - u[i]);
        }
        memcpy(&u[1], &v[1], CELLS * sizeof *u);
        MPI_Allreduce(&mine, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (s == 0)
            first = change;
    }
    CHECK(steps < 2 || change < first);
    if (rank == 0)
        CHECK(u[1] > 0 && u[1] < 1);
    say(rank, "stencil: %d steps, change %.6f", steps, change);
    free(u);
    free(v);
    MPI_Finalize();
    return 0;
}
