// A server that collects requests with Waitsome and answers, clients that use plain calls; also STATUSES_IGNORE.
// ranks: 2 4 7
// mpi: mpich openmpi
// nondet: which requests complete together
#include "check.h"
#include <mpi.h>

enum { JOBS = 20 };

static void serve(int size) {
    int clients = size - 1, left = clients * JOBS, rounds = 0;
    MPI_Request *req = malloc(clients * sizeof *req);
    int *job = malloc(clients * sizeof *job), *index = malloc(clients * sizeof *index);
    MPI_Status *st = malloc(clients * sizeof *st);
    CHECK(req && job && index && st);
    for (int c = 0; c < clients; c++)
        MPI_Irecv(&job[c], 1, MPI_INT, c + 1, 1, MPI_COMM_WORLD, &req[c]);
    while (left > 0) {
        int done;
        int ignore = rounds++ % 2;
        MPI_Waitsome(clients, req, &done, index, ignore ? MPI_STATUSES_IGNORE : st);
        CHECK(done > 0 && done <= clients);
        for (int i = 0; i < done; i++, left--) {
            int c = index[i], answer = job[c] * job[c], last = job[c] % JOBS == JOBS - 1;
            if (!ignore)
                CHECK(st[i].MPI_SOURCE == c + 1 && st[i].MPI_TAG == 1);
            MPI_Send(&answer, 1, MPI_INT, c + 1, 2, MPI_COMM_WORLD);
            if (!last)
                MPI_Irecv(&job[c], 1, MPI_INT, c + 1, 1, MPI_COMM_WORLD, &req[c]);
        }
    }
    int done = 0;
    MPI_Waitsome(clients, req, &done, index, st);
    CHECK(done == MPI_UNDEFINED);
    free(req);
    free(job);
    free(index);
    free(st);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        serve(size);
    } else {
        for (int i = 0; i < JOBS; i++) {
            int job = rank * JOBS + i, answer;
            MPI_Send(&job, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
            MPI_Recv(&answer, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(answer == job * job);
        }
    }
    say(rank, "waitsome: %d jobs", JOBS * (size - 1));
    MPI_Finalize();
    return 0;
}
