// The same calls from the same places after other work: once, in a loop, once; in a
// warm-up loop and in the main one; with a loop's entry after more work than its rounds.
// What the work took is measured between the calls and written to truth.RANK: a name,
// how often, and the seconds of all.
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static FILE *truth;
static double left; // when the last call ended
static double sum;
static int times;

static void work(double ms)
{
	struct timespec t = {0, (long)(ms * 1e6)};
	nanosleep(&t, NULL);
}

static void done(const char *name)
{
	fprintf(truth, "%s %d %.9f\n", name, times, sum);
	times = 0, sum = 0;
}

static void before(void) { sum += now() - left, times++; }
static void after(void) { left = now(); }

static void step(void)
{
	int one = 1, all;
	before();
	MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	after();
}

static void shift(void)
{
	int in, out = 1;
	before();
	MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	after();
}

// Each fence is a call site of its own.
#define fence(name) (done(name), MPI_Barrier(MPI_COMM_WORLD), after())

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank;
	char path[64];
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(path, sizeof path, "truth.%d", rank);
	truth = fopen(path, "w");
	fence("start");
	work(40), step();
	fence("first");
	for (int i = 0; i < 50; i++)
		work(2), step();
	fence("loop");
	work(40), step();
	fence("last");
	for (int i = 0; i < 10; i++)
		work(8), step(), shift();
	fence("warm-up");
	for (int i = 0; i < 100; i++)
		work(1), step(), shift();
	fence("main");
	for (int i = 0; i < 6; i++) {
		double entries = sum;
		work(30);
		for (int k = 0; k < 12; k++) {
			if (k > 0)
				work(1);
			shift();
			if (k == 0 && i == 5)
				fprintf(truth, "entry 1 %.9f\n", sum - entries);
		}
		MPI_Comm_rank(MPI_COMM_SELF, &rank);
		after();
	}
	done("nested");
	fclose(truth);
	MPI_Finalize();
	return 0;
}
