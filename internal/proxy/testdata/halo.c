/*
 * The MPI calls of: ./app * / /
 * Ranks: 8, 3200 calls. Made by `spoor proxy` from app.spoor.
 *
 * A line is DO(microseconds since the call before, call). runtime.h explains the rest.
 */
#include "runtime.h"

MPI_Request kept[1];

static void part0(void)
{
    DO(0.3626, MPI_Irecv(heap(1) + (rank < 2 ? 24 * rank - 24 : 8 * rank - 8), 10, MPI_INT, (rank == 0 ? MPI_PROC_NULL : rank - 1), 7, MPI_COMM_WORLD, new_request())); // solver+0x100c
    DO(0.3619, MPI_Isend(heap(0) + (rank < 7 ? 8 * rank + 8 : -24), 10, MPI_INT, (rank == 7 ? MPI_PROC_NULL : rank + 1), 7, MPI_COMM_WORLD, new_request())); // solver+0x1018
    DO(0.3636, MPI_Waitall(2, window(2), MPI_STATUSES_IGNORE)); // solver+0x1024
    DO(0.3626, MPI_Allreduce(heap(2), heap(3), 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD)); // solver+0x1030
}

static void part1(void)
{
    REPEAT(100) part0();
}

static void memory_0(void)
{
    area(HEAP, 0, 1, (rank < 7 ? 8 * rank + 8 : -24), (rank < 7 ? 8 * rank + 48 : 16));
    area(HEAP, 1, 1, (rank < 2 ? 24 * rank - 24 : 8 * rank - 8), (rank < 2 ? 24 * rank + 16 : 8 * rank + 32));
    area(HEAP, 2, 2, 0, 4);
}

static int program0(void)
{
    memory_0();
    part1();
    return finish();
}

int main(void)
{
    start(8, "none", 2);
    member = rank;
    return program0();
}
