// Heat in a square plate: explicit 5-point stencil on a Cartesian grid of ranks, halos exchanged while the inside is
// computed. The start is an eigenfunction of the discrete Laplacian, so the exact state after any step is known.
#include "apps.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Options o = options(argc, argv, 64, 200); // n: points in a direction, in all
    int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, at[2];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, at);
    int north, south, west, east;
    MPI_Cart_shift(grid, 0, 1, &north, &south);
    MPI_Cart_shift(grid, 1, 1, &west, &east);

    long y0 = part_begin(o.n, dims[0], at[0]), x0 = part_begin(o.n, dims[1], at[1]);
    long h = part_begin(o.n, dims[0], at[0] + 1) - y0, w = part_begin(o.n, dims[1], at[1] + 1) - x0;
    if (h < 1 || w < 1)
        fail("more ranks in a direction than points");
    long row = w + 2;
    double *u = room((h + 2) * row, sizeof *u), *v = room((h + 2) * row, sizeof *v);
    const double step = acos(-1.0) / (double)(o.n + 1), r = 0.2;
    const double decay = 1 - 4 * r * (1 - cos(step)); // of the eigenfunction, per iteration
    for (long i = 1; i <= h; i++)
        for (long j = 1; j <= w; j++)
            u[i * row + j] = sin(step * (double)(y0 + i)) * sin(step * (double)(x0 + j));

    MPI_Datatype column;
    MPI_Type_vector((int)h, 1, (int)row, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);

    long done = 0;
    double heat = 0;
    for (int block = 0; more(&o, block); block++) {
        for (long k = 0; k < o.iterations; k++, done++) {
            MPI_Request req[8];
            MPI_Irecv(u + 1, (int)w, MPI_DOUBLE, north, 1, grid, &req[0]);
            MPI_Irecv(u + (h + 1) * row + 1, (int)w, MPI_DOUBLE, south, 2, grid, &req[1]);
            MPI_Irecv(u + row, 1, column, west, 3, grid, &req[2]);
            MPI_Irecv(u + row + w + 1, 1, column, east, 4, grid, &req[3]);
            MPI_Isend(u + h * row + 1, (int)w, MPI_DOUBLE, south, 1, grid, &req[4]);
            MPI_Isend(u + row + 1, (int)w, MPI_DOUBLE, north, 2, grid, &req[5]);
            MPI_Isend(u + row + w, 1, column, east, 3, grid, &req[6]);
            MPI_Isend(u + row + 1, 1, column, west, 4, grid, &req[7]);
            for (int edge = 0; edge < 2; edge++) {
                if (edge)
                    MPI_Waitall(8, req, MPI_STATUSES_IGNORE);
                for (long i = 1; i <= h; i++)
                    for (long j = 1; j <= w; j++)
                        if (edge == (i == 1 || i == h || j == 1 || j == w)) {
                            double *p = u + i * row + j;
                            v[i * row + j] = *p + r * (p[1] + p[-1] + p[row] + p[-row] - 4 * *p);
                        }
            }
            double *t = u;
            u = v, v = t;
            if (done % 10 == 9) {
                double mine = 0;
                for (long i = 1; i <= h; i++)
                    for (long j = 1; j <= w; j++)
                        mine += u[i * row + j];
                MPI_Allreduce(&mine, &heat, 1, MPI_DOUBLE, MPI_SUM, grid);
            }
        }
    }
    double error = 0, worst, scale = pow(decay, (double)done);
    for (long i = 1; i <= h; i++)
        for (long j = 1; j <= w; j++) {
            double want = scale * sin(step * (double)(y0 + i)) * sin(step * (double)(x0 + j));
            error = fmax(error, fabs(u[i * row + j] - want));
        }
    MPI_Reduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, grid);
    if (rank == 0) {
        if (!(worst < 1e-9))
            fail("temperature");
        printf("heat2d: %d x %d ranks, %ld iterations, heat %.6f, right\n", dims[0], dims[1], done, heat);
    }
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    free(u);
    free(v);
    MPI_Finalize();
}
