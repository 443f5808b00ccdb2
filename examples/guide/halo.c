/*
 * halo.c: a program for docs/guide.md. Ranks in a row work, exchange a halo with both
 * neighbours, and sum up a residual. Rank 2 has as many times the work of the others as the
 * argument says. Work is sleep, so that it takes the same on any machine.
 *
 *     mpicc -g -o halo halo.c && mpirun -n 4 ./halo 3
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { steps = 100, width = 4096 };

static double row[4][width];

static void work(int rank, double times)
{
	usleep((useconds_t)(2000 * (rank == 2 ? times : 1)));
}

static void exchange(int left, int right)
{
	MPI_Request r[4];
	MPI_Irecv(row[0], width, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r[0]);
	MPI_Irecv(row[1], width, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &r[1]);
	MPI_Isend(row[2], width, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &r[2]);
	MPI_Isend(row[3], width, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &r[3]);
	MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, ranks;
	double residual = 1, sum = 0, times = argc > 1 ? atof(argv[1]) : 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
	for (int step = 0; step < steps; step++) {
		work(rank, times);
		exchange(left, right);
		if (step % 10 == 9)
			MPI_Allreduce(&residual, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("residual %g\n", sum);
	MPI_Finalize();
	return 0;
}
