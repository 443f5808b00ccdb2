/* Reads a number from standard input, and prints. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int n;
	MPI_Init(&argc, &argv);
	if (scanf("%d", &n) != 1)
		return 1;
	printf("answer %d\n", n + 1);
	puts("line");
	MPI_Finalize();
	return 0;
}
