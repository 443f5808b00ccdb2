// Threads that call MPI in any order: each with memory, a communicator and persistent requests of its own. The argument, if there
// is one, is the thread that sends one more element.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS 5

static int rank, odd = -1;
static MPI_Comm comms[THREADS];
static pthread_barrier_t all; /* a thread that ends gives its number to one that begins later */

static void *work(void *arg)
{
	int me = (int)(long)arg;
	unsigned seed = (unsigned)getpid() * 31u + (unsigned)me * 977u;
	int *mine = malloc(4096), *theirs = malloc(4096);
	MPI_Request both[2];
	usleep((useconds_t)(rand_r(&seed) % 20000));
	MPI_Send_init(mine, 10 + (me == odd), MPI_INT, 1 - rank, me, comms[me], &both[0]);
	usleep((useconds_t)(rand_r(&seed) % 5000));
	MPI_Recv_init(theirs, 20, MPI_INT, 1 - rank, me, comms[me], &both[1]);
	for (int i = 0; i < 10 + me / 2; i++) {
		MPI_Startall(2, both);
		MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&both[0]);
	MPI_Request_free(&both[1]);
	MPI_Bcast(mine, me + 1, MPI_INT, 0, comms[me]);
	pthread_barrier_wait(&all);
	free(mine);
	free(theirs);
	return NULL;
}

int main(int argc, char **argv)
{
	int level;
	pthread_t threads[THREADS];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (level < MPI_THREAD_MULTIPLE)
		return 3;
	if (argc > 1)
		odd = atoi(argv[1]);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	pthread_barrier_init(&all, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
}
