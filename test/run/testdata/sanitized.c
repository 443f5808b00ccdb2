// Sends from and receives into heap blocks. With an argument it writes behind one of them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef OWN_OPTIONS
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
#endif

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++) {
        volatile int *out = malloc(4000), *in = calloc(1, 4000);
        out[0] = i;
        MPI_Sendrecv((int *)out, 1, MPI_INT, (rank + 1) % size, 0, (int *)in + 2, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (argc > 1)
            in[1000] = in[2];
        free((int *)in);
        free((int *)out);
    }
    printf("done\n");
    MPI_Finalize();
    return 0;
}
