// Three threads of each rank at a time: one puts into its neighbour's window, one writes to a file, one sends messages.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAPS = 5, N = 8 };

static int rank, size;
static MPI_Comm files, messages;

static void *write_file(void *name) {
    MPI_File f;
    int block[N];
    MPI_File_open(files, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    for (int i = 0; i < LAPS; i++) {
        for (int j = 0; j < N; j++)
            block[j] = rank;
        MPI_File_write_at_all(f, (MPI_Offset)(i * size + rank) * (MPI_Offset)sizeof block, block, N, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_read_at(f, (MPI_Offset)(i * size + rank) * (MPI_Offset)sizeof block, block, N, MPI_INT, MPI_STATUS_IGNORE);
        if (block[N - 1] != rank)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_File_close(&f);
    return NULL;
}

static void *send_messages(void *arg) {
    int out[N] = {0}, in[N];
    for (int i = 0; i < LAPS; i++) {
        MPI_Request r[2];
        MPI_Irecv(in, N, MPI_INT, (rank + size - 1) % size, i, messages, &r[0]);
        MPI_Isend(out, N, MPI_INT, (rank + 1) % size, i, messages, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Bcast(out, N, MPI_INT, i % size, messages);
    }
    return arg;
}

int main(int argc, char **argv) {
    int provided, mine = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided != MPI_THREAD_MULTIPLE || argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &files);
    MPI_Comm_dup(MPI_COMM_WORLD, &messages);
    MPI_Win w;
    MPI_Win_create(&mine, sizeof mine, sizeof mine, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, write_file, argv[1]);
    pthread_create(&threads[1], NULL, send_messages, NULL);
    for (int i = 0; i < LAPS; i++) {
        int to = (rank + 1) % size, old;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, w);
        MPI_Get(&old, 1, MPI_INT, to, 0, 1, MPI_INT, w);
        MPI_Win_flush(to, w);
        MPI_Put(&rank, 1, MPI_INT, to, 0, 1, MPI_INT, w);
        MPI_Win_unlock(to, w);
        if (old != -1 && old != rank)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    MPI_Win_free(&w);
    MPI_Comm_free(&files);
    MPI_Comm_free(&messages);
    MPI_Finalize();
    return 0;
}
