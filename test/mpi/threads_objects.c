// Objects made by one thread and used by another, under numbers that come again and mean something else each round.
// ranks: 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>
#include <pthread.h>

enum { ROUNDS = 12 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn; // even: the main thread's

static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Win win;
static MPI_Request req[2];
static int base[4], out[4], in[4], world, ranks;

static void pass_to(int next) {
    pthread_mutex_lock(&lock);
    turn = next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(int mine) {
    pthread_mutex_lock(&lock);
    while (turn != mine)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

// The second thread uses all and frees every third communicator.
static void *use(void *arg) {
    for (int i = 0; i < ROUNDS; i++) {
        wait_for(2 * i + 1);
        int rank, size, sum = 0, one = 1, bytes;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size);
        MPI_Type_size(type, &bytes);
        CHECK(bytes == (i % 3 + 1) * (int)sizeof(int));
        int at = (rank + 1) % size, next = (world + 1) % ranks, from = (rank + size - 1) % size, got[4] = {-1}, give[4] = {i, i, i, i};
        MPI_Sendrecv(give, 1, type, at, i, got, 1, type, from, i, comm, MPI_STATUS_IGNORE);
        CHECK(got[0] == i);
        MPI_Win_fence(0, win);
        MPI_Put(&i, 1, MPI_INT, next, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        CHECK(base[0] == i);
        MPI_Startall(2, req);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        if (i % 3 == 0)
            MPI_Comm_free(&comm);
        pass_to(2 * i + 2);
    }
    return arg;
}

int main(int argc, char **argv) {
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    world = rank;
    pthread_t helper;
    CHECK(pthread_create(&helper, NULL, use, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        int r, n, color = i % 2 ? 0 : rank % 2;
        MPI_Comm_split(MPI_COMM_WORLD, color, rank, &comm);
        MPI_Comm_rank(comm, &r);
        MPI_Comm_size(comm, &n);
        MPI_Type_contiguous(i % 3 + 1, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Win_create(base, sizeof base, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Send_init(out, i % 4 + 1, MPI_INT, (r + 1) % n, 100, comm, &req[0]);
        MPI_Recv_init(in, 4, MPI_INT, (r + n - 1) % n, 100, comm, &req[1]);
        pass_to(2 * i + 1);
        wait_for(2 * i + 2);
        MPI_Request_free(&req[0]);
        MPI_Request_free(&req[1]);
        MPI_Win_free(&win);
        MPI_Type_free(&type);
        if (comm != MPI_COMM_NULL)
            MPI_Comm_free(&comm);
    }
    CHECK(pthread_join(helper, NULL) == 0);
    say(rank, "threads_objects: %d rounds", ROUNDS);
    MPI_Finalize();
    return 0;
}
