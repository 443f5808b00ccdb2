// A rank computes, polls so often that the recorder takes in what it recorded several times,
// and computes again. What it did between its calls, by its own clock, it writes to
// truth.RANK: a name, how often, and the seconds of all; `calls` is the time in the calls
// as the program sees it, the recorder's included, and `starved` for how long this process
// would have run but another one did.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double now(void) { return read_clock(CLOCK_MONOTONIC); }

static void work(double ms)
{
	struct timespec t = {0, (long)(ms * 1e6)};
	nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
	int polls = argc > 1 ? atoi(argv[1]) : 20000;
	MPI_Init(&argc, &argv);
	double processor = read_clock(CLOCK_THREAD_CPUTIME_ID);
	double left = now(), started = left, inside = 0, outside = 0, asleep = 0, rest, at;
	int rank, flag, calls = 0;
	char path[64];
	at = now();
	rest = at - left;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	left = now();
	inside += left - at, calls++;
	for (int i = 0; i < polls + 2; i++) {
		int sleeps = i == 0 || i == polls + 1;
		if (sleeps)
			work(50);
		at = now();
		if (sleeps)
			asleep += at - left;
		outside += at - left;
		MPI_Iprobe(MPI_ANY_SOURCE, 1 + i % 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		left = now();
		inside += left - at, calls++;
	}
	double whole = left - started, starved = whole - asleep - (read_clock(CLOCK_THREAD_CPUTIME_ID) - processor);
	rest += now() - left;
	MPI_Finalize();
	snprintf(path, sizeof path, "truth.%d", rank);
	FILE *truth = fopen(path, "w");
	fprintf(truth, "polls %d %.9f\noutside %d %.9f\ncalls %d %.9f\nwhole 1 %.9f\nstarved 1 %.9f\n", polls + 2, outside, calls + 1, outside + rest, calls, inside, whole, starved);
	fclose(truth);
	return 0;
}
