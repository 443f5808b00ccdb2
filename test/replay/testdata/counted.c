/* Each rank counts what it does for the sake of receiving: calls that receive, probe, wait or test, and the messages that it gets. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 3 };

static long left, got; /* calls and messages */

#define LEFT(call) (left++, (void)(call))

int main(int argc, char **argv) {
    int rank, size, flag, index, count, indices[2], in[2] = {0, 0}, out = 1;
    MPI_Request requests[2], again[2];
    MPI_Message message;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int round = 0; round < ROUNDS; round++) {
        /* Requests of receives and sends, completed in each way. */
        for (int way = 0; way < 6; way++) {
            LEFT(MPI_Irecv(&in[0], 1, MPI_INT, before, way, MPI_COMM_WORLD, &requests[0]));
            MPI_Isend(&out, 1, MPI_INT, next, way, MPI_COMM_WORLD, &requests[1]);
            got++;
            switch (way) {
            case 0:
                LEFT(MPI_Wait(&requests[0], &status));
                LEFT(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
                break;
            case 1:
                LEFT(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
                break;
            case 2:
                for (int i = 0; i < 2; i++)
                    LEFT(MPI_Waitany(2, requests, &index, &status));
                break;
            case 3:
                for (int done = 0; done < 2; done += count)
                    LEFT(MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE));
                break;
            case 4:
                for (flag = 0; !flag;)
                    LEFT(MPI_Test(&requests[0], &flag, &status));
                for (flag = 0; !flag;)
                    LEFT(MPI_Testany(1, &requests[1], &index, &flag, &status));
                break;
            case 5:
                for (flag = 0; !flag;)
                    LEFT(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
                break;
            }
        }
        /* A message that is looked for, is looked for and taken, and comes with one that goes out. */
        if (rank == 0)
            for (int to = 1; to < size; to++)
                for (int i = 0; i < 2; i++)
                    MPI_Send(&out, 1, MPI_INT, to, 10 + i, MPI_COMM_WORLD);
        else {
            for (flag = 0; !flag;)
                LEFT(MPI_Iprobe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &flag, &status));
            LEFT(MPI_Recv(&in[0], 1, MPI_INT, status.MPI_SOURCE, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            LEFT(MPI_Mprobe(0, 11, MPI_COMM_WORLD, &message, &status));
            LEFT(MPI_Mrecv(&in[1], 1, MPI_INT, &message, &status));
            got += 2;
        }
        MPI_Sendrecv(&out, 1, MPI_INT, next, 12, &in[0], 1, MPI_INT, before, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* is made, to send */
        got++;
        LEFT(MPI_Recv(&in[0], 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
        /* Persistent requests: what starts a send is made, and so is what frees it. */
        LEFT(MPI_Recv_init(&in[0], 1, MPI_INT, before, 13, MPI_COMM_WORLD, &again[0]));
        MPI_Send_init(&out, 1, MPI_INT, next, 13, MPI_COMM_WORLD, &again[1]);
        LEFT(MPI_Start(&again[0]));
        MPI_Start(&again[1]);
        LEFT(MPI_Waitall(2, again, MPI_STATUSES_IGNORE));
        MPI_Startall(2, again);
        LEFT(MPI_Waitall(2, again, MPI_STATUSES_IGNORE));
        got += 2;
        LEFT(MPI_Request_free(&again[0]));
        MPI_Request_free(&again[1]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    long mine[2] = {left, got}, *all = NULL, room[16];
    if (rank == 0)
        all = room;
    MPI_Gather(mine, 2, MPI_LONG, all, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        printf("rank %d: %ld left out, %ld received\n", i, room[2 * i], room[2 * i + 1]);
    MPI_Finalize();
    return 0;
}
