/* Calls whose numbers a test knows: on n ranks, 10 Sendrecv and 10 Allreduce each, one Alltoall, and a barrier on a duplicate. */
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int rank, size, x, y = 0, all[64], got[64];
	MPI_Comm dup;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	x = rank;
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	for (int i = 0; i < 10; i++) {
		MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, 0, &y, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	for (int i = 0; i < size; i++)
		all[i] = 10 * rank + i;
	MPI_Alltoall(all, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Pcontrol(2, "region", 7);
	MPI_Barrier(dup);
	MPI_Comm_free(&dup);
	printf("%d of %d: %d %d\n", rank, size, y, got[size - 1]);
	MPI_Finalize();
	return 0;
}
