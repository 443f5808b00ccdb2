// Leaves little of the addresses that it may have before MPI_Finalize, if it is told to.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
    int rank, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    void *all = malloc(50 << 20);
    if (!all) {
        fprintf(stderr, "no memory for the program\n");
        return 5;
    }
    if (argc > 1)
        while (mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
            ;
    free(argc > 1 ? NULL : all);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("done\n");
    if (argc > 1)
        free(all);
    MPI_Finalize();
    return 3;
}
