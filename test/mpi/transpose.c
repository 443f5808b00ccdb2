// A square grid of ranks: each exchanges with its transposed place, and with torus neighbours in row and column.
// ranks: 1 4 9
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, side = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while ((side + 1) * (side + 1) <= size)
        side++;
    CHECK(side * side == size);
    int row = rank / side, col = rank % side, partner = col * side + row;
    double block[100], other[100];
    for (int step = 0; step < 8; step++) {
        int n = 10 + 5 * row + col, m = 10 + 5 * col + row, count; // sizes depend on the place
        for (int i = 0; i < n; i++)
            block[i] = rank + step * i;
        MPI_Request req;
        MPI_Status st;
        MPI_Irecv(other, 100, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &req);
        MPI_Send(block, n, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD);
        MPI_Wait(&req, &st);
        MPI_Get_count(&st, MPI_DOUBLE, &count);
        CHECK(count == m && other[m - 1] == partner + step * (m - 1));
        int across[4] = {row * side + (col + 1) % side, row * side + (col + side - 1) % side,
                         (row + 1) % side * side + col, (row + side - 1) % side * side + col};
        for (int d = 0; d < 4; d++) {
            int in = -1;
            MPI_Sendrecv(&rank, 1, MPI_INT, across[d], 10 + d, &in, 1, MPI_INT, across[d ^ 1], 10 + d, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            CHECK(in == across[d ^ 1]);
        }
    }
    say(rank, "transpose: %d x %d", side, side);
    MPI_Finalize();
    return 0;
}
