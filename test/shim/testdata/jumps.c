/* An error handler leaves the call that failed by longjmp; the program goes on. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf back;

static void fails(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
	longjmp(back, 1);
}

int main(int argc, char **argv)
{
	MPI_Errhandler handler;
	int rank, size, buffer = 0;
	volatile int left = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_create_errhandler(fails, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	for (volatile int i = 0; i < 3; i++) {
		if (setjmp(back) == 0)
			MPI_Send(&buffer, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
		else
			left++;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("left %d\n", left);
	MPI_Finalize();
	return 0;
}
