/* windows N: N allocated windows of two ranks at once, each used; then freed; then again. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int n = atoi(argv[1]);
	MPI_Win *win = malloc(n * sizeof *win);
	void **base = malloc(n * sizeof *base);
	MPI_Init(NULL, NULL);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < n; i++) {
			MPI_Win_allocate_shared(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base[i], &win[i]);
			MPI_Bcast(base[i], 1, MPI_INT, 0, MPI_COMM_SELF);
		}
		for (int i = 0; i < n; i++)
			MPI_Win_free(&win[(i * 7 + 3) % n]);
	}
	MPI_Finalize();
	return 0;
}
