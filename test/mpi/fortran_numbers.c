// Handles that a program in C passes to Fortran and gets back, of kinds that MPICH has macros for.
// ranks: 2 4
// mpi: mpich openmpi !openmpi-abi !mpich-abi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    MPI_Comm row, same;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &row);
    MPI_Fint number = MPI_Comm_c2f(row);
    same = MPI_Comm_f2c(number);
    CHECK(same == row);
    MPI_Comm_size(same, &size);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);

    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    pair = MPI_Type_f2c(MPI_Type_c2f(pair));
    int sum[2] = {rank, 1}, all[2];
    MPI_Bcast(sum, 1, pair, 0, MPI_Comm_f2c(number));
    MPI_Allreduce(sum, all, 2, MPI_Type_f2c(MPI_Type_c2f(MPI_INT)), MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)), same);
    CHECK(all[1] == size);
    MPI_Type_free(&pair);

    MPI_Group group;
    MPI_Comm_group(same, &group);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    MPI_Group_free(&group);
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    MPI_Info_free(&info);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    MPI_Win win;
    MPI_Win_create(all, sizeof all, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    MPI_Win_free(&win);
    MPI_Comm_free(&row);
    say(rank, "fortran_numbers: ok");
    MPI_Finalize();
    return 0;
}
