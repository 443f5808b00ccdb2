// Binomial trees with roots that are not rank 0, and blocks of which the last ones are larger.
#include <mpi.h>

static double field[4096], copy[4096];
static int rank, ranks;

static void broadcast(int root, int tag)
{
	int own = (rank - root + ranks) % ranks, mask = 1;
	for (; mask < ranks; mask *= 2)
		if (own & mask) {
			MPI_Recv(field, 100, MPI_DOUBLE, (rank - mask + ranks) % ranks, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			break;
		}
	for (mask /= 2; mask > 0; mask /= 2)
		if (own + mask < ranks)
			MPI_Send(field, 100, MPI_DOUBLE, (rank + mask) % ranks, tag, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int late = 700 / ranks + (rank >= ranks - 700 % ranks);
	for (int i = 0; i < 3; i++) {
		broadcast(ranks - 1, 5);
		broadcast(ranks / 3, 6);
		MPI_Sendrecv(field, late, MPI_DOUBLE, (rank + 1) % ranks, 7, copy, 2048, MPI_DOUBLE, (rank + ranks - 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Finalize();
	return 0;
}
