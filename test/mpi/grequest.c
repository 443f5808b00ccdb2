// Generalized requests: Grequest_start, Grequest_complete, their three callbacks, Status_set_*.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

struct task {
    int id, queried, freed, cancelled;
};

static int query(void *extra, MPI_Status *st) { // a callback that calls MPI
    struct task *t = extra;
    t->queried++;
    st->MPI_SOURCE = 40 + t->id;
    st->MPI_TAG = 50 + t->id;
    if (t->id % 2)
        MPI_Status_set_elements(st, MPI_INT, t->id);
    else
        MPI_Status_set_elements_x(st, MPI_INT, t->id);
    MPI_Status_set_cancelled(st, t->cancelled);
    return MPI_SUCCESS;
}

static int release(void *extra) {
    ((struct task *)extra)->freed++;
    return MPI_SUCCESS;
}

static int cancelled(void *extra, int complete) {
    CHECK(!complete);
    ((struct task *)extra)->cancelled = 1;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int rank, flag, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct task tasks[6];
    MPI_Request req[6];
    MPI_Status st, sts[6];
    for (int i = 0; i < 6; i++) {
        tasks[i] = (struct task){.id = i};
        MPI_Grequest_start(query, release, cancelled, &tasks[i], &req[i]);
    }
    MPI_Test(&req[0], &flag, &st);
    CHECK(!flag);
    MPI_Grequest_complete(req[0]);
    MPI_Request_get_status(req[0], &flag, &st);
    CHECK(flag && tasks[0].freed == 0);
    MPI_Test(&req[0], &flag, &st);
    CHECK(flag && tasks[0].freed == 1 && req[0] == MPI_REQUEST_NULL);

    MPI_Cancel(&req[1]);
    MPI_Grequest_complete(req[1]);
    MPI_Wait(&req[1], &st);
    MPI_Test_cancelled(&st, &flag);
    CHECK(flag && tasks[1].cancelled);

    for (int i = 2; i < 6; i++)
        MPI_Grequest_complete(req[7 - i]);
    MPI_Waitall(4, &req[2], &sts[2]);
    for (int i = 2; i < 6; i++) {
        CHECK(sts[i].MPI_SOURCE == 40 + i && sts[i].MPI_TAG == 50 + i);
        MPI_Get_elements(&sts[i], MPI_INT, &count);
        CHECK(count == i && tasks[i].freed == 1 && tasks[i].queried >= 1);
        MPI_Test_cancelled(&sts[i], &flag);
        CHECK(!flag);
    }
    say(rank, "grequest: ok");
    MPI_Finalize();
    return 0;
}
