/* Programs that hang, each in its way, on three ranks; and some that only look as if they did. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, is;
static char *buffer;
enum { LARGE = 4 << 20 };

static int mode(const char *name, const char *wanted) { return is = strcmp(name, wanted) == 0; }

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    int one = 1, sum, flag, index;
    MPI_Comm a, b;
    MPI_Request q[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = malloc(2 * LARGE);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &b);
    for (int i = 0; i < 5; i++)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, a);
    if (mode(name, "receives")) {
        MPI_Recv(buffer, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
    } else if (mode(name, "sends")) {
        MPI_Send(buffer, LARGE, MPI_CHAR, right, 7, MPI_COMM_WORLD);
        MPI_Recv(buffer, LARGE, MPI_CHAR, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (mode(name, "waitall")) {
        MPI_Irecv(buffer, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(buffer + 8, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &q[1]);
        MPI_Send(buffer + 16, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    } else if (mode(name, "waitany")) {
        MPI_Irecv(buffer, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &q[0]);
        MPI_Irecv(buffer + 8, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &q[1]);
        MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
    } else if (mode(name, "wildcard")) {
        MPI_Recv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (mode(name, "probe")) {
        MPI_Probe(left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (mode(name, "barrier")) {
        if (rank == 2)
            MPI_Recv(buffer, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (mode(name, "function")) {
        if (rank == 0)
            MPI_Barrier(a);
        else
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, a);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (mode(name, "order")) {
        MPI_Barrier(rank ? a : b);
        MPI_Barrier(rank ? b : a);
    } else if (mode(name, "finalized")) {
        if (rank != 1)
            MPI_Recv(buffer, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (mode(name, "livelock")) {
        do
            MPI_Iprobe(left, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        while (!flag);
    } else if (mode(name, "slow")) {
        if (rank == 1)
            sleep(100);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (mode(name, "works")) {
        for (;;) {
            MPI_Sendrecv(buffer, 1000, MPI_CHAR, right, 1, buffer + LARGE, 1000, MPI_CHAR, left, 1, a, MPI_STATUS_IGNORE);
            MPI_Irecv(buffer + LARGE, LARGE, MPI_CHAR, MPI_ANY_SOURCE, 2, b, &q[0]);
            MPI_Isend(buffer, rank == 1 ? LARGE : 100, MPI_CHAR, right, 2, b, &q[1]);
            MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
            MPI_Bcast(buffer, 100, MPI_CHAR, 1, b);
            MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 2, a);
        }
    }
    MPI_Finalize();
    return !is;
}
