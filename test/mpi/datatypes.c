// Derived datatypes in use: a column, a block list, a struct, a resized type, a sub-array, sent and checked.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>
#include <stddef.h>

enum { ROWS = 5, COLS = 6 };

struct particle {
    double x[3];
    int id;
    char kind;
};

static int rank, size, right, left;

static void exchange(void *out, int n, MPI_Datatype type, void *in, int m, MPI_Datatype itype) {
    MPI_Sendrecv(out, n, type, right, 0, in, m, itype, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    int grid[ROWS][COLS], halo[ROWS * COLS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            grid[i][j] = rank * 1000 + i * 10 + j;

    MPI_Datatype column, columns, block, list, pair, record, packed;
    MPI_Type_vector(ROWS, 1, COLS, MPI_INT, &column);
    MPI_Type_commit(&column);
    exchange(&grid[0][2], 1, column, halo, ROWS, MPI_INT);
    for (int i = 0; i < ROWS; i++)
        CHECK(halo[i] == left * 1000 + i * 10 + 2);

    // Resized, so that two neighbouring columns follow each other.
    MPI_Type_create_resized(column, 0, sizeof(int), &columns);
    MPI_Type_commit(&columns);
    exchange(&grid[0][3], 2, columns, halo, 2 * ROWS, MPI_INT);
    CHECK(halo[ROWS - 1] == left * 1000 + 10 * (ROWS - 1) + 3 && halo[ROWS] == left * 1000 + 4);

    int full[2] = {ROWS, COLS}, part[2] = {2, 3}, start[2] = {1, 2};
    MPI_Type_create_subarray(2, full, part, start, MPI_ORDER_C, MPI_INT, &block);
    MPI_Type_commit(&block);
    exchange(grid, 1, block, halo, 6, MPI_INT);
    CHECK(halo[0] == left * 1000 + 12 && halo[5] == left * 1000 + 24);

    int lens[3] = {1, 2, 3}, disps[3] = {20, 10, 0};
    MPI_Type_indexed(3, lens, disps, MPI_INT, &list);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&list);
    MPI_Type_commit(&pair);
    exchange(grid, 1, list, halo, 3, pair);
    CHECK(halo[0] == left * 1000 + 32 && halo[2] == left * 1000 + 15 && halo[5] == left * 1000 + 2);

    struct particle p[2] = {{{rank, 2, 3}, rank * 2, 'a'}, {{4, 5, rank}, rank * 3, 'b'}}, q[2];
    int lengths[3] = {3, 1, 1};
    MPI_Aint offsets[3] = {offsetof(struct particle, x), offsetof(struct particle, id),
                           offsetof(struct particle, kind)};
    MPI_Datatype kinds[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    MPI_Type_create_struct(3, lengths, offsets, kinds, &packed);
    MPI_Type_create_resized(packed, 0, sizeof(struct particle), &record);
    MPI_Type_commit(&record);
    exchange(p, 2, record, q, 2, record);
    CHECK(q[0].x[0] == left && q[1].x[2] == left && q[1].id == left * 3 && q[0].kind == 'a' && q[1].kind == 'b');

    MPI_Datatype *made[] = {&column, &columns, &block, &list, &pair, &record, &packed};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        MPI_Type_free(made[i]);
        CHECK(*made[i] == MPI_DATATYPE_NULL);
    }
    say(rank, "datatypes: ok");
    MPI_Finalize();
    return 0;
}
