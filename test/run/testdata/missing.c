// Calls a function whose PMPI_ name is not there, and one that is not there at all.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int version = 0, minor = 0, provided = -1, class = -1;
    MPI_Init(&argc, &argv);
    int rc = MPI_Get_version(&version, &minor);
    printf("version %d, %s\n", version, rc == MPI_SUCCESS ? "success" : "failure");
    rc = MPI_Query_thread(&provided);
    MPI_Error_class(rc, &class);
    printf("%s\n", class == MPI_ERR_UNSUPPORTED_OPERATION ? "unsupported" : "another result");
    MPI_Finalize();
    return 0;
}
