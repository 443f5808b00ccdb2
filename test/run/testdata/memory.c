/* Writes behind a block once, beside a hundred calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static void spill(volatile char *block)
{
	block[8] = 1;
}

int main(int argc, char **argv)
{
	int in = 1, sum;
	MPI_Init(&argc, &argv);
	char *block = malloc(8);
	spill(block);
	for (int i = 0; i < 100; i++)
		MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	free(block);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	printf("done\n");
	return 0;
}
