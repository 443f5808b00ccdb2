/* What EZTrace 2.0 of Debian 12 recorded here: mpiexec.openmpi -n 4 eztrace -t openmpi ./grid */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm all, row, column;
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &all); // ranks 0 and 3 don't use it
    MPI_Comm_split(all, rank / 2, rank, &row);
    MPI_Comm_split(all, rank % 2, rank, &column);
    int up = rank % 2 == 0 ? MPI_PROC_NULL : 0, down = rank % 2 == 0 ? 1 : MPI_PROC_NULL;
    double x = rank, y;
    for (int i = 0; i < 3; i++) {
        MPI_Recv(&y, 1, MPI_DOUBLE, up, 1, row, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_DOUBLE, down, 1, row);
        if (rank == 1)
            MPI_Send(&x, 1, MPI_DOUBLE, 2, 2, all);
        if (rank == 2)
            MPI_Recv(&y, 1, MPI_DOUBLE, 1, 2, all, MPI_STATUS_IGNORE);
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, column);
    }
    MPI_Finalize();
}
