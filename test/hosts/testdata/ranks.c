/* Barriers on all hosts. Then, as argv[1] says: "end"; "crash": rank 3 does; "go": barriers until somebody ends it, once the file "going"
   is there. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(argv[1], "crash") && rank == 3)
        abort();
    if (!strcmp(argv[1], "go") && rank == 0)
        fclose(fopen("going", "w"));
    while (!strcmp(argv[1], "go")) {
        usleep(10000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
