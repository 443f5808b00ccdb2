/* A library without a line of Python in it that calls MPI below Python, and calls back into it: above.py. */
#include <mpi.h>

void begin(void) { MPI_Init(0, 0); }

void end(void) { MPI_Finalize(); }

__attribute__((noinline)) static void step(int k)
{
	int sum;
	MPI_Allreduce(&k, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

void solve(int rounds, void (*monitor)(int))
{
	for (int k = 0; k < rounds; k++) {
		step(k);
		monitor(k);
	}
}

void check(void) { MPI_Barrier(MPI_COMM_WORLD); }

int order(int value)
{
	MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return value;
}
