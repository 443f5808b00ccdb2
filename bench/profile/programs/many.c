/* Ten million calls on two ranks, for what docs/report.md says of such a page. */
#include <mpi.h>

static volatile double sink;

int main(int argc, char **argv)
{
	int rank, flag, x = 0, y;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 1000; i++) {
		for (int k = 0; k < 2500; k++) {
			for (int j = 0; j < 50 + (k & 7) * 10; j++)
				sink += j;
			MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
			MPI_Sendrecv(&x, 1, MPI_INT, rank, 3, &y, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
