/* Two loops that begin with the same call, MPI_Barrier. It comes after 200 ms where the outer loop is entered, after 4 ms in its later
   rounds, and after 50 us in rounds of the inner loop. */
#include <mpi.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void compute(double seconds)
{
	double until = now() + seconds;
	while (now() < until)
		;
}

int main(int argc, char **argv)
{
	int sum, one = 1;
	MPI_Init(&argc, &argv);
	compute(0.2);
	for (int i = 0; i < 30; i++) {
		compute(0.004);
		for (int k = 0; k < 20; k++) {
			MPI_Barrier(MPI_COMM_SELF);
			compute(0.00005);
		}
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
}
