// Cartesian topologies: Dims_create, a periodic grid, shifts, rows and columns, and an exchange along each dimension.
// ranks: 1 2 4 6 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, kind, ndims, me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], gdims[2], gperiods[2], gcoords[2];
    MPI_Dims_create(size, 2, dims);
    CHECK(dims[0] * dims[1] == size && dims[0] >= dims[1]);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &kind);
    MPI_Cartdim_get(grid, &ndims);
    CHECK(kind == MPI_CART && ndims == 2);
    MPI_Topo_test(MPI_COMM_WORLD, &kind);
    CHECK(kind == MPI_UNDEFINED);
    MPI_Comm_rank(grid, &me);
    MPI_Cart_coords(grid, me, 2, coords);
    CHECK(coords[0] == me / dims[1] && coords[1] == me % dims[1]);
    MPI_Cart_get(grid, 2, gdims, gperiods, gcoords);
    CHECK(gdims[0] == dims[0] && !gperiods[1] && gperiods[0] && gcoords[1] == coords[1]);
    int wrapped[2] = {coords[0] + dims[0], coords[1]}, back;
    MPI_Cart_rank(grid, wrapped, &back);
    CHECK(back == me);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &back);
    CHECK(back >= 0 && back < size);

    for (int d = 0; d < 2; d++) {
        int low, high, in = -1;
        MPI_Cart_shift(grid, d, 1, &low, &high);
        if (d == 1 && coords[1] == 0)
            CHECK(low == MPI_PROC_NULL);
        MPI_Sendrecv(&me, 1, MPI_INT, high, d, &in, 1, MPI_INT, low, d, grid, MPI_STATUS_IGNORE);
        CHECK(in == (low == MPI_PROC_NULL ? -1 : low));
    }
    int keep_rows[2] = {0, 1}, keep_cols[2] = {1, 0}, sum;
    MPI_Comm row, col;
    MPI_Cart_sub(grid, keep_rows, &row);
    MPI_Cart_sub(grid, keep_cols, &col);
    MPI_Allreduce(&coords[1], &sum, 1, MPI_INT, MPI_SUM, row);
    CHECK(sum == dims[1] * (dims[1] - 1) / 2);
    MPI_Allreduce(&coords[0], &sum, 1, MPI_INT, MPI_SUM, col);
    CHECK(sum == dims[0] * (dims[0] - 1) / 2);
    MPI_Comm_free(&row);
    MPI_Comm_free(&col);

    // A smaller grid leaves some ranks out.
    int line = (size + 1) / 2, open = 0;
    MPI_Comm part;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &line, &open, 1, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Barrier(part);
        MPI_Comm_free(&part);
    }
    MPI_Comm_free(&grid);
    say(rank, "cart: %d x %d", dims[0], dims[1]);
    MPI_Finalize();
    return 0;
}
