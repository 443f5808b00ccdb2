// The functions that MPI-3 removed, which both libraries still export: addresses, types, attributes, error handlers.
// ranks: 1 2 4 7
// mpi: mpich openmpi !mpich-abi !openmpi-abi !mpich>=5.0
// Not with Debian's MPICH 5.0.2, which accepts a rank that is none.
// Open MPI's header hides the prototypes unless it is told not to.
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include "check.h"
#include <mpi.h>

static int handled, copies, deletes;

static void handler(MPI_Comm *comm, int *code, ...) {
    CHECK(*comm != MPI_COMM_NULL && *code != MPI_SUCCESS);
    handled++;
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int rank, size, key, flag, *value, number = 42;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int cells[10] = {0}, lens[2] = {1, 2};
    MPI_Aint a, b, at[2] = {0, 16}, extent, edge;
    MPI_Address(&cells[0], &a);
    MPI_Address(&cells[4], &b);
    CHECK(b - a == 16);
    MPI_Datatype t, kinds[2] = {MPI_INT, MPI_INT};
    MPI_Type_hvector(3, 1, 8, MPI_INT, &t);
    MPI_Type_extent(t, &extent);
    MPI_Type_lb(t, &edge);
    CHECK(extent == 20 && edge == 0);
    MPI_Type_free(&t);
    MPI_Type_hindexed(2, lens, at, MPI_INT, &t);
    MPI_Type_ub(t, &edge);
    CHECK(edge == 24);
    MPI_Type_free(&t);
    MPI_Type_struct(2, lens, at, kinds, &t);
    MPI_Type_commit(&t);
    int out[6] = {rank, 0, 0, 0, rank + 1, rank + 2};
    MPI_Sendrecv(out, 1, t, (rank + 1) % size, 0, cells, 1, t, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(cells[5] == (rank + size - 1) % size + 2);
    MPI_Type_free(&t);

    MPI_Comm dup;
    MPI_Keyval_create(copy, drop, &key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, key, &number);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Attr_get(dup, key, &value, &flag);
    CHECK(flag && *value == 42 && copies == 1);
    MPI_Comm_free(&dup);
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    CHECK(deletes == 2);
    MPI_Keyval_free(&key);

    MPI_Errhandler mine, got;
    MPI_Errhandler_create(handler, &mine);
    MPI_Errhandler_set(MPI_COMM_WORLD, mine);
    MPI_Errhandler_get(MPI_COMM_WORLD, &got);
    CHECK(got == mine);
    CHECK(MPI_Send(cells, 1, MPI_INT, size, 0, MPI_COMM_WORLD) != MPI_SUCCESS && handled == 1);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&mine);
    say(rank, "removed: ok");
    MPI_Finalize();
    return 0;
}
