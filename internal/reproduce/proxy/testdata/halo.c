/*
 * The MPI calls of: ./app * / /
 * Ranks: 8, 3232 calls. Made by `spoor proxy` from app.spoor.
 *
 * A line is DO(microseconds since the call before, call). runtime/runtime.h explains the rest.
 */
#include "runtime/runtime.h"

MPI_Comm comm[1];
MPI_Request kept[1];

static void part0(void)
{
    DO(0.3631, MPI_Irecv(heap(1), 1024, MPI_DOUBLE, (rank == 0 ? MPI_PROC_NULL : rank - 1), 7, comm[0], new_request())); // solver+0x103c
    DO(0.3619, MPI_Isend(heap(0) + 8192 * (rank < 3 ? 100 : 99), 1024, MPI_DOUBLE, (rank == 7 ? MPI_PROC_NULL : rank + 1), 7, comm[0], new_request())); // solver+0x1048
    DO(0.3623, MPI_Waitall(2, window(2), MPI_STATUSES_IGNORE)); // solver+0x1054
    release(HEAP, 1);
    DO(0.3617, MPI_Allreduce(stack(0) + 80, stack(0) + 88, 1, MPI_DOUBLE, MPI_SUM, comm[0])); // solver+0x106c
}

static void part1(void)
{
    DO(0.3678, MPI_Init(NULL, NULL)); begun(); // solver+0x100c
    DO(0.3548, MPI_Comm_dup(MPI_COMM_WORLD, &comm[0])); // solver+0x1024
    REPEAT(100) part0();
    release(HEAP, 0);
    DO(0.375, MPI_Comm_free((MPI_Comm[]){comm[0]})); // solver+0x1084
    DO(0.3563, MPI_Finalize()); // solver+0x1018
}

static void memory_0(void)
{
    block(HEAP, 0, 8192 * (rank < 3 ? 101 : 100));
    block(HEAP, 1, 8192);
    area(STACK, 0, 1, 80, 96);
}

static int program0(void)
{
    memory_0();
    char local[stack_size(0) + 1];
    stack_is(0, local, stack_size(0));
    part1();
    return finish();
}

int main(void)
{
    start(8, "none", 2);
    member = rank;
    return program0();
}
