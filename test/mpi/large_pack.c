// Packing with MPI_Count sizes (MPI-4), and operators whose function takes MPI_Count.
// ranks: 1 2 4
// mpi: mpich openmpi>=6.0
#include "check.h"
#include <mpi.h>

static void add(void *in, void *inout, MPI_Count *n, MPI_Datatype *type) {
    int *x = in, *y = inout;
    MPI_Count size;
    MPI_Type_size_c(*type, &size);
    CHECK(size == sizeof(int));
    for (MPI_Count i = 0; i < *n; i++)
        y[i] += x[i];
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Count need, at = 0;
    char space[256];
    int numbers[4] = {1, 2, 3, rank}, back[4] = {0};
    MPI_Pack_size_c(4, MPI_INT, MPI_COMM_WORLD, &need);
    CHECK(need >= 16 && need <= 256);
    MPI_Pack_c(numbers, 4, MPI_INT, space, sizeof space, &at, MPI_COMM_WORLD);
    MPI_Count end = at;
    at = 0;
    MPI_Unpack_c(space, end, &at, back, 4, MPI_INT, MPI_COMM_WORLD);
    CHECK(at == end && back[2] == 3 && back[3] == rank);
    MPI_Pack_external_size_c("external32", 4, MPI_INT, &need);
    CHECK(need == 16);
    at = 0;
    MPI_Pack_external_c("external32", numbers, 4, MPI_INT, space, sizeof space, &at);
    CHECK(at == 16 && space[3] == 1);
    at = 0;
    memset(back, 0, sizeof back);
    MPI_Unpack_external_c("external32", space, 16, &at, back, 4, MPI_INT);
    CHECK(back[1] == 2 && back[3] == rank);

    MPI_Op op;
    MPI_Op_create_c(add, 1, &op);
    int sum[4];
    MPI_Allreduce_c(numbers, sum, 4, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sum[0] == size && sum[3] == size * (size - 1) / 2);
    MPI_Reduce_local_c(numbers, sum, 4, MPI_INT, op);
    CHECK(sum[0] == size + 1);
    MPI_Op_free(&op);
    say(rank, "large_pack: ok");
    MPI_Finalize();
    return 0;
}
