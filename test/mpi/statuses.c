// What a status tells: Get_count and Get_elements of part-filled types, large-count getters, and Fortran statuses.
// ranks: 1 2 4 7
// mpi: mpich openmpi !openmpi-abi !mpich-abi
#include "check.h"
#include <mpi.h>

#ifdef OPEN_MPI
enum { FORTRAN_INTS = 6 };
#else
enum { FORTRAN_INTS = 5 };
#endif

int main(int argc, char **argv) {
    int rank, size, count, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, in[12], out[12] = {0};
    MPI_Status st, back;
    MPI_Count big;
    MPI_Datatype triple;
    MPI_Type_contiguous(3, MPI_INT, &triple);
    MPI_Type_commit(&triple);
    MPI_Sendrecv(out, 7, MPI_INT, right, 3, in, 4, triple, left, 3, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, triple, &count); // seven ints are no whole number of triples
    CHECK(count == MPI_UNDEFINED);
    MPI_Get_elements(&st, triple, &count);
    CHECK(count == 7);
    MPI_Get_elements_x(&st, triple, &big);
    CHECK(big == 7);
    MPI_Get_count(&st, MPI_INT, &count);
    CHECK(count == 7);

    MPI_Fint fortran[FORTRAN_INTS] = {0};
    MPI_Status_c2f(&st, fortran);
    memset(&back, 0, sizeof back);
    MPI_Status_f2c(fortran, &back);
    CHECK(back.MPI_SOURCE == left && back.MPI_TAG == 3);
    MPI_Get_count(&back, MPI_INT, &count);
    CHECK(count == 7);

    MPI_Status_set_elements(&back, MPI_INT, 5);
    MPI_Get_count(&back, MPI_INT, &count);
    CHECK(count == 5);
    MPI_Status_set_elements_x(&back, MPI_DOUBLE, (MPI_Count)1 << 33);
    MPI_Get_elements_x(&back, MPI_DOUBLE, &big);
    CHECK(big == (MPI_Count)1 << 33);
    MPI_Get_elements(&back, MPI_DOUBLE, &count); // doesn't fit an int
    CHECK(count == MPI_UNDEFINED);
    MPI_Status_set_cancelled(&back, 1);
    MPI_Test_cancelled(&back, &flag);
    CHECK(flag);
    MPI_Type_free(&triple);
    say(rank, "statuses: ok");
    MPI_Finalize();
    return 0;
}
