// Arrays of requests as calls left them: with other functions, requests in between, moved, with persistent and null ones, and with tracing off.
// ranks: 1 2 3
// mpi: mpich openmpi
// nondet: completion order
#include "check.h"
#include <mpi.h>

enum { MOST = 12, ROUNDS = 200 };

static int rank, size, to, source;
static int in[MOST], out[MOST], other;
static MPI_Request req[MOST];
static unsigned long seed = 7, own; // one is the same on all ranks, as each message has a receive

static int draw(unsigned long *from, int n) {
    *from = *from * 6364136223846793005ul + 1442695040888963407ul;
    return (int)((*from >> 33) % (unsigned)n);
}

static int pick(int n) { return draw(&seed, n); }

static void post(int i) { // receives at even places, sends at odd ones
    if (i % 2 == 0)
        MPI_Irecv(&in[i], 1, MPI_INT, source, i, MPI_COMM_WORLD, &req[i]);
    else
        MPI_Isend(&out[i - 1], 1, MPI_INT, to, i - 1, MPI_COMM_WORLD, &req[i]);
}

static int open_ones(int n) {
    int some = 0;
    for (int i = 0; i < n; i++)
        some += req[i] != MPI_REQUEST_NULL;
    return some;
}

// One message to oneself, whose requests are not of the array.
static void another(void) {
    MPI_Request two[2];
    int got;
    MPI_Irecv(&got, 1, MPI_INT, rank, 99, MPI_COMM_WORLD, &two[0]);
    MPI_Isend(&other, 1, MPI_INT, rank, 99, MPI_COMM_WORLD, &two[1]);
    MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
}

static void step(int n, int how) {
    int at, some, list[MOST], flag;
    MPI_Status st, all[MOST];
    switch (how) {
    case 0:
        MPI_Waitany(n, req, &at, &st);
        break;
    case 1:
        MPI_Testany(n, req, &at, &flag, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Waitsome(n, req, &some, list, all);
        break;
    case 3:
        MPI_Testsome(n, req, &some, list, MPI_STATUSES_IGNORE);
        break;
    case 4:
        MPI_Testall(n, req, &flag, all);
        break;
    case 5:
        for (int i = 0; i < n; i++)
            if (req[i] != MPI_REQUEST_NULL) {
                MPI_Test(&req[i], &flag, &st);
                break;
            }
        break;
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own = (unsigned)rank;
    to = (rank + 1) % size;
    source = (rank + size - 1) % size;
    for (int i = 0; i < MOST; i++)
        req[i] = MPI_REQUEST_NULL;
    for (int round = 0; round < ROUNDS; round++) {
        int n = 2 + 2 * pick(MOST / 2);
        int kind = pick(8), way = pick(7), off = pick(40) == 0;
        MPI_Request started = MPI_REQUEST_NULL;
        for (int i = 0; i < n; i++)
            post(i);
        if (kind == 1) { // a persistent request among them
            MPI_Wait(&req[1], MPI_STATUS_IGNORE);
            MPI_Send_init(&out[0], 1, MPI_INT, rank, 77, MPI_COMM_WORLD, &started);
            MPI_Start(&started);
            MPI_Recv(&other, 1, MPI_INT, rank, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            req[1] = started;
        }
        if (off)
            MPI_Pcontrol(0);
        if (off || kind == 2)
            another();
        if (off)
            MPI_Pcontrol(1);
        for (int turns = 0; open_ones(n) > (kind == 1); turns++) {
            if (kind == 3 && draw(&own, 3) == 0)
                another();
            if (kind == 4 && turns == 1) { // moved
                MPI_Request r = req[0];
                req[0] = req[n - 1];
                req[n - 1] = r;
            }
            step(n, way < 5 ? way : way == 5 ? 0 : draw(&own, 6));
            if (kind == 1 && way == 5)
                step(n, 4);
        }
        if (kind == 1) {
            MPI_Request_free(&started);
            req[1] = MPI_REQUEST_NULL;
        }
        for (int i = 0; i < pick(3); i++)
            step(n, way % 5); // of an array in which nothing is
    }
    say(rank, "requests_left: %d rounds", ROUNDS);
    MPI_Finalize();
    return 0;
}
