// Loops that call MPI in some iterations only: where a partner exists, where a block is not empty, where it is not the rank itself.
#include <mpi.h>

static double field[8192], copy[8192];
static int rank, ranks;

static void exchange(int with, int tag)
{
	MPI_Sendrecv(field, 15, MPI_DOUBLE, with, tag, copy, 15, MPI_DOUBLE, with, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Blocks are alike as long as there is something.
static int block(int of)
{
	int each = (100 + ranks - 1) / ranks, left = 100 - each * of;
	return left < 0 ? 0 : left < each ? left : each;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int step = 0; step < 2; step++)
		for (int mask = 1; mask < ranks; mask *= 2)
			if ((rank ^ mask) < ranks)
				exchange(rank ^ mask, mask);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int phase = 0; phase < ranks; phase++) {
		int with = (rank + phase) % 2 ? rank - 1 : rank + 1;
		if (with >= 0 && with < ranks)
			exchange(with, 100);
	}
	if (rank > 0 && block(rank) > 0)
		MPI_Send(field, block(rank), MPI_DOUBLE, 0, 200, MPI_COMM_WORLD);
	for (int from = 1; rank == 0 && from < ranks; from++)
		if (block(from) > 0)
			MPI_Recv(copy, block(from), MPI_DOUBLE, from, 200, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
