// Request values copied to other variables before they are completed, moved within arrays, and compacted.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { N = 60 };

struct slot {
    long pad; // so that requests lie at a stride
    MPI_Request req;
};

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int in[N], out[N];
    MPI_Status st;

    // One variable makes all requests; they live on in an array of structs.
    struct slot *recvs = malloc(N * sizeof *recvs);
    CHECK(recvs);
    MPI_Request current, copies[N];
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &current);
        recvs[i].req = current;
    }
    for (int i = 0; i < N; i++) {
        out[i] = rank * 1000 + i;
        MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &current);
        copies[N - 1 - i] = current; // and backwards
    }
    // Odd receives are waited for where they are, the last first; the even ones move together and go in one call.
    int kept = 0;
    MPI_Request even[N];
    for (int i = N - 1; i >= 0; i--) {
        if (i % 2) {
            MPI_Wait(&recvs[i].req, &st);
            CHECK(st.MPI_TAG == i && st.MPI_SOURCE == left);
        } else {
            even[kept++] = recvs[i].req;
        }
    }
    MPI_Status sts[N];
    MPI_Waitall(kept, even, sts);
    for (int i = 0; i < kept; i++)
        CHECK(sts[i].MPI_TAG == N - 2 - 2 * i);
    MPI_Waitall(N, copies, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++)
        CHECK(in[i] == left * 1000 + i);

    // A pool: the finished request's place is filled by the last one.
    int live = 10;
    for (int i = 0; i < live; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, left, 100 + i, MPI_COMM_WORLD, &copies[i]);
    for (int i = 0; i < live; i++)
        MPI_Send(&out[i], 1, MPI_INT, right, 100 + i, MPI_COMM_WORLD);
    for (int turn = 0; live > 0; turn++) {
        int at = turn * 7 % live;
        MPI_Wait(&copies[at], &st);
        CHECK(in[st.MPI_TAG - 100] == left * 1000 + st.MPI_TAG - 100);
        copies[at] = copies[--live];
    }

    // Two requests exchange their variables.
    MPI_Request a, b, swap;
    MPI_Irecv(&in[0], 1, MPI_INT, left, 200, MPI_COMM_WORLD, &a);
    MPI_Irecv(&in[1], 1, MPI_INT, left, 201, MPI_COMM_WORLD, &b);
    MPI_Send(&out[1], 1, MPI_INT, right, 201, MPI_COMM_WORLD);
    MPI_Send(&out[0], 1, MPI_INT, right, 200, MPI_COMM_WORLD);
    swap = a, a = b, b = swap;
    MPI_Wait(&a, &st);
    CHECK(st.MPI_TAG == 201);
    MPI_Wait(&b, &st);
    CHECK(st.MPI_TAG == 200);
    free(recvs);
    say(rank, "requests_copied: %d requests", 2 * N);
    MPI_Finalize();
    return 0;
}
