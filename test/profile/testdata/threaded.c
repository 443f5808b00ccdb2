/* A loop of which optimisers make several: its last rounds have a call more, every second one a call less. */
#include <mpi.h>

int main(int argc, char **argv)
{
	int in[4] = {0}, out[64], rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 20; i++) {
		if (rank % 2 == 0) {
			MPI_Send(in, 4, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
			MPI_Recv(out, 4, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(out, 4, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(in, 4, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
		}
		if (i >= 15)
			MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (i % 2)
			continue;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
