/*
 * ring.c: a program for docs/guide.md that hangs. Each rank sends to the next before it
 * receives from the one before. While messages are short that works, as MPI takes them; in
 * round 3 they are long, and everybody waits for somebody to receive.
 *
 *     mpicc -g -o ring ring.c && mpirun -n 4 ./ring
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, ranks;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	for (int round = 0, count = 100; round < 5; round++, count *= 10) {
		int *out = calloc(count, sizeof *out), *in = calloc(count, sizeof *in);
		MPI_Send(out, count, MPI_INT, next, round, MPI_COMM_WORLD);
		MPI_Recv(in, count, MPI_INT, before, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		free(out);
		free(in);
	}
	MPI_Finalize();
	return 0;
}
