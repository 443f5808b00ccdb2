// The same calls from the same sites at several places, with numbers of their own: known.c attaches
// these and writes them down. Places stand between barriers.
#include <mpi.h>

const char *known_place = "else";
long known_number;

static int rank;

static void step(long number)
{
	int one = 1, all;
	known_number = number;
	MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void exchange(long number)
{
	int out = 1, in;
	known_number = number;
	MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void place(const char *name)
{
	known_place = "barrier";
	known_number = 1;
	MPI_Barrier(MPI_COMM_SELF);
	known_place = name;
}

int main(int argc, char **argv)
{
	int none = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	place("first");
	step(400 + rank);
	MPI_Comm_rank(MPI_COMM_SELF, &none);
	place("warm-up");
	for (int i = 0; i < 12; i++) {
		step(30 + 2 * rank);
		exchange(-i);
	}
	MPI_Comm_rank(MPI_COMM_SELF, &none);
	place("main");
	for (int i = 0; i < 200; i++) {
		step(7);
		exchange(1000000000000L + rank);
	}
	place("random");
	unsigned long x = 88172645463325252UL + rank;
	for (int i = 0; i < 100; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		known_number = (long)(x >> 8) - (1L << 55);
		MPI_Bcast(&none, 1, MPI_INT, 0, MPI_COMM_SELF);
	}
	place("nested");
	for (int i = 0; i < 10; i++) {
		exchange(50);
		for (int k = 0; k < 5; k++)
			step(-3 * (rank + 1));
	}
	place("last");
	step(2);
	MPI_Finalize();
}
