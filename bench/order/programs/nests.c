// Nests of which no round is like another: nests KIND ROUNDS, on one rank. KIND is 2 or 3 for so many triangular loops in each other, b for a
// branch that is taken in every third round of a triangular loop, r for rounds that are drawn.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	char kind = argc > 1 ? argv[1][0] : '3';
	int n = argc > 2 ? atoi(argv[2]) : 100, flag;
	unsigned drawn = 1;
	switch (kind) {
	case '2':
		for (int k = 0; k < n; k++) {
			MPI_Barrier(MPI_COMM_WORLD);
			for (int j = 0; j < k; j++)
				MPI_Wtime();
		}
		break;
	case '3':
		for (int k = 0; k < n; k++) {
			MPI_Barrier(MPI_COMM_WORLD);
			for (int j = 0; j < k; j++) {
				MPI_Initialized(&flag);
				for (int i = 0; i < j; i++)
					MPI_Wtime();
			}
		}
		break;
	case 'b':
		for (int k = 0; k < n; k++) {
			MPI_Barrier(MPI_COMM_WORLD);
			if (k % 3 == 0)
				MPI_Initialized(&flag);
			for (int j = 0; j < k; j++)
				MPI_Wtime();
		}
		break;
	case 'r':
		for (int k = 0; k < n; k++) {
			MPI_Barrier(MPI_COMM_WORLD);
			drawn = drawn * 1664525 + 1013904223;
			for (unsigned j = 0; j < drawn >> 29; j++)
				MPI_Wtime();
		}
		break;
	}
	MPI_Finalize();
	return 0;
}
