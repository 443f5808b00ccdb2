// One collective after another, for a minute.
#include <mpi.h>

int main(int argc, char **argv) {
    int one = 1, sum;
    MPI_Init(&argc, &argv);
    for (double end = MPI_Wtime() + 60; MPI_Wtime() < end;)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
