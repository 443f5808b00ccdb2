// Handles freed and made again, in other orders than they were made, and objects freed while something uses them.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static void first_of_two(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    memcpy(inout, in, *n * sizeof(int));
}

int main(int argc, char **argv) {
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    MPI_Comm a, b, c;
    for (int i = 0; i < 6; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &a);
        MPI_Comm_dup(a, &b);
        MPI_Comm_free(&a); // b outlives its parent
        MPI_Comm_dup(b, &c); // may get a's place
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
        CHECK(sum == size * (size - 1) / 2);
        if (i % 2) {
            MPI_Comm_free(&b);
            MPI_Comm_free(&c);
        } else {
            MPI_Comm_free(&c);
            MPI_Comm_free(&b);
        }
    }
    // A type and a communicator freed while a receive on them is under way.
    for (int i = 0; i < 5; i++) {
        int in[4] = {0}, out[4] = {rank, i, 2, 3};
        MPI_Datatype inner, outer;
        MPI_Request req;
        MPI_Type_contiguous(2, MPI_INT, &inner);
        MPI_Type_contiguous(2, inner, &outer);
        MPI_Type_free(&inner);
        MPI_Type_commit(&outer);
        MPI_Comm_dup(MPI_COMM_WORLD, &a);
        MPI_Irecv(in, 1, outer, left, i, a, &req);
        MPI_Send(out, 1, outer, right, i, a);
        MPI_Type_free(&outer);
        MPI_Comm_free(&a);
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        CHECK(in[0] == left && in[1] == i && in[3] == 3);
    }
    // Groups that turn out to be the same, or the empty one.
    MPI_Group world, same, empty;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(MPI_COMM_WORLD, &same); // some libraries hand out the same handle
    MPI_Group_incl(world, 0, NULL, &empty);
    MPI_Group_free(&world);
    int n;
    MPI_Group_size(same, &n);
    CHECK(n == size);
    MPI_Group_size(empty, &n);
    CHECK(n == 0);
    MPI_Group_free(&same);
    if (empty != MPI_GROUP_EMPTY)
        MPI_Group_free(&empty);
    for (int i = 0; i < 4; i++) {
        MPI_Op op;
        MPI_Datatype pair;
        int x[2] = {rank, i}, y[2];
        MPI_Op_create(first_of_two, 0, &op);
        MPI_Type_dup(MPI_INT, &pair);
        MPI_Scan(x, y, 2, pair, op, MPI_COMM_WORLD);
        CHECK(y[0] == 0 && y[1] == i);
        MPI_Type_free(&pair);
        MPI_Op_free(&op);
    }
    say(rank, "handles_reused: ok");
    MPI_Finalize();
    return 0;
}
