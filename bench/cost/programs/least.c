/* The least time of 300 batches of 500 calls, in ns of the thread's processor time
   per call: steady where a machine is busy. The argument is how many functions
   below main the calls are made. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define LEAST(name, call) \
	do { \
		double best = 1e9; \
		for (int k = 0; k < 300; k++) { \
			double t = now(); \
			for (int i = 0; i < 500; i++) \
				call; \
			t = (now() - t) / 500; \
			best = t < best ? t : best; \
		} \
		printf(name " %.1f\n", best); \
	} while (0)

static int loops(void)
{
	int rank, flag;
	char a[8] = "", b[8];
	LEAST("comm_rank", MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	LEAST("iprobe", MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
	LEAST("sendrecv", MPI_Sendrecv(a, 8, MPI_CHAR, 0, 3, b, 8, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE));
	return 0;
}

static __attribute__((noinline)) int below(int depth)
{
	volatile char frame[48];
	frame[0] = 1;
	int rc = depth > 0 ? below(depth - 1) : loops();
	frame[1] = (char)rc;
	return rc;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	below(argc > 1 ? atoi(argv[1]) : 0);
	MPI_Finalize();
	return 0;
}
