// Loops whose iterations take one of several ways. Comments say which calls exclude each other: "N a", "N b" are
// ways of branch N. branches_test.go knows how often each is taken.
#include <mpi.h>
#include <stdio.h>

static int in[64], out[64 * 64];
static volatile int zero;

__attribute__((noinline)) static void sometimes(int i)
{
	if (i % 4 == 1 + zero)
		MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void always(void)
{
	MPI_Bcast(in, 3, MPI_INT, zero, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 40; i++)
		if (i % 2 == zero)
			MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD);                           // 1 a
		else
			MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);            // 1 b
	for (int i = 0; i < 61; i++) {
		MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);                    // before
		switch (i % 3 + zero) {
		case 0:
			MPI_Scan(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);                 // 2 a
			break;
		case 1:
			MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, 0, MPI_COMM_WORLD);         // 2 b
			break;
		default:
			MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);        // 2 c
			MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);         // 2 c
		}
	}
	for (int i = 0; i < 30; i++) {
		if (i < 5 + zero) {
			MPI_Bcast(in, 4, MPI_INT, 0, MPI_COMM_WORLD);                           // 3 a
			if (i % 2 == zero)
				MPI_Exscan(in, out, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);       // 3 a 4 a
			else
				MPI_Alltoall(out, 1, MPI_INT, out + 99, 1, MPI_INT, MPI_COMM_WORLD); // 3 a 4 b
		} else
			MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);            // 3 b
		if (i % 10 == zero)
			MPI_Barrier(MPI_COMM_WORLD);                                            // after: no other way has a call
	}
	for (int i = 0; i < 20; i++)
		if (i % 2 == zero)
			always();                                                               // 5 a
		else
			sometimes(i);                                                           // 5 b
	for (int i = 0; i < 12; i++) {
		if (i % 3 == zero)
			goto second;
		MPI_Scan(in, out, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD);                         // into the other way
		if (i % 3 == 1 + zero)
			continue;
	second:
		MPI_Exscan(in, out, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD);                       // from there
	}
	for (int i = 0; i < 16; i++)
		if (i % 4 == zero)
			MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, 0, MPI_COMM_WORLD);         // 6 a
		else if (i % 4 == 1 + zero)
			for (int j = 0; j < i; j++)
				MPI_Scatter(out, 2, MPI_INT, in, 2, MPI_INT, 0, MPI_COMM_WORLD); // 6 b
	MPI_Finalize();
	return 0;
}
