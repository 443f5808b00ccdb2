// A loop of as many iterations as there are ranks, whose last one alone has a call that comes first in the code.
#include <mpi.h>

int main(int argc, char **argv) {
	int size, one = 1, sum = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef RANKS // a build for one number of ranks
	if (size != RANKS)
		MPI_Abort(MPI_COMM_WORLD, RANKS);
#endif
	for (int i = 0; i < size; i++) {
		if (i == size - 1)
			MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return sum != size;
}
