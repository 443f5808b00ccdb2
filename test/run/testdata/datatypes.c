// Datatypes that are all different, one after the other.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int n = atoi(argv[1]);
    for (int i = 0; i < n; i++) {
        MPI_Datatype type;
        MPI_Type_vector(2, 1, i + 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&type);
    }
    MPI_Finalize();
    return 0;
}
