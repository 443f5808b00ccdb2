// Communicators made, used and freed: Comm_dup, Comm_split, Comm_split_type, Comm_create, Comm_create_group, compare.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int sum_over(MPI_Comm comm, int value) {
    int sum;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

int main(int argc, char **argv) {
    int rank, size, result;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int evens = (size + 1) / 2, odds = size / 2;

    MPI_Comm dup, half, none, node, sub;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_compare(MPI_COMM_WORLD, dup, &result);
    CHECK(result == MPI_CONGRUENT);
    CHECK(sum_over(dup, 1) == size);

    // Parity splits, in reversed order; half of a half; and ranks that stay out.
    for (int round = 0; round < 3; round++) {
        int hrank, hsize;
        MPI_Comm_split(dup, rank % 2, -rank, &half);
        MPI_Comm_rank(half, &hrank);
        MPI_Comm_size(half, &hsize);
        CHECK(hsize == (rank % 2 ? odds : evens) && hrank == hsize - 1 - rank / 2);
        CHECK(sum_over(half, 1) == hsize);
        MPI_Comm_split(half, hrank == 0 ? MPI_UNDEFINED : 5, 0, &none);
        CHECK((none == MPI_COMM_NULL) == (hrank == 0));
        if (none != MPI_COMM_NULL) {
            CHECK(sum_over(none, 1) == hsize - 1);
            MPI_Comm_free(&none);
        }
        MPI_Comm_free(&half);
        CHECK(half == MPI_COMM_NULL);
    }

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    CHECK(sum_over(node, 1) >= 1);
    MPI_Comm_free(&node);

    MPI_Group world, even;
    int range[1][3] = {{0, size - 1, 2}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &even);
    MPI_Comm_create(MPI_COMM_WORLD, even, &sub);
    CHECK((sub == MPI_COMM_NULL) == rank % 2);
    if (sub != MPI_COMM_NULL) {
        CHECK(sum_over(sub, rank) == evens * (evens - 1));
        MPI_Comm_free(&sub);
    }
    if (rank % 2 == 0) { // only the members call this one
        MPI_Comm_create_group(MPI_COMM_WORLD, even, 3, &sub);
        CHECK(sum_over(sub, 1) == evens);
        MPI_Comm_compare(MPI_COMM_WORLD, sub, &result);
        CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
        MPI_Comm_free(&sub);
    }
    MPI_Group_free(&even);
    MPI_Group_free(&world);
    MPI_Comm_free(&dup);
    say(rank, "commsplit: ok");
    MPI_Finalize();
    return 0;
}
