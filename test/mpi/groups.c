// Groups: every constructor, comparison, translation, and communicators made from them.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, n, me, result;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Group world, low, high, odd, set, none;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, &n);
    MPI_Group_rank(world, &me);
    CHECK(n == size && me == rank);

    int half = (size + 1) / 2, *list = malloc(size * sizeof *list), *out = malloc(size * sizeof *out);
    CHECK(list && out);
    for (int i = 0; i < size; i++)
        list[i] = size - 1 - i;
    MPI_Group_incl(world, size, list, &set); // reversed
    MPI_Group_compare(world, set, &result);
    CHECK(result == (size == 1 ? MPI_IDENT : MPI_SIMILAR));
    MPI_Group_translate_ranks(world, size, list, set, out);
    for (int i = 0; i < size; i++)
        CHECK(out[i] == i);
    MPI_Group_free(&set);

    int first[1][3] = {{0, half - 1, 1}}, odds[1][3] = {{1, size - 1, 2}};
    MPI_Group_range_incl(world, 1, first, &low);
    MPI_Group_range_excl(world, 1, first, &high);
    if (size > 1)
        MPI_Group_range_incl(world, 1, odds, &odd);
    else
        odd = MPI_GROUP_EMPTY;
    MPI_Group_size(high, &n);
    CHECK(n == size - half);
    MPI_Group_rank(high, &me);
    CHECK(me == (rank < half ? MPI_UNDEFINED : rank - half));
    MPI_Group_union(low, high, &set);
    MPI_Group_compare(set, world, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&set);
    MPI_Group_intersection(low, odd, &set);
    MPI_Group_size(set, &n);
    CHECK(n == half / 2);
    MPI_Group_free(&set);
    MPI_Group_difference(world, odd, &set);
    MPI_Group_size(set, &n);
    CHECK(n == (size + 1) / 2);
    MPI_Comm comm;
    MPI_Comm_create(MPI_COMM_WORLD, set, &comm);
    CHECK((comm == MPI_COMM_NULL) == rank % 2);
    if (comm != MPI_COMM_NULL) {
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&set);
    MPI_Group_intersection(low, high, &none);
    MPI_Group_compare(none, MPI_GROUP_EMPTY, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_excl(world, half, list + size - half, &set); // leaves out ranks 0 .. half - 1
    MPI_Group_compare(set, high, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&set);
    int zero = 0;
    MPI_Group_translate_ranks(world, 1, &zero, high, out);
    CHECK(out[0] == MPI_UNDEFINED);

    MPI_Group_free(&low);
    MPI_Group_free(&high);
    if (odd != MPI_GROUP_EMPTY)
        MPI_Group_free(&odd);
    MPI_Group_free(&world);
    CHECK(world == MPI_GROUP_NULL);
    free(list);
    free(out);
    say(rank, "groups: ok");
    MPI_Finalize();
    return 0;
}
