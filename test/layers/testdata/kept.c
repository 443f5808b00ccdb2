/* A program of which a library keeps a rank, see keeps.c. With an argument: MPI_Init_thread. */
#include <mpi.h>
#include <stdio.h>

MPI_Comm kept_world(void);

int main(int argc, char **argv)
{
	int rank, size, sum = 0, provided;
	if (argc > 1)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm world = kept_world();
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	for (int i = 0; i < 10; i++)
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, world);
	printf("rank %d of %d: %d\n", rank, size, sum);
	MPI_Finalize();
	return 0;
}
