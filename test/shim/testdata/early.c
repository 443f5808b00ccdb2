// More calls before MPI_Init than the buffer for them holds, some of them from another thread.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void *ask(void *arg) {
    int flag;
    for (int i = 0; i < 1000; i++)
        MPI_Initialized(&flag);
    return arg;
}

int main(int argc, char **argv) {
    int flag, rank, version, sub, n = 0;
    pthread_t thread;
    for (int i = 0; i < 2000; i++) {
        MPI_Initialized(&flag);
        n += !flag;
    }
    MPI_Get_version(&version, &sub);
    pthread_create(&thread, NULL, ask, NULL);
    pthread_join(thread, NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Initialized(&flag);
    if (rank == 0)
        printf("%d times not yet, then %d\n", n, flag);
    MPI_Finalize();
    MPI_Finalized(&flag);
    return !flag;
}
