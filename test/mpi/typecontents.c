// Every datatype constructor, taken apart again with Type_get_envelope and Type_get_contents.
// ranks: 1 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int seen;

// What the type says about itself: its constructor and the sizes of its argument lists.
static void expect(MPI_Datatype *type, int combiner, int ni, int na, int nd, int size) {
    int gi, ga, gd, gc, bytes, ints[64];
    MPI_Aint addrs[16];
    MPI_Datatype types[16];
    MPI_Type_commit(type);
    MPI_Type_get_envelope(*type, &gi, &ga, &gd, &gc);
    CHECK(gc == combiner && gi == ni && ga == na && gd == nd);
    MPI_Type_size(*type, &bytes);
    CHECK(bytes == size);
    MPI_Type_get_contents(*type, gi, ga, gd, ints, addrs, types);
    for (int i = 0; i < gd; i++) { // derived components come as new handles
        int a, b, c, d;
        MPI_Type_get_envelope(types[i], &a, &b, &c, &d);
        if (d != MPI_COMBINER_NAMED)
            MPI_Type_free(&types[i]);
    }
    seen++;
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype t, base, kinds[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    int lens[3] = {1, 2, 3}, disps[3] = {0, 5, 10}, sizes[2] = {8, 6}, subs[2] = {4, 2}, starts[2] = {1, 3};
    MPI_Aint bytes[3] = {0, 40, 80};

    MPI_Type_contiguous(3, MPI_INT, &base);
    expect(&base, MPI_COMBINER_CONTIGUOUS, 1, 0, 1, 12);
    MPI_Type_vector(2, 3, 4, base, &t);
    expect(&t, MPI_COMBINER_VECTOR, 3, 0, 1, 72);
    MPI_Type_free(&t);
    MPI_Type_create_hvector(2, 3, 100, base, &t);
    expect(&t, MPI_COMBINER_HVECTOR, 2, 1, 1, 72);
    MPI_Type_free(&t);
    MPI_Type_indexed(3, lens, disps, MPI_INT, &t);
    expect(&t, MPI_COMBINER_INDEXED, 7, 0, 1, 24);
    MPI_Type_free(&t);
    MPI_Type_create_hindexed(3, lens, bytes, MPI_INT, &t);
    expect(&t, MPI_COMBINER_HINDEXED, 4, 3, 1, 24);
    MPI_Type_free(&t);
    MPI_Type_create_indexed_block(3, 2, disps, MPI_INT, &t);
    expect(&t, MPI_COMBINER_INDEXED_BLOCK, 5, 0, 1, 24);
    MPI_Type_free(&t);
    MPI_Type_create_hindexed_block(3, 2, bytes, MPI_INT, &t);
    expect(&t, MPI_COMBINER_HINDEXED_BLOCK, 2, 3, 1, 24);
    MPI_Type_free(&t);
    MPI_Type_create_struct(3, lens, bytes, kinds, &t);
    expect(&t, MPI_COMBINER_STRUCT, 4, 3, 3, 4 + 16 + 3);
    MPI_Type_free(&t);
    MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
    expect(&t, MPI_COMBINER_SUBARRAY, 8, 0, 1, 32);
    MPI_Type_free(&t);
    int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, psizes[2] = {2, 1};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    MPI_Type_create_darray(2, 1, 2, sizes, distribs, dargs, psizes, MPI_ORDER_C, MPI_INT, &t);
    expect(&t, MPI_COMBINER_DARRAY, 12, 0, 1, 4 * 6 * 4);
    MPI_Type_free(&t);
    MPI_Type_create_resized(base, -8, 64, &t);
    expect(&t, MPI_COMBINER_RESIZED, 0, 2, 1, 12);
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Count lb_x, extent_x, size_x;
    MPI_Type_get_extent(t, &lb, &extent);
    MPI_Type_get_true_extent(t, &true_lb, &true_extent);
    CHECK(lb == -8 && extent == 64 && true_lb == 0 && true_extent == 12);
    MPI_Type_get_extent_x(t, &lb_x, &extent_x);
    CHECK(lb_x == -8 && extent_x == 64);
    MPI_Type_get_true_extent_x(t, &lb_x, &extent_x);
    CHECK(lb_x == 0 && extent_x == 12);
    MPI_Type_size_x(t, &size_x);
    CHECK(size_x == 12);
    MPI_Type_free(&t);
    MPI_Type_dup(base, &t);
    expect(&t, MPI_COMBINER_DUP, 0, 0, 1, 12);
    MPI_Type_free(&t);
    MPI_Type_free(&base);

    int ni, na, nd, combiner;
    MPI_Type_get_envelope(MPI_DOUBLE, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_NAMED && ni + na + nd == 0);
    MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 4, &t); // a predefined type: not to be freed
    int size;
    MPI_Type_size(t, &size);
    CHECK(size == 4);
    say(rank, "typecontents: %d constructors", seen);
    MPI_Finalize();
    return 0;
}
