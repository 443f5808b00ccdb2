/*
 * Makes many calls. As soon as a file is there, rank 1 is killed, or stopped for ten seconds: where the file is the trace, that is while the
 * ranks find out who waited for whom. Most messages are to the rank itself: for one to another both need the processor, in turns.
 *
 * usage: app kill|stop FILE
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *how, *file;

static void *watch(void *unused)
{
	struct stat st;
	pid_t self = getpid();
	while (stat(file, &st) != 0)
		usleep(100);
	if (!strcmp(how, "kill"))
		kill(self, SIGKILL);
	if (fork() == 0) {
		kill(self, SIGSTOP);
		sleep(10);
		kill(self, SIGCONT);
		_exit(0);
	}
	return unused;
}

int main(int argc, char **argv)
{
	int rank, size, x = 0;
	MPI_Init(&argc, &argv);
	how = argv[1];
	file = argv[2];
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	pthread_t t;
	if (rank == 1)
		pthread_create(&t, NULL, watch, NULL);
	for (int i = 0; i < 60000; i++) {
		int other = (rank + (i % 100 == 0)) % size;
		MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 1, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	MPI_Finalize();
	return 0;
}
