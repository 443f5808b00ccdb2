// Datatypes from MPI_Count arguments (MPI-4), some beyond 2^31, taken apart with the large-count getters.
// ranks: 1 2
// mpi: mpich openmpi>=6.0
#include "check.h"
#include <mpi.h>

#define HUGE_COUNT ((MPI_Count)3000000000)

static int seen;

static void expect(MPI_Datatype *type, int combiner, MPI_Count size) {
    MPI_Count ni, na, nc, nd, bytes, lb, extent, counts[32];
    MPI_Aint addrs[16];
    MPI_Datatype types[8];
    int ints[32], gc;
    MPI_Type_size_c(*type, &bytes);
    CHECK(bytes == size);
    MPI_Type_get_extent_c(*type, &lb, &extent);
    CHECK(extent > 0);
    MPI_Type_get_true_extent_c(*type, &lb, &extent);
    CHECK(extent > 0);
    MPI_Type_get_envelope_c(*type, &ni, &na, &nc, &nd, &gc);
    CHECK(gc == combiner && ni <= 32 && na <= 16 && nc <= 32 && nd >= 1 && nd <= 8);
    MPI_Type_get_contents_c(*type, ni, na, nc, nd, ints, addrs, counts, types);
    MPI_Type_free(type);
    seen++;
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype t, kinds[2] = {MPI_INT, MPI_CHAR};
    MPI_Count lens[2] = {2, 3}, at[2] = {0, 10}, far[2] = {0, HUGE_COUNT * 2};
    MPI_Count sizes[2] = {8, 6}, subs[2] = {4, 2}, starts[2] = {1, 3};
    MPI_Type_contiguous_c(HUGE_COUNT, MPI_INT, &t);
    expect(&t, MPI_COMBINER_CONTIGUOUS, HUGE_COUNT * 4);
    MPI_Type_vector_c(3, 2, HUGE_COUNT, MPI_INT, &t);
    expect(&t, MPI_COMBINER_VECTOR, 24);
    MPI_Type_create_hvector_c(3, 2, HUGE_COUNT, MPI_INT, &t);
    expect(&t, MPI_COMBINER_HVECTOR, 24);
    MPI_Type_indexed_c(2, lens, at, MPI_INT, &t);
    expect(&t, MPI_COMBINER_INDEXED, 20);
    MPI_Type_create_hindexed_c(2, lens, far, MPI_INT, &t);
    expect(&t, MPI_COMBINER_HINDEXED, 20);
    MPI_Type_create_indexed_block_c(2, 4, at, MPI_INT, &t);
    expect(&t, MPI_COMBINER_INDEXED_BLOCK, 32);
    MPI_Type_create_hindexed_block_c(2, 4, far, MPI_INT, &t);
    expect(&t, MPI_COMBINER_HINDEXED_BLOCK, 32);
    MPI_Type_create_struct_c(2, lens, far, kinds, &t);
    expect(&t, MPI_COMBINER_STRUCT, 11);
    MPI_Type_create_subarray_c(2, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &t);
    expect(&t, MPI_COMBINER_SUBARRAY, 32);
    int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE}, procs[2] = {2, 1};
    int args[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Type_create_darray_c(2, 1, 2, sizes, distribs, args, procs, MPI_ORDER_C, MPI_INT, &t);
    expect(&t, MPI_COMBINER_DARRAY, 4 * 6 * 4);
    MPI_Type_create_resized_c(MPI_INT, -HUGE_COUNT, 3 * HUGE_COUNT, &t);
    expect(&t, MPI_COMBINER_RESIZED, 4);

    // A number of elements that no int can hold.
    MPI_Status st;
    MPI_Count count;
    int small;
    memset(&st, 0, sizeof st);
    MPI_Status_set_elements_x(&st, MPI_CHAR, HUGE_COUNT);
    MPI_Get_count_c(&st, MPI_CHAR, &count);
    MPI_Get_count(&st, MPI_CHAR, &small);
    CHECK(count == HUGE_COUNT && small == MPI_UNDEFINED);
    MPI_Get_elements_c(&st, MPI_SHORT, &count);
    CHECK(count == HUGE_COUNT / 2);
    say(rank, "large_types: %d constructors", seen);
    MPI_Finalize();
    return 0;
}
