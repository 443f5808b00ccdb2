// Checkpoints with MPI-IO: a matrix in blocks goes to a file by subarray views, two files in turn, and comes back in
// another decomposition. Files are in $TMPDIR or /tmp and are removed.
#include "apps.h"

#include <unistd.h>

static double value(long step, long i, long j) { return (double)(step * 1000000 + i * 1000 + j); }

// block is a rank's part of the matrix, cut into dims, and the file type that leads there.
static MPI_Datatype block(int n, int dims[2], int rank, int sizes[2], int starts[2]) {
    int all[2] = {n, n}, at[2] = {rank / dims[1], rank % dims[1]};
    for (int d = 0; d < 2; d++) {
        starts[d] = (int)part_begin(n, dims[d], at[d]);
        sizes[d] = (int)part_begin(n, dims[d], at[d] + 1) - starts[d];
        if (sizes[d] < 1)
            fail("more ranks in a direction than rows");
    }
    MPI_Datatype type;
    MPI_Type_create_subarray(2, all, sizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Options o = options(argc, argv, 64, 4); // n: rows of the matrix; iterations: checkpoints
    int size, rank, dims[2] = {0, 0}, sizes[2], starts[2], n = (int)o.n;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Dims_create(size, 2, dims);
    int rows[2] = {size, 1};
    MPI_Datatype out = block(n, dims, rank, sizes, starts);
    int rsizes[2], rstarts[2];
    MPI_Datatype in = block(n, rows, rank, rsizes, rstarts);
    char base[200] = "", path[2][256];
    if (rank == 0) {
        const char *dir = getenv("TMPDIR");
        snprintf(base, sizeof base, "%s/spoor-checkpoint-%d", dir && *dir ? dir : "/tmp", (int)getpid());
    }
    MPI_Bcast(base, sizeof base, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int k = 0; k < 2; k++)
        snprintf(path[k], sizeof path[k], "%s.%d", base, k);

    long header[2], got[2], step = 0;
    int mine = sizes[0] * sizes[1], theirs = rsizes[0] * rsizes[1];
    double *a = room(mine, sizeof *a), *b = room(theirs, sizeof *b);
    for (int pass = 0; more(&o, pass); pass++) {
        for (long k = 0; k < o.iterations; k++, step++) {
            for (int i = 0; i < sizes[0]; i++)
                for (int j = 0; j < sizes[1]; j++)
                    a[i * sizes[1] + j] = value(step, starts[0] + i, starts[1] + j);
            MPI_File f;
            MPI_File_open(MPI_COMM_WORLD, path[step % 2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
            if (rank == 0) {
                header[0] = step, header[1] = n;
                MPI_File_write_at(f, 0, header, 2, MPI_LONG, MPI_STATUS_IGNORE);
            }
            MPI_File_set_view(f, sizeof header, MPI_DOUBLE, out, "native", MPI_INFO_NULL);
            MPI_File_write_all(f, a, mine, MPI_DOUBLE, MPI_STATUS_IGNORE);
            MPI_File_close(&f);

            MPI_File_open(MPI_COMM_WORLD, path[step % 2], MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
            MPI_File_read_at_all(f, 0, got, 2, MPI_LONG, MPI_STATUS_IGNORE);
            MPI_File_set_view(f, sizeof header, MPI_DOUBLE, in, "native", MPI_INFO_NULL);
            MPI_File_read_all(f, b, theirs, MPI_DOUBLE, MPI_STATUS_IGNORE);
            MPI_File_close(&f);
            if (got[0] != step || got[1] != n)
                fail("header");
            for (int i = 0; i < rsizes[0]; i++)
                for (int j = 0; j < rsizes[1]; j++)
                    if (b[i * rsizes[1] + j] != value(step, rstarts[0] + i, rstarts[1] + j))
                        fail("matrix");
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        for (int k = 0; k < 2 && k < step; k++)
            MPI_File_delete(path[k], MPI_INFO_NULL);
        printf("checkpoint: %d ranks, %ld checkpoints, right\n", size, step);
    }
    MPI_Type_free(&out);
    MPI_Type_free(&in);
    free(a), free(b);
    MPI_Finalize();
}
