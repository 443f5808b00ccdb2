// Delete callbacks that use the object which is being freed, as PETSc's do: communicators, datatypes, windows, and MPI_COMM_SELF's at the end.
// ranks: 2 3 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int calls, held;
static MPI_Comm kept;

// Talks to the neighbours on the communicator that goes, and makes another from it.
static int comm_goes(MPI_Comm comm, int key, void *value, void *extra) {
    int rank, size, got = -1, sum = 0;
    (void)key, (void)extra;
    CHECK(value == &held);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 7, &got, 1, MPI_INT, (rank + size - 1) % size, 7, comm, MPI_STATUS_IGNORE);
    CHECK(got == (rank + size - 1) % size);
    MPI_Comm inner;
    MPI_Comm_dup(comm, &inner);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inner);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Comm_free(&inner);
    MPI_Barrier(comm);
    calls++;
    return MPI_SUCCESS;
}

static int type_goes(MPI_Datatype type, int key, void *value, void *extra) {
    int size, packed;
    (void)key, (void)value, (void)extra;
    MPI_Type_size(type, &size);
    CHECK(size == 12);
    MPI_Pack_size(2, type, MPI_COMM_WORLD, &packed);
    CHECK(packed >= 24);
    calls++;
    return MPI_SUCCESS;
}

static int win_goes(MPI_Win win, int key, void *value, void *extra) {
    MPI_Group group;
    int size;
    (void)key, (void)value, (void)extra;
    MPI_Win_get_group(win, &group);
    MPI_Group_size(group, &size);
    MPI_Group_free(&group);
    CHECK(size > 0);
    calls++;
    return MPI_SUCCESS;
}

static int self_goes(MPI_Comm comm, int key, void *value, void *extra) {
    int sum, one = 1, size;
    (void)comm, (void)key, (void)value, (void)extra;
    MPI_Comm_size(kept, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, kept);
    CHECK(sum == size);
    MPI_Comm_free(&kept);
    calls++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int rank, key, base[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_goes, &key, NULL);
    for (int i = 0; i < 6; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_attr(comm, key, &held);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_free_keyval(&key);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, type_goes, &key, NULL);
    for (int i = 0; i < 2; i++) {
        MPI_Datatype type;
        MPI_Type_contiguous(3, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Type_set_attr(type, key, &held);
        MPI_Type_free(&type);
    }
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_goes, &key, NULL);
    for (int i = 0; i < 2; i++) {
        MPI_Win win;
        MPI_Win_create(base, sizeof base, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_set_attr(win, key, &held);
        MPI_Win_free(&win);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, self_goes, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &held);
    MPI_Finalize();
    CHECK(calls == 11);
    say(rank, "delete_callbacks: %d calls", calls);
    return 0;
}
