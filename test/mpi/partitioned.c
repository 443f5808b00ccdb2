// Partitioned communication (MPI-4): Psend_init, Precv_init, Pready in its three forms, Parrived.
// ranks: 2 4
// mpi: mpich openmpi>=5.0
// nondet: how often Parrived says no
#include "check.h"
#include <mpi.h>

enum { PARTS = 6, EACH = 16, LAPS = 5 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int *out = malloc(PARTS * EACH * sizeof *out), *in = malloc(PARTS * EACH * sizeof *in);
    CHECK(out && in);
    MPI_Request req[2];
    MPI_Psend_init(out, PARTS, EACH, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &req[0]);
    MPI_Precv_init(in, PARTS, EACH, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &req[1]);
    for (int lap = 0; lap < LAPS; lap++) {
        MPI_Startall(2, req);
        for (int i = 0; i < PARTS * EACH; i++)
            out[i] = rank * 10000 + lap * 1000 + i;
        int list[2] = {5, 0};
        MPI_Pready(3, req[0]);
        MPI_Pready_range(1, 2, req[0]);
        MPI_Pready_list(2, list, req[0]);
        MPI_Pready(4, req[0]);
        for (int p = 0; p < PARTS; p++)
            for (int here = 0; !here;)
                MPI_Parrived(req[1], p, &here);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        for (int i = 0; i < PARTS * EACH; i++)
            CHECK(in[i] == left * 10000 + lap * 1000 + i);
    }
    MPI_Request_free(&req[0]);
    MPI_Request_free(&req[1]);
    free(out);
    free(in);
    say(rank, "partitioned: %d laps", LAPS);
    MPI_Finalize();
    return 0;
}
