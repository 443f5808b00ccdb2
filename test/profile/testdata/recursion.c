/* Functions that call themselves deeper than stacks are kept: each call of a function is counted once. */
#include <mpi.h>

static int b[8];

static void down(int d)
{
	if (d == 0)
		return;
	MPI_Bcast(b, 1, MPI_INT, 0, MPI_COMM_WORLD);
	down(d - 1);
	MPI_Reduce(b, b + 4, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* The function of CYPRESS's figure 8: two places at which it calls itself. */
static void figure(int n, int j, int k)
{
	if (n == 0)
		return;
	if (n < k && n > j) {
		MPI_Bcast(b, 2, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Reduce(b, b + 4, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
		figure(n - 1, j, k);
	} else {
		MPI_Bcast(b, 3, MPI_INT, 0, MPI_COMM_WORLD);
		figure(n - 1, j, k);
		MPI_Reduce(b, b + 4, 3, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	}
}

static void twice(int d)
{
	if (d == 0)
		return;
	MPI_Barrier(MPI_COMM_WORLD);
	twice(d - 1);
	twice(d - 1);
}

/* Two that call each other: frames of such are all kept. */
static void pong(int d);

static void ping(int d)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (d > 0)
		pong(d - 1);
}

static void pong(int d)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (d > 0)
		ping(d - 1);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 10; i++)
		down(60);
	figure(100, 25, 50);
	twice(7);
	down(1000);
	ping(50);
	MPI_Finalize();
	return 0;
}
