/* handlers MILLISECONDS: every 50 µs a signal handler calls MPI in each of three
   threads, one of them on a signal stack, whatever these are doing: calling MPI,
   allocating, starting. Prints how many calls the threads made, and the handlers. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS 3

static long handled, made[THREADS];
static int late; /* MPI_Init is through */
static double until;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void handler(int signal)
{
	int flag, rank;
	(void)signal;
	MPI_Initialized(&flag);
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	if (!late)
		return;
	MPI_Wtime();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	__atomic_fetch_add(&handled, 2, __ATOMIC_RELAXED);
}

static timer_t start_timer(long us)
{
	struct sigevent e = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
	struct itimerspec every = {{0, us * 1000}, {0, us * 1000}};
	timer_t timer;
	e._sigev_un._tid = (int)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &e, &timer);
	timer_settime(timer, 0, &every, NULL);
	return timer;
}

/* Nothing comes any more once this has returned. */
static void stop_timer(timer_t timer)
{
	sigset_t alarm;
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	timer_delete(timer);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
}

static void *work(void *arg)
{
	int me = (int)(size_t)arg;
	unsigned seed = (unsigned)me + 1;
	char *block[8] = {0};
	stack_t stack = {.ss_sp = malloc(256 << 10), .ss_size = 256 << 10};
	if (me == 1)
		sigaltstack(&stack, NULL);
	/* the first call of this thread may be a handler's */
	timer_t timer = start_timer(50);
	while (now() < until) {
		for (int i = 0; i < 100; i++) {
			MPI_Request request;
			MPI_Datatype type;
			int n = (int)++made[me], k = rand_r(&seed) % 8;
			if (rand_r(&seed) % 4 == 0) {
				free(block[k]);
				block[k] = NULL;
			}
			if (!block[k])
				block[k] = malloc(1024 + (size_t)rand_r(&seed) % 100000);
			switch (rand_r(&seed) % 4) {
			case 0:
				MPI_Isend(block[k], n, MPI_BYTE, MPI_PROC_NULL, me, MPI_COMM_WORLD, &request);
				MPI_Wait(&request, MPI_STATUS_IGNORE);
				break;
			case 1:
				MPI_Type_contiguous(n, MPI_INT, &type);
				MPI_Type_free(&type);
				break;
			default:
				MPI_Send(block[k], n, MPI_BYTE, MPI_PROC_NULL, me, MPI_COMM_WORLD);
			}
		}
	}
	stop_timer(timer);
	if (me == 1) {
		stack.ss_flags = SS_DISABLE;
		sigaltstack(&stack, NULL);
	}
	free(stack.ss_sp);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
	pthread_t thread[THREADS];
	int provided, flag;
	sigset_t alarm;
	if (argc != 2)
		return 2;
	sigaction(SIGALRM, &action, NULL);
	MPI_Initialized(&flag);
	timer_t timer = start_timer(500);
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	stop_timer(timer);
	late = 1;
	until = now() + atof(argv[1]);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL); /* threads inherit that */
	for (int i = 1; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)(size_t)i);
	work(NULL);
	for (int i = 1; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%ld", handled + 1);
	for (int i = 0; i < THREADS; i++)
		printf(" %ld", made[i]);
	printf("\n");
	MPI_Finalize();
	return 0;
}
