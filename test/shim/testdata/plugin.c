// The plugin of local.c.
#include <mpi.h>
#include <stdio.h>

int plugin_main(int *argc, char ***argv) {
    int rank, sum = 0;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("max %d\n", sum);
    MPI_Finalize();
    return 0;
}
