/* Programs that define functions of MPI themselves, or call PMPI_ names: which, a macro says. */
#include <mpi.h>
#include <stdio.h>
static int sends;
static double began = -1;
#ifdef SEND
int MPI_Send(const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)
{
	sends++;
	return PMPI_Send(b, n, t, to, tag, c);
}
#endif
#ifdef INIT
int MPI_Init(int *argc, char ***argv)
{
	int rc = PMPI_Init(argc, argv);
	began = PMPI_Wtime();
	return rc;
}
int MPI_Finalize(void) { return PMPI_Finalize(); }
#endif
#ifdef CALL
#define MPI_Init PMPI_Init
#define MPI_Finalize PMPI_Finalize
#define MPI_Barrier PMPI_Barrier
#endif
int main(int argc, char **argv)
{
	int rank, x = 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++)
		if (rank % 2 == 0)
			MPI_Send(&x, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(&x, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	printf("%d: %d %d\n", rank, sends, began < 0);
	MPI_Finalize();
	return 0;
}
