/* least.c: ns of a round of a loop around a call that leads out of the file, and of a call of a function with such a loop; least of
   many times. opaque.c has what is called. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

void opaque(long n);

__attribute__((noinline)) static void rounds(long n)
{
	for (long i = 0; i < n; i++)
		opaque(i);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 300;
	double round = 1e9, function = 1e9;
	MPI_Init(&argc, &argv);
	for (long k = 0; k < n; k++) {
		double t = MPI_Wtime();
		rounds(10000);
		t = (MPI_Wtime() - t) / 10000 * 1e9;
		round = t < round ? t : round;
		t = MPI_Wtime();
		for (int i = 0; i < 2000; i++)
			rounds(1);
		t = (MPI_Wtime() - t) / 2000 * 1e9;
		function = t < function ? t : function;
	}
	printf("%.2f %.2f\n", round, function);
	MPI_Finalize();
}
