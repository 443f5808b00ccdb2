/* A ring of messages, a row communicator and reductions: enough for ranks to
   differ. Rank 0 prints how long MPI_Init and MPI_Finalize took at most. */

/* MPICH declares parameters that take MPI_STATUSES_IGNORE as arrays, and gcc takes its
   (MPI_Status *)1 for an overflow. What ignoring statuses costs is part of what is measured. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000, rank, size;
	double start = now(), init, worst;
	MPI_Init(&argc, &argv);
	init = now() - start;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm row;
	MPI_Comm_split(MPI_COMM_WORLD, rank / 4, rank, &row);
	for (int i = 0; i < rounds; i++) {
		double out[8] = {0}, in[8];
		MPI_Request r[2];
		MPI_Irecv(in, 8, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &r[0]);
		MPI_Isend(out, 8, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
		if (i % 100 == 0)
			MPI_Allreduce(out, in, 8, MPI_DOUBLE, MPI_SUM, row);
	}
	MPI_Comm_free(&row);
	MPI_Reduce(&init, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	start = now();
	MPI_Finalize();
	if (rank == 0)
		printf("init_us %.0f\nfinalize_us %.0f\n", worst, now() - start);
	return 0;
}
