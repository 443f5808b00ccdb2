// Names for ports: Publish_name, Lookup_name, Unpublish_name, and a name that nobody published.
// ranks: 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, class;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "", name[64];
    snprintf(name, sizeof name, "spoor-test-%d", (int)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        if (MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS) // MPICH over UCX has names, but no ports
            snprintf(port, sizeof port, "no-port-but-a-text");
        OK(MPI_Publish_name(name, MPI_INFO_NULL, port));
    }
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        OK(MPI_Lookup_name(name, MPI_INFO_NULL, found));
        CHECK(!strcmp(found, port));
        MPI_Error_class(MPI_Lookup_name("spoor-test-nobody", MPI_INFO_NULL, found), &class);
        CHECK(class == MPI_ERR_NAME);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
        MPI_Close_port(port);
    }
    say(rank, "publish: ok");
    MPI_Finalize();
    return 0;
}
