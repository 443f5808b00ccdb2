// Point-to-point calls with MPI_Count counts (MPI-4): every form of send and receive, buffers, persistent requests.
// ranks: 1 2 4
// mpi: mpich openmpi>=6.0
#include "check.h"
#include <mpi.h>

enum { N = 5 };

static int rank, size, right, left, in[N], out[N];

static void arrived(int step) {
    for (int i = 0; i < N; i++) {
        CHECK(in[i] == left * 100 + step + i);
        in[i] = -1;
    }
}

static int *next(int step) {
    for (int i = 0; i < N; i++)
        out[i] = rank * 100 + step + i;
    return out;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype t = MPI_INT;
    MPI_Comm_rank(w, &rank);
    MPI_Comm_size(w, &size);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Status st;
    MPI_Count n = N, count, bytes = 4096;
    char pool[4096], *back;
    MPI_Buffer_attach_c(pool, bytes);
    MPI_Request r[2];

    // Blocking sends into a posted large-count receive.
    for (int mode = 0; mode < 4; mode++) {
        MPI_Irecv_c(in, n, t, left, mode, w, &r[0]);
        MPI_Barrier(w);
        switch (mode) {
        case 0: MPI_Send_c(next(mode), n, t, right, mode, w); break;
        case 1: MPI_Bsend_c(next(mode), n, t, right, mode, w); break;
        case 2: MPI_Ssend_c(next(mode), n, t, right, mode, w); break;
        case 3: MPI_Rsend_c(next(mode), n, t, right, mode, w); break;
        }
        MPI_Wait(&r[0], &st);
        MPI_Get_count_c(&st, t, &count);
        CHECK(count == N);
        MPI_Get_elements_c(&st, t, &count);
        CHECK(count == N);
        arrived(mode);
    }
    // Nonblocking sends, a blocking receive.
    for (int mode = 0; mode < 4; mode++) {
        if (mode == 3)
            MPI_Irecv_c(in, n, t, left, mode, w, &r[1]);
        MPI_Barrier(w);
        switch (mode) {
        case 0: MPI_Isend_c(next(mode), n, t, right, mode, w, &r[0]); break;
        case 1: MPI_Ibsend_c(next(mode), n, t, right, mode, w, &r[0]); break;
        case 2: MPI_Issend_c(next(mode), n, t, right, mode, w, &r[0]); break;
        case 3: MPI_Irsend_c(next(mode), n, t, right, mode, w, &r[0]); break;
        }
        if (mode == 3)
            MPI_Wait(&r[1], &st);
        else
            MPI_Recv_c(in, n, t, left, mode, w, &st);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        arrived(mode);
    }
    // Persistent.
    for (int mode = 0; mode < 4; mode++) {
        MPI_Recv_init_c(in, n, t, left, mode, w, &r[0]);
        switch (mode) {
        case 0: MPI_Send_init_c(out, n, t, right, mode, w, &r[1]); break;
        case 1: MPI_Bsend_init_c(out, n, t, right, mode, w, &r[1]); break;
        case 2: MPI_Ssend_init_c(out, n, t, right, mode, w, &r[1]); break;
        case 3: MPI_Rsend_init_c(out, n, t, right, mode, w, &r[1]); break;
        }
        for (int lap = 0; lap < 3; lap++) {
            next(lap * 10);
            MPI_Start(&r[0]);
            MPI_Barrier(w);
            MPI_Start(&r[1]);
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
            arrived(lap * 10);
        }
        MPI_Request_free(&r[0]);
        MPI_Request_free(&r[1]);
    }
    // Matched probes and the combined calls.
    MPI_Message msg;
    for (int i = 0; i < 2; i++) {
        MPI_Isend_c(next(i), n, t, right, 7, w, &r[0]);
        MPI_Mprobe(left, 7, w, &msg, &st);
        if (i) {
            MPI_Mrecv_c(in, n, t, &msg, &st);
        } else {
            MPI_Imrecv_c(in, n, t, &msg, &r[1]);
            MPI_Wait(&r[1], &st);
        }
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        arrived(i);
    }
    MPI_Sendrecv_c(next(3), n, t, right, 8, in, n, t, left, 8, w, &st);
    arrived(3);
    MPI_Isendrecv_c(next(4), n, t, right, 9, in, n, t, left, 9, w, &r[0]);
    MPI_Wait(&r[0], &st);
    arrived(4);
    memcpy(in, next(5), sizeof in);
    MPI_Sendrecv_replace_c(in, n, t, right, 10, left, 10, w, &st);
    arrived(5);
    memcpy(in, next(6), sizeof in);
    MPI_Isendrecv_replace_c(in, n, t, right, 11, left, 11, w, &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    arrived(6);
    MPI_Buffer_detach_c(&back, &bytes);
    CHECK(back == pool && bytes == sizeof pool);
    say(rank, "large_p2p: ok");
    MPI_Finalize();
    return 0;
}
