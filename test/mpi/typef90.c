// Datatypes by precision and range: Type_create_f90_integer, _real, _complex. Equal requests give equal handles.
// ranks: 1 2
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, ni, na, nd, combiner, args[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype a, b, r, c;
    MPI_Type_create_f90_integer(9, &a);
    MPI_Type_create_f90_integer(9, &b);
    CHECK(a == b);
    MPI_Type_size(a, &size);
    CHECK(size >= 4);
    MPI_Type_get_envelope(a, &ni, &na, &nd, &combiner);
    CHECK(combiner == MPI_COMBINER_F90_INTEGER && ni == 1);
    MPI_Type_get_contents(a, ni, na, nd, args, NULL, NULL);
    CHECK(args[0] == 9);
    MPI_Type_create_f90_real(12, 100, &r);
    MPI_Type_size(r, &size);
    CHECK(size >= 8);
    MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &c);
    MPI_Type_size(c, &size);
    CHECK(size >= 8);
    double x = 2.5 * rank, y = -1; // usable in traffic like any other type
    MPI_Sendrecv(&x, 1, r, 0, 0, &y, 1, r, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(y == x);
    say(rank, "typef90: ok");
    MPI_Finalize();
    return 0;
}
