/* The process's time on processors, in µs, that MPI_Init and MPI_Finalize take, and how many pages they touch first. */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

static double us(const struct timeval *t) { return (double)t->tv_sec * 1e6 + (double)t->tv_usec; }

static void took(const char *what, const struct rusage *a, const struct rusage *b)
{
	printf("%s_us %.0f\n", what, us(&b->ru_utime) - us(&a->ru_utime) + us(&b->ru_stime) - us(&a->ru_stime));
	printf("%s_pages %ld\n", what, b->ru_minflt - a->ru_minflt);
}

int main(int argc, char **argv)
{
	struct rusage u[4];
	getrusage(RUSAGE_SELF, &u[0]);
	MPI_Init(&argc, &argv);
	getrusage(RUSAGE_SELF, &u[1]);
	getrusage(RUSAGE_SELF, &u[2]);
	MPI_Finalize();
	getrusage(RUSAGE_SELF, &u[3]);
	took("init", &u[0], &u[1]);
	took("finalize", &u[2], &u[3]);
	return 0;
}
