// Every dynamic process call under a device that has none of it (MPICH over UCX): all must return an error.
// ranks: 1 2
// mpi: mpich !mpich-abi !mpich>=5.0
// Not with MPICH 5.0.2, which does not come back from one of the calls.
#include "check.h"
#include <mpi.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
    int rank, codes[1], one = 1, pair[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    char port[MPI_MAX_PORT_NAME] = "", *command = "/bin/true", **argvs = NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_get_parent(&comm);
    CHECK(comm == MPI_COMM_NULL);
    CHECK(MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS);
    CHECK(MPI_Close_port("nowhere") != MPI_SUCCESS);
    CHECK(MPI_Comm_accept("nowhere", MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm) != MPI_SUCCESS);
    CHECK(MPI_Comm_connect("nowhere", MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm) != MPI_SUCCESS);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    CHECK(MPI_Comm_join(pair[0], &comm) != MPI_SUCCESS);
    close(pair[0]);
    close(pair[1]);
    CHECK(MPI_Comm_spawn(command, MPI_ARGV_NULL, 1, info, 0, MPI_COMM_WORLD, &comm, codes) != MPI_SUCCESS);
    CHECK(MPI_Comm_spawn_multiple(1, &command, &argvs, &one, &info, 0, MPI_COMM_WORLD, &comm, MPI_ERRCODES_IGNORE) !=
          MPI_SUCCESS);
    MPI_Comm_disconnect(&(MPI_Comm){MPI_COMM_NULL}); // an error like the others
    MPI_Barrier(MPI_COMM_WORLD);
    say(rank, "dynamic_refused: ok");
    MPI_Finalize();
    return 0;
}
