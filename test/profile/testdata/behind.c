// Ranks that spoor became: rank 0 says what it noticed of a process that MPI_Finalize started, and with an argument removes that file
// before it could be started.
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int told;

static void ended(int sig) { told += sig != 0; }

int main(int argc, char **argv)
{
	int rank, status;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10; i++) /* loop steps */
		MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0 && argc > 1)
		remove(argv[1]);
	signal(SIGCHLD, ended);
	MPI_Finalize();
	if (rank == 0)
		printf("noticed: %d, %d\n", told, waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD);
	return 0;
}
