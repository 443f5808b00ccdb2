// Two halves of the world meet through a port: Open_port, Comm_accept, Comm_connect, Comm_disconnect.
// ranks: 2 4
// mpi: openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, n, flag, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int server = rank < size / 2;
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, server, rank, &half);
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, size / 2, 0, MPI_COMM_WORLD);
    } else if (rank == size / 2) {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (server)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter); // the port matters at the root only
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &n);
    CHECK(flag && n == (server ? size - size / 2 : size / 2));
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    int want = 0;
    for (int r = 0; r < size; r++)
        want += (r < size / 2) != server ? r : 0;
    CHECK(sum == want);
    MPI_Comm_disconnect(&inter);
    CHECK(inter == MPI_COMM_NULL);
    if (rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
    say(rank, "ports: ok");
    MPI_Finalize();
    return 0;
}
