/* Two loops that begin with the same call, MPI_Barrier. It comes after 200 ms where the outer loop is entered, after 4 ms in its later
   rounds, and after 50 us in rounds of the inner loop. How long each was, as ranks share processors, each rank prints: ns, on average. */
#include "busy.h"

static double last, first, later, inner;

/* In a function of its own, so that there is one place that calls MPI_Barrier. */
static __attribute__((noinline)) void reached(int i, int k)
{
	*(k > 0 ? &inner : i > 0 ? &later : &first) += now() - last;
}

int main(int argc, char **argv)
{
	int sum, one = 1;
	MPI_Init(&argc, &argv);
	last = now();
	compute(200e6);
	for (int i = 0; i < 30; i++) {
		compute(4e6);
		for (int k = 0; k < 20; k++) {
			reached(i, k);
			MPI_Barrier(MPI_COMM_SELF);
			last = now();
			compute(50e3);
		}
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		last = now();
	}
	MPI_Finalize();
	printf("computed %.0f %.0f %.0f\n", first, later / 29, inner / (30 * 19));
	return 0;
}
