// Matched probes: Mprobe, Improbe, Mrecv, Imrecv, messages copied about, and the message from MPI_PROC_NULL.
// ranks: 2 4 7
// mpi: mpich openmpi
// nondet: how often Improbe says no, and the order of senders
#include "check.h"
#include <mpi.h>

enum { ROUNDS = 8 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int data[16], count, flag;
    MPI_Status st;
    MPI_Message msg, other;

    for (int round = 0; round < ROUNDS; round++) {
        if (rank != 0) {
            for (int i = 0; i < rank + 1; i++)
                data[i] = rank * 10 + i;
            MPI_Send(data, rank + 1, MPI_INT, 0, round, MPI_COMM_WORLD);
            MPI_Send(data, 1, MPI_INT, 0, 1000, MPI_COMM_WORLD);
        } else {
            for (int i = 1; i < size; i++) {
                if (round % 2) {
                    MPI_Mprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &msg, &st);
                } else {
                    for (flag = 0; !flag;)
                        MPI_Improbe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &flag, &msg, &st);
                }
                int from = st.MPI_SOURCE;
                MPI_Get_count(&st, MPI_INT, &count);
                CHECK(count == from + 1);
                // A second message is taken while the first one waits.
                MPI_Mprobe(from, 1000, MPI_COMM_WORLD, &other, MPI_STATUS_IGNORE);
                MPI_Mrecv(data, 1, MPI_INT, &other, MPI_STATUS_IGNORE);
                CHECK(other == MPI_MESSAGE_NULL && data[0] == from * 10);
                if (round % 3) {
                    MPI_Mrecv(data, count, MPI_INT, &msg, &st);
                } else {
                    MPI_Request req;
                    MPI_Imrecv(data, count, MPI_INT, &msg, &req);
                    MPI_Wait(&req, &st);
                }
                CHECK(msg == MPI_MESSAGE_NULL && st.MPI_SOURCE == from && st.MPI_TAG == round);
                for (int k = 0; k < count; k++)
                    CHECK(data[k] == from * 10 + k);
            }
        }
    }
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &msg, &st);
    CHECK(msg == MPI_MESSAGE_NO_PROC && st.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mrecv(NULL, 0, MPI_INT, &msg, &st);
    CHECK(msg == MPI_MESSAGE_NULL);
    say(rank, "mprobe: %d rounds", ROUNDS);
    MPI_Finalize();
    return 0;
}
