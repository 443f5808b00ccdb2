/* loading LIBRARY N: N times one thread loads a library whose constructor calls MPI many
   times, while another calls MPI and loads others. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int done;

static void *calls(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		int rank;
		for (int i = 0; i < 10000; i++)
			MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		void *h = dlopen("libm.so.6", RTLD_NOW);
		if (h)
			dlclose(h);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t thread;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	pthread_create(&thread, NULL, calls, NULL);
	for (int i = 0; i < atoi(argv[2]); i++) {
		void *h = dlopen(argv[1], RTLD_NOW);
		if (!h)
			return 3;
		dlclose(h);
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	puts("done");
	MPI_Finalize();
	return 0;
}
