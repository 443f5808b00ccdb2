/* A table that is spread over all ranks is updated in steps: each rank sends messages of any size to any others, all learn how many come, and take
 * these as they come, or by name. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 6, SIZE = 2000 };

static unsigned long state;

static int draw(int below) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (int)((state >> 33) % (unsigned long)below);
}

int main(int argc, char **argv) {
    int rank, ranks, steps = argc > 1 ? atoi(argv[1]) : 12;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    state = 12345ul * (unsigned long)(rank + 1);
    int *to = calloc((size_t)ranks, sizeof(int)), *from = calloc((size_t)ranks, sizeof(int));
    static int out[MOST][SIZE], in[MOST * 64][SIZE];
    static MPI_Request requests[MOST * 65];
    long sent = 0, received = 0, sums[2], all[2];
    for (int step = 0; step < steps; step++) {
        int n = 1 + draw(MOST), partner[MOST], come = 0, made = 0;
        for (int i = 0; i < ranks; i++)
            to[i] = 0;
        for (int i = 0; i < n; i++)
            to[partner[i] = draw(ranks)]++;
        if (step % 2) {
            MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
            for (int i = 0; i < ranks; i++)
                for (int k = 0; k < from[i]; k++)
                    MPI_Irecv(in[made++ % (MOST * 64)], SIZE, MPI_INT, i, step, MPI_COMM_WORLD, &requests[come++]);
        } else {
            MPI_Reduce_scatter_block(to, &come, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            for (int k = 0; k < come; k++)
                MPI_Irecv(in[made++ % (MOST * 64)], SIZE, MPI_INT, MPI_ANY_SOURCE, step, MPI_COMM_WORLD, &requests[k]);
        }
        for (int i = 0; i < n; i++) {
            out[i][0] = rank + step;
            MPI_Isend(out[i], 1 + draw(SIZE), MPI_INT, partner[i], step, MPI_COMM_WORLD, &requests[come + i]);
            sent += out[i][0];
        }
        MPI_Waitall(come + n, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < come; k++)
            received += in[k][0];
        MPI_Barrier(MPI_COMM_WORLD);
    }
    sums[0] = sent, sums[1] = received;
    MPI_Reduce(sums, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all[0] != all[1])
        fprintf(stderr, "sent %ld, received %ld\n", all[0], all[1]);
    free(to);
    free(from);
    MPI_Finalize();
    return rank == 0 && all[0] != all[1];
}
