/* Functions around loops and loops around functions, for run --stack. */
#include <mpi.h>

static __attribute__((noinline)) void exchange(int other)
{
	for (int i = 0; i < 3; i++) {
		int here = i, there;
		MPI_Sendrecv(&here, 1, MPI_INT, other, 0, &there, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static __attribute__((noinline)) double norm(double x)
{
	double sum;
	MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

static __attribute__((noinline)) void solve(int other)
{
	for (int i = 0; i < 10; i++) {
		exchange(other);
		norm(i);
	}
}

int main(void)
{
	int rank;
	MPI_Init(0, 0);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	solve(1 - rank);
	norm(0);
	MPI_Finalize();
	return 0;
}
