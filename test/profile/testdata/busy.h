/* Programs that compute for a time that they measure themselves, in ns of the machine's clock. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void compute(double ns)
{
	double until = now() + ns;
	while (now() < until)
		;
}
