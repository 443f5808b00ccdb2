// An ocean in two modes, as models of its kind have them: each step solves for the height of the surface by conjugate gradients, whose
// number of iterations depends on the wind, and passes what moves fast between neighbours in as many rounds as the deeper of the two
// needs. So numbers of rounds depend on data: those of the solver on the step, those between neighbours on the rank too.
#include "apps.h"

typedef struct {
    long h, w, row;
    int north, south, west, east;
    MPI_Comm grid;
    MPI_Datatype column;
} Block;

static void halo(const Block *b, double *u) {
    MPI_Request req[8];
    double *last = u + b->h * b->row;
    MPI_Irecv(u + 1, (int)b->w, MPI_DOUBLE, b->north, 1, b->grid, &req[0]);
    MPI_Irecv(last + b->row + 1, (int)b->w, MPI_DOUBLE, b->south, 2, b->grid, &req[1]);
    MPI_Irecv(u + b->row, 1, b->column, b->west, 3, b->grid, &req[2]);
    MPI_Irecv(u + b->row + b->w + 1, 1, b->column, b->east, 4, b->grid, &req[3]);
    MPI_Isend(last + 1, (int)b->w, MPI_DOUBLE, b->south, 1, b->grid, &req[4]);
    MPI_Isend(u + b->row + 1, (int)b->w, MPI_DOUBLE, b->north, 2, b->grid, &req[5]);
    MPI_Isend(u + b->row + b->w, 1, b->column, b->east, 3, b->grid, &req[6]);
    MPI_Isend(u + b->row + 1, 1, b->column, b->west, 4, b->grid, &req[7]);
    MPI_Waitall(8, req, MPI_STATUSES_IGNORE);
}

static double product(const Block *b, const double *u, const double *v) {
    double mine = 0, all;
    for (long i = 1; i <= b->h; i++)
        for (long j = 1; j <= b->w; j++)
            mine += u[i * b->row + j] * v[i * b->row + j];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, b->grid);
    return all;
}

// apply is q = p + c·(4p - its neighbours).
static void apply(const Block *b, double c, double *p, double *q) {
    halo(b, p);
    for (long i = 1; i <= b->h; i++)
        for (long j = 1; j <= b->w; j++) {
            double *at = p + i * b->row + j;
            q[i * b->row + j] = *at + c * (4 * *at - at[1] - at[-1] - at[b->row] - at[-b->row]);
        }
}

// pass sends the edge towards a neighbour and takes its edge, in as many rounds as the one that needs more of them wants.
static long pass(const Block *b, int neighbour, int rounds, double *edge, double *other) {
    int theirs = 0;
    MPI_Sendrecv(&rounds, 1, MPI_INT, neighbour, 5, &theirs, 1, MPI_INT, neighbour, 5, b->grid, MPI_STATUS_IGNORE);
    if (neighbour == MPI_PROC_NULL)
        return 0;
    if (theirs > rounds)
        rounds = theirs;
    for (int k = 0; k < rounds; k++)
        MPI_Sendrecv(edge, (int)b->h, MPI_DOUBLE, neighbour, 6, other, (int)b->h, MPI_DOUBLE, neighbour, 6, b->grid, MPI_STATUS_IGNORE);
    if (other[0] != edge[0])
        fail("edge of another step");
    return rounds;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Options o = options(argc, argv, 64, 20); // n: points in a direction, in all; iterations: steps
    int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, at[2];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    Block b;
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &b.grid);
    MPI_Comm_rank(b.grid, &rank);
    MPI_Cart_coords(b.grid, rank, 2, at);
    MPI_Cart_shift(b.grid, 0, 1, &b.north, &b.south);
    MPI_Cart_shift(b.grid, 1, 1, &b.west, &b.east);
    b.h = part_begin(o.n, dims[0], at[0] + 1) - part_begin(o.n, dims[0], at[0]);
    b.w = part_begin(o.n, dims[1], at[1] + 1) - part_begin(o.n, dims[1], at[1]);
    b.row = b.w + 2;
    if (b.h < 1 || b.w < 1)
        fail("more ranks in a direction than points");
    MPI_Type_vector((int)b.h, 1, (int)b.row, MPI_DOUBLE, &b.column);
    MPI_Type_commit(&b.column);
    size_t points = (size_t)((b.h + 2) * b.row);
    double *x = room(points, sizeof *x), *r = room(points, sizeof *r), *p = room(points, sizeof *p), *q = room(points, sizeof *q);
    double *edge = room((size_t)b.h, sizeof *edge), *other = room((size_t)b.h, sizeof *other);
    unsigned long wind = 4711, depth = 12345 + 977UL * (unsigned)rank;
    long steps = 0, solved = 0, passed[2] = {0, 0}, all[2];
    for (int block = 0; more(&o, block); block++) {
        for (long k = 0; k < o.iterations; k++, steps++) {
            double c = 0.05 * (double)(1 + next_random(&wind) % 100), rr, limit;
            for (long i = 1; i <= b.h; i++)
                for (long j = 1; j <= b.w; j++) {
                    x[i * b.row + j] = 0;
                    p[i * b.row + j] = r[i * b.row + j] = (double)((i + j + steps) % 7) - 3;
                }
            rr = product(&b, r, r);
            limit = 1e-12 * rr;
            while (rr > limit) {
                apply(&b, c, p, q);
                double alpha = rr / product(&b, p, q), before = rr;
                for (size_t i = 0; i < points; i++)
                    x[i] += alpha * p[i], r[i] -= alpha * q[i];
                rr = product(&b, r, r);
                for (size_t i = 0; i < points; i++)
                    p[i] = r[i] + rr / before * p[i];
                solved++;
            }
            apply(&b, c, x, q);
            for (long i = 1; i <= b.h; i++)
                for (long j = 1; j <= b.w; j++)
                    if (fabs(q[i * b.row + j] - ((double)((i + j + steps) % 7) - 3)) > 1e-3)
                        fail("height of the surface");
            for (long i = 0; i < b.h; i++)
                edge[i] = (double)steps;
            passed[0] += pass(&b, b.west, 1 + (int)(next_random(&depth) % 8), edge, other);
            passed[1] += pass(&b, b.east, 1 + (int)(next_random(&depth) % 8), edge, other);
        }
    }
    MPI_Reduce(passed, all, 2, MPI_LONG, MPI_SUM, 0, b.grid);
    if (rank == 0) {
        if (all[0] != all[1])
            fail("rounds between neighbours");
        printf("ocean: %d x %d ranks, %ld steps, %ld iterations, %ld rounds, right\n", dims[0], dims[1], steps, solved, all[0]);
    }
    MPI_Type_free(&b.column);
    MPI_Comm_free(&b.grid);
    free(x), free(r), free(p), free(q), free(edge), free(other);
    MPI_Finalize();
    return 0;
}
