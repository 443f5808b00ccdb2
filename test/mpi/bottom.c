// MPI_BOTTOM with a datatype of absolute addresses: variables of stack, heap and static data in one message.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static double in_data[4];

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int on_stack[2] = {rank, rank + 1};
    char *on_heap = malloc(8);
    CHECK(on_heap);
    memset(on_heap, 'a' + rank, 8);
    for (int i = 0; i < 4; i++)
        in_data[i] = rank * 0.5 + i;

    int lengths[3] = {2, 8, 4};
    MPI_Aint where[3];
    MPI_Datatype kinds[3] = {MPI_INT, MPI_CHAR, MPI_DOUBLE}, all;
    MPI_Get_address(on_stack, &where[0]);
    MPI_Get_address(on_heap, &where[1]);
    MPI_Get_address(in_data, &where[2]);
    CHECK(MPI_Aint_diff(where[1], where[0]) == where[1] - where[0]);
    CHECK(MPI_Aint_add(where[2], 8) == where[2] + 8);
    MPI_Type_create_struct(3, lengths, where, kinds, &all);
    MPI_Type_commit(&all);

    MPI_Sendrecv_replace(MPI_BOTTOM, 1, all, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(on_stack[0] == left && on_stack[1] == left + 1);
    CHECK(on_heap[0] == 'a' + left && on_heap[7] == 'a' + left && in_data[3] == left * 0.5 + 3);

    MPI_Bcast(MPI_BOTTOM, 1, all, size - 1, MPI_COMM_WORLD);
    int from = (size - 2 + size) % size;
    CHECK(on_stack[0] == from && on_heap[3] == 'a' + from && in_data[0] == from * 0.5);

    MPI_Type_free(&all);
    free(on_heap);
    say(rank, "bottom: ok");
    MPI_Finalize();
    return 0;
}
