/* Threads that ask where their stacks are, as runtimes of languages do when they begin, while
   a handler makes the threads' first calls. Prints how many handlers called. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_realloc(void *p, size_t n);

static __thread int asks;
static int handled;

/* pthread_getattr_np takes memory while it holds the thread's lock. */
void *realloc(void *p, size_t n)
{
	if (asks) {
		asks = 0;
		raise(SIGUSR1);
	}
	return __libc_realloc(p, n);
}

static void handler(int sig)
{
	int flag;
	(void)sig;
	MPI_Initialized(&flag);
	__atomic_fetch_add(&handled, flag, __ATOMIC_SEQ_CST);
}

static void *work(void *arg)
{
	pthread_attr_t attr;
	asks = 1;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		abort();
	pthread_attr_destroy(&attr);
	return arg;
}

int main(int argc, char **argv)
{
	int level;
	pthread_t t[3];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	signal(SIGUSR1, handler);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, work, NULL) != 0)
			abort();
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", handled);
	MPI_Finalize();
	return 0;
}
