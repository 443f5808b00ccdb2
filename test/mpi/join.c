// Comm_join: two ranks that share a socket become an intercommunicator.
// ranks: 2 4
// mpi: openmpi
#include "check.h"
#include <arpa/inet.h>
#include <mpi.h>
#include <sys/socket.h>

static int listening_socket(int *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&at, &length) == 0);
    *port = ntohs(at.sin_port);
    return fd;
}

int main(int argc, char **argv) {
    int rank, size, port, fd = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        int listener = listening_socket(&port);
        MPI_Send(&port, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        fd = accept(listener, NULL, NULL);
        close(listener);
        CHECK(fd >= 0);
    } else if (rank == 1) {
        MPI_Recv(&port, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        fd = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    }
    if (rank < 2) {
        MPI_Comm pair;
        MPI_Comm_join(fd, &pair);
        CHECK(pair != MPI_COMM_NULL);
        int in = -1, n;
        MPI_Comm_remote_size(pair, &n);
        CHECK(n == 1);
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, pair, MPI_STATUS_IGNORE);
        CHECK(in == 1 - rank);
        MPI_Comm_disconnect(&pair);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    say(rank, "join: ok");
    MPI_Finalize();
    return 0;
}
