/* pingpong BYTES ROUNDS: messages of a size between two ranks, there and back. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int rank, bytes = argc > 1 ? atoi(argv[1]) : 8, rounds = argc > 2 ? atoi(argv[2]) : 1000;
	char *out = malloc((size_t)bytes + 1), *in = malloc((size_t)bytes + 1);
	memset(out, 0, (size_t)bytes + 1);
	memset(in, 0, (size_t)bytes + 1);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < rounds; i++) {
		if (rank == 0) {
			MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(in, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank == 1) {
			MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		}
	}
	MPI_Finalize();
	return 0;
}
