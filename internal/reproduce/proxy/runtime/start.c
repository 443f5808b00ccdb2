/* start.c: start and end of ranks and threads. */
#include "private.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rank, ranks, member;

void fail(const char *what, const char *detail)
{
	fprintf(stderr, "proxy: rank %d: %s%s%s\n", rank, what, detail ? ": " : "", detail ? detail : "");
	fflush(stderr);
	_exit(1);
}

static struct later_free {
	int (*free)(void *);
	const void *place;
	char handle[sizeof(void *)];
	struct later_free *next;
} *later_frees;

void free_later(int (*f)(void *), const void *place, size_t size)
{
	struct later_free *x = malloc(sizeof *x), **end = &later_frees;
	if (!x)
		fail("out of memory", NULL);
	*x = (struct later_free){.free = f, .place = place};
	memcpy(x->handle, place, size);
	while (*end)
		end = &(*end)->next;
	*end = x;
}

void free_now(const void *place)
{
	for (struct later_free **at = &later_frees; *at;) {
		struct later_free *x = *at;
		if (place && x->place != place) {
			at = &x->next;
			continue;
		}
		*at = x->next;
		x->free(x->handle);
		free(x);
	}
}

int position(const struct run *run, int runs)
{
	int before_it = 0;
	for (int i = 0; i < runs; before_it += run[i++].count) {
		int d = rank - run[i].first, step = run[i].stride ? run[i].stride : 1;
		if (d >= 0 && d % step == 0 && d / step < run[i].count)
			return before_it + d / step;
	}
	return -1;
}

static int from_environment(const char *const *names)
{
	for (; *names; names++) {
		const char *s = getenv(*names);
		if (s && *s)
			return atoi(s);
	}
	return -1;
}

void start(int world, const char *how, int64_t distance)
{
	static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MPI_RANK", "SLURM_PROCID", NULL};
	static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_SIZE", "SLURM_NTASKS", NULL};
	const char *s = getenv("PROXY_COMPUTE");
	if (s && *s)
		how = s;
	const char *faster = getenv("PROXY_SPEED"), *seconds = getenv("PROXY_WATCHDOG");
	if ((s = getenv("PROXY_FILES")) && *s)
		files = s;
	rank = from_environment(rank_names);
	int size = from_environment(size_names);
	if (!world) /* it runs on any number */
		world = size > 0 ? size : 1;
	farthest = distance;
	ranks = world;
	if (rank < 0 && world == 1)
		rank = 0;
	if (rank < 0)
		fail("can't tell which rank this is; start it with mpiexec -n", NULL);
	if ((size > 0 && size != world) || rank >= world) {
		if (rank == 0)
			fprintf(stderr, "proxy: made for %d ranks: mpiexec -n %d\n", world, world);
		_exit(1);
	}
	pace(how, faster ? atof(faster) : 0, seconds && *seconds ? atoi(seconds) : -1);
}

void apart(int on)
{
	static void (*tell)(int);
	static int asked;
	if (!asked)
		*(void **)&tell = dlsym(RTLD_DEFAULT, "spoor_apart");
	asked = 1;
	if (tell)
		tell(on);
}

void begun(void)
{
	int r, n;
	APART(PMPI_Comm_rank(MPI_COMM_WORLD, &r));
	APART(PMPI_Comm_size(MPI_COMM_WORLD, &n));
	if (r != rank || n != ranks)
		fail("the launcher numbers ranks unlike the MPI", NULL);
}

static pthread_t threads[THREADS];
static void (*const *thread_of)(void);
static int thread_count;
static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;

static void *run_thread(void *number_)
{
	stream = (int)(intptr_t)number_;
	int64_t size = stack_size(stream);
	char local[size > 0 ? size : 1];
	stack_is(stream, local, size);
	thread_of[stream - 1]();
	/* A recorder may give what it has for a thread that ended to the next one. */
	pthread_mutex_lock(&ending);
	pthread_mutex_unlock(&ending);
	return NULL;
}

void begin_threads(int n, void (*const *list)(void))
{
	thread_of = list;
	static int begun_once;
	if (begun_once++)
		return;
	pthread_mutex_lock(&ending);
	for (int i = 0; i < n && i + 1 < THREADS; i++, thread_count++) {
		if (pthread_create(&threads[i], NULL, run_thread, (void *)(intptr_t)(i + 1)))
			fail("no thread", NULL);
		/* Threads have their numbers from the order of their first calls. */
		while (!has_begun(i + 1))
			sched_yield();
		usleep(2000);
	}
}

void end_threads(void)
{
	if (thread_count > 0)
		pthread_mutex_unlock(&ending);
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	thread_count = 0;
}

void over(uint64_t calls)
{
	if (stream > 0) {
		stream_over();
		pthread_mutex_lock(&ending); /* as in run_thread */
		pthread_mutex_unlock(&ending);
		pthread_exit(NULL);
	}
	end_threads();
	int on = 0, off = 0;
	APART(PMPI_Initialized(&on));
	APART(PMPI_Finalized(&off));
	if (on && !off) {
		fprintf(stderr, "proxy: rank %d: the program came no further than %llu calls\n", rank, (unsigned long long)calls);
		waits_in("MPI_Finalize, to which the program did not come");
		MPI_Finalize();
	}
	tell_times();
	stream_over();
	exit(0);
}

int finish(void)
{
	if (ended())
		over(calls_made());
	tell_times();
	stream_over();
	return 0;
}
