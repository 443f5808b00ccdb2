/* Barriers for a second and a half, so that clocks are calibrated. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 150; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		usleep(10000);
	}
	MPI_Finalize();
	return 0;
}
