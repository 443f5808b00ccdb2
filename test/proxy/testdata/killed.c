// A rank gets SIGKILL in the middle of a loop of messages, of reductions in halves of the
// world, and of barriers of all of it: others come more or less far, and are killed in
// calls that they wait in, or after them.
#include <mpi.h>
#include <signal.h>
#include <time.h>

int main(int argc, char **argv)
{
	int rank, size, one = 1, all;
	MPI_Comm half;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	for (int i = 0;; i++) {
		int in;
		MPI_Request r[2];
		MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &r[0]);
		if (i == 23 && rank == size / 2)
			raise(SIGKILL);
		MPI_Isend(&i, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		for (int k = 0; k < 3; k++)
			MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, half);
		if (i % 10 == 9)
			MPI_Barrier(MPI_COMM_WORLD);
	}
}
