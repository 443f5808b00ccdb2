/* What EZTrace 2.0 of Debian 12 recorded here: mpiexec.openmpi -n 3 eztrace -t openmpi ./ring */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    char *b = calloc(2, 100000);
    MPI_Request q[2];
    MPI_Status s[2];
    double x = rank, y;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < 5; i++) {
        MPI_Irecv(b, 1000 + i, MPI_CHAR, (rank + n - 1) % n, 7, MPI_COMM_WORLD, q);
        MPI_Isend(b + 100000, 1000 + i, MPI_CHAR, (rank + 1) % n, 7, MPI_COMM_WORLD, q + 1);
        MPI_Waitall(2, q, s);
        if (rank == 0)
            MPI_Send(b, 10, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(b, 10, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, half);
        MPI_Bcast(b, 64, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
}
