/* What is done once: 60 ms are computed before the first of five reductions and 2 ms before the others; a loop is entered after 40 ms at
   first, after 8 ms later, and goes on after 100 us; an operation takes 50 ms at first and 1 ms later. How long each was, as ranks share
   processors, each rank prints: ns, on average. */
#include "busy.h"

static double last, times[3][2], further;
static int operations;

static void note(int what, int again) { times[what][again] += now() - last; }

/* In a function of its own, so that no compiler makes a copy of the first iteration. */
static __attribute__((noinline)) void prepare(int first, double long_ns, double short_ns) { compute(first ? long_ns : short_ns); }

static __attribute__((noinline)) void reached(int i, int k)
{
	if (k > 0)
		further += now() - last;
	else
		note(1, i > 0);
}

static void slow_at_first(void *in, void *inout, int *len, MPI_Datatype *type)
{
	last = now();
	int first = operations++ == 0;
	prepare(first, 50e6, 1e6);
	note(2, !first);
}

int main(int argc, char **argv)
{
	int sum = 0, one = 1;
	MPI_Op op;
	MPI_Init(&argc, &argv);
	MPI_Op_create(slow_at_first, 1, &op);
	for (int i = 0; i < 5; i++) {
		MPI_Barrier(MPI_COMM_SELF);
		last = now();
		prepare(i == 0, 60e6, 2e6);
		note(0, i > 0);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		last = now();
		prepare(i == 0, 40e6, 8e6);
		for (int k = 0; k < 20; k++) {
			reached(i, k);
			MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_SELF);
			last = now();
			compute(100e3);
		}
		MPI_Reduce_local(&one, &sum, 1, MPI_INT, op);
	}
	MPI_Op_free(&op);
	MPI_Finalize();
	printf("computed %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n", times[0][0], times[0][1] / 4, times[1][0], times[1][1] / 4, further / 95, times[2][0], times[2][1] / 4);
	return 0;
}
