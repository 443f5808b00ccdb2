/* Blocks that come and go around every loop of calls: their names come back. */
#include <mpi.h>
#include <stdlib.h>

#define BLOCKS 14

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rounds = atoi(argv[1]);
	for (int round = 0; round < rounds; round++) {
		void *block[BLOCKS];
		for (int i = 0; i < BLOCKS; i++)
			block[i] = calloc(1, 4096);
		for (int i = 0; i < BLOCKS; i++)
			MPI_Allreduce(MPI_IN_PLACE, block[i], 512, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		for (int i = 0; i < BLOCKS; i++)
			free(block[i]);
	}
	MPI_Finalize();
	return 0;
}
