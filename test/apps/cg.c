// Conjugate gradients on a square grid of ranks, as in the CG benchmark: a product sums over rows of ranks, then each
// rank swaps its part with the one across the diagonal. Ranks beyond the largest square sit out. The solution is known.
#include "apps.h"

static const long band[] = {0, 1, 5, 17};         // distances from the diagonal
static const double weight[] = {8, -1, -0.5, -1}; // symmetric, diagonally dominant

static double element(long i, long j) {
    for (int k = 0; k < 4; k++)
        if (labs(i - j) == band[k])
            return weight[k];
    return 0;
}

static double dot(const double *a, const double *b, long n, MPI_Comm comm) {
    double mine = 0, all;
    for (long i = 0; i < n; i++)
        mine += a[i] * b[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    return all;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Options o = options(argc, argv, 256, 25); // n: unknowns; iterations of one solution
    int size, rank, q = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while ((q + 1) * (q + 1) <= size)
        q++;
    MPI_Comm square, row, col;
    MPI_Comm_split(MPI_COMM_WORLD, rank < q * q ? 0 : MPI_UNDEFINED, rank, &square);
    long solved = 0;
    double rest = 0;
    if (square != MPI_COMM_NULL) {
        int i = rank / q, j = rank % q, across = j * q + i;
        MPI_Comm_split(square, i, j, &row);
        MPI_Comm_split(square, j, i, &col);
        long r0 = part_begin(o.n, q, i), rows = part_begin(o.n, q, i + 1) - r0;
        long c0 = part_begin(o.n, q, j), cols = part_begin(o.n, q, j + 1) - c0;
        double *x = room(cols, 8), *p = room(cols, 8), *r = room(cols, 8), *ap = room(cols, 8);
        double *part = room(rows, 8), *sum = room(rows, 8);
        for (int block = 0; more(&o, block); block++, solved++) {
            // All parts of a column of ranks are the same: x and the others by columns.
            for (long k = 0; k < cols; k++) {
                double b = 0; // of A times (1, 1, …)
                for (int d = 0; d < 4; d++) {
                    b += c0 + k >= band[d] ? weight[d] : 0;
                    b += d > 0 && c0 + k + band[d] < o.n ? weight[d] : 0;
                }
                x[k] = 0;
                p[k] = r[k] = b;
            }
            double rho = dot(r, r, cols, row);
            for (long k = 0; k < o.iterations; k++) {
                for (long a = 0; a < rows; a++) {
                    part[a] = 0;
                    for (long b = 0; b < cols; b++)
                        part[a] += element(r0 + a, c0 + b) * p[b];
                }
                MPI_Allreduce(part, sum, (int)rows, MPI_DOUBLE, MPI_SUM, row);
                if (i == j) {
                    memcpy(ap, sum, (size_t)rows * sizeof *ap);
                } else {
                    MPI_Request req;
                    MPI_Irecv(ap, (int)cols, MPI_DOUBLE, across, 1, square, &req);
                    MPI_Send(sum, (int)rows, MPI_DOUBLE, across, 1, square);
                    MPI_Wait(&req, MPI_STATUS_IGNORE);
                }
                double alpha = rho / dot(p, ap, cols, row);
                for (long b = 0; b < cols; b++) {
                    x[b] += alpha * p[b];
                    r[b] -= alpha * ap[b];
                }
                double before = rho;
                rho = dot(r, r, cols, row);
                if (rho == 0)
                    rho = 1e-300; // converged to the last bit: go on with the same calls
                for (long b = 0; b < cols; b++)
                    p[b] = r[b] + rho / before * p[b];
            }
            double error = 0;
            for (long b = 0; b < cols; b++)
                error = fmax(error, fabs(x[b] - 1));
            double worst;
            MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, row);
            MPI_Allreduce(&worst, &rest, 1, MPI_DOUBLE, MPI_MAX, col);
            if (o.iterations >= 25 && !(rest < 1e-5))
                fail("solution");
        }
        MPI_Comm_free(&row);
        MPI_Comm_free(&col);
        MPI_Comm_free(&square);
        free(x), free(p), free(r), free(ap), free(part), free(sum);
    } else {
        for (int block = 0; more(&o, block); block++)
            ;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("cg: %d x %d ranks, %ld times %ld iterations, right\n", q, q, solved, o.iterations);
    MPI_Finalize();
}
