// Each MPI call stands on a line of its own that says, behind "in", which
// function it is in; with "inlined in", which one without debug information.
#include <mpi.h>

static inline __attribute__((always_inline)) void greet(int to, int from)
{
	int n = 0;
	MPI_Sendrecv(&n, 1, MPI_INT, to, 3, &n, 1, MPI_INT, from, 3, // in greet, inlined in exchange
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void exchange(int rank, int size)
{
	for (int i = 0; i < 3; i++) {
		greet((rank + 1) % size, (rank + size - 1) % size);
		MPI_Barrier(MPI_COMM_WORLD); // in exchange
	}
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv); // in main
	MPI_Comm_rank(MPI_COMM_WORLD, &rank); // in main
	MPI_Comm_size(MPI_COMM_WORLD, &size); // in main
	exchange(rank, size);
	MPI_Finalize(); // in main
	return 0;
}
