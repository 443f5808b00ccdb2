// Thousands of short threads, a few at a time: more than there are rings.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 500, AT_ONCE = 4 };

static void *work(void *arg) {
    int tag = (int)(long)arg, in = tag, out = -1;
    MPI_Sendrecv(&in, 1, MPI_INT, 0, tag, &out, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return (void *)(long)out;
}

int main(int argc, char **argv) {
    int level, rank;
    long sum = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread[AT_ONCE];
        for (long k = 0; k < AT_ONCE; k++)
            pthread_create(&thread[k], NULL, work, (void *)(k + 1));
        for (int k = 0; k < AT_ONCE; k++) {
            void *out;
            pthread_join(thread[k], &out);
            sum += (long)out;
        }
    }
    if (rank == 0)
        printf("level %d, sum %ld\n", level, sum);
    MPI_Finalize();
}
