/* Messages around a ring, and at once MPI_Finalize: over UCX' TCP the connections are hardly made by then. */
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, size, got = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 5; i++)
		MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, i, &got, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
