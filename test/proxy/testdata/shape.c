/* A program whose functions and loops its proxy is to have. The first steps begin as the calls before them do, so that what is repeated
 * begins elsewhere than the loop. */
#include <mpi.h>

static int rank, in, out;

static void exchange(int tag)
{
	MPI_Sendrecv(&out, 1, MPI_INT, !rank, tag, &in, 1, MPI_INT, !rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 20; i++) { /* line steps */
		exchange(7); /* line exchange */
		MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	for (int i = 0; i < 6; i++) { /* line growing */
		for (int k = 0; k <= i; k++)
			MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
