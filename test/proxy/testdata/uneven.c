// Ranks compute unequally, in parts with the same calls: a warm-up and a main loop, and
// loops that are entered after more work than their rounds begin with. What a rank
// computed is measured between the calls and written to truth.RANK when all is over: a part,
// how many calls, and the seconds before them.
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static struct {
	const char *name;
	int times;
	double sum;
} parts[8];
static double left, sum, entries; // when the last call ended; computed since done
static double rest;               // before all other calls
static int nparts, times, entered, slow;

static void work(double ms)
{
	struct timespec t = {0, (long)(ms * slow * 1e6)};
	nanosleep(&t, NULL);
}

static void before(void) { sum += now() - left, times++; }
static void after(void) { left = now(); }
static void other(void) { rest += now() - left; }

static void step(void)
{
	int one = 1, all;
	before();
	MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	after();
}

static void shift(void)
{
	int in, out = 1;
	before();
	MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
	after();
}

static void part(const char *name)
{
	parts[nparts].name = name;
	parts[nparts].times = times;
	parts[nparts++].sum = sum;
	times = 0;
	sum = 0;
}

// Each fence is a call site of its own.
#define fence(name) (other(), part(name), MPI_Barrier(MPI_COMM_WORLD), after())

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	left = now();
	int rank;
	char path[64];
	other();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	after();
	slow = 1 + 2 * rank;
	snprintf(path, sizeof path, "truth.%d", rank);
	other();
	MPI_Barrier(MPI_COMM_WORLD);
	after();
	for (int i = 0; i < 15; i++)
		work(3), step(), shift();
	fence("warm-up");
	for (int i = 0; i < 100; i++)
		work(0.3), step(), shift();
	fence("main");
	work(20), step();
	fence("once");
	for (int i = 0; i < 5; i++) {
		work(8);
		for (int k = 0; k < 12; k++) {
			if (k > 0)
				work(0.3);
			if (k == 0)
				entries += now() - left, entered++;
			shift();
		}
		other();
		MPI_Comm_rank(MPI_COMM_SELF, &rank);
		after();
	}
	fence("nested");
	other();
	MPI_Finalize();
	FILE *truth = fopen(path, "w");
	for (int i = 0; i < nparts; i++)
		fprintf(truth, "%s %d %.9f\n", parts[i].name, parts[i].times, parts[i].sum);
	fprintf(truth, "rest 0 %.9f\nentry %d %.9f\n", rest, entered, entries);
	fclose(truth);
	return 0;
}
