// Receives from MPI_ANY_SOURCE with MPI_ANY_TAG, with a status, with STATUS_IGNORE, and after Probe and Iprobe.
// ranks: 1 2 4 7
// mpi: mpich openmpi
// nondet: the order in which rank 0 gets the messages, and how often Iprobe says no
#include "check.h"
#include <mpi.h>

enum { ROUNDS = 10 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    for (int round = 0; round < ROUNDS; round++) {
        int tag = rank + 100 * (round % 3);
        if (rank != 0) {
            int data[3] = {rank, round, rank * round};
            MPI_Send(data, 3, MPI_INT, 0, tag, MPI_COMM_WORLD);
        } else {
            int seen = 0;
            for (int i = 1; i < size; i++) {
                int data[8] = {0}, count, flag = 0;
                MPI_Status st;
                switch (round % 4) {
                case 0:
                    MPI_Recv(data, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
                    CHECK(st.MPI_SOURCE == data[0] && st.MPI_TAG == data[0] + 100 * (round % 3));
                    break;
                case 1:
                    MPI_Recv(data, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    break;
                case 2:
                    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
                    MPI_Get_count(&st, MPI_INT, &count);
                    CHECK(count == 3);
                    MPI_Recv(data, count, MPI_INT, st.MPI_SOURCE, st.MPI_TAG, MPI_COMM_WORLD, &st);
                    break;
                default:
                    while (!flag)
                        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &st);
                    MPI_Recv(data, 3, MPI_INT, st.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                }
                CHECK(data[1] == round && data[2] == data[0] * round);
                CHECK(!(seen & 1 << data[0]));
                seen |= 1 << data[0];
            }
            CHECK(seen == (1 << size) - 2);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int flag = 1; // nothing is left, so this says no on every rank
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    say(rank, "wildcards: %d rounds", ROUNDS);
    MPI_Finalize();
    return 0;
}
