/* The shape of LU's sweeps: an outer step computes for three milliseconds, then
   a loop over planes receives from the rank before, computes a little and sends to
   the next. What comes before the first plane's receive is the long computation, what
   comes before the others the short one. */
#include <mpi.h>
#include <time.h>

static void compute(double us)
{
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3 < us);
}

int main(int argc, char **argv)
{
	int rank, size, plane = 0, change = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int before = rank > 0 ? rank - 1 : MPI_PROC_NULL, next = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	for (int step = 0; step < 40; step++) {
		compute(3000);
		for (int k = 0; k < 10; k++) {
			MPI_Recv(&plane, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			compute(30);
			MPI_Send(&plane, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
		}
		MPI_Allreduce(&plane, &change, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
