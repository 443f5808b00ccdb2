/* Threads that are made for two functions, one after the other, and by OpenMP. */
#include <mpi.h>
#include <pthread.h>

static void *worker(void *arg)
{
	int rank;
	for (int i = 0; i < 3; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return arg;
}

static void *asker(void *arg)
{
	int size;
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	return arg;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t t;
	void *(*const functions[])(void *) = {worker, asker, worker};
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, functions[i], NULL);
		pthread_join(t, NULL);
	}
#pragma omp parallel num_threads(2)
	{
		int flag;
		MPI_Finalized(&flag);
#pragma omp barrier
	}
	MPI_Finalize();
}
