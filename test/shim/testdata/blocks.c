/* blocks SEED STEPS THREADS FILE: allocate, free and call MPI at random, one thread
   at a time, and write to FILE what the names of the buffers have to be: a block gets
   the lowest number that is free when a call first uses it, and keeps it to its end.
   One more thread allocates and frees, but never calls MPI. */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX 400
#define MAX_THREADS 8

static struct {
	char *at;
	size_t size;
	int name; /* -1: none yet */
} block[MAX];
static int nblocks;
static char taken[MAX];
static FILE *names;
static int number; /* of the call */
static int steps, nthreads, alone;
static sem_t turn[MAX_THREADS + 1];
static unsigned long long state;

static unsigned random_below(unsigned n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)((state >> 33) % n);
}

static size_t random_size(void)
{
	return 1024 + random_below(random_below(8) ? 8000 : 300000);
}

static void end_of(int i)
{
	if (block[i].name >= 0)
		taken[block[i].name] = 0;
	block[i] = block[--nblocks];
}

static void name(int i, size_t offset)
{
	int n = block[i].name;
	if (n < 0) {
		for (n = 0; taken[n]; n++)
			;
		taken[n] = 1;
		block[i].name = n;
	}
	if (offset)
		fprintf(names, " heap%d+%zu", n, offset);
	else
		fprintf(names, " heap%d", n);
}

static void call(void)
{
	int i = (int)random_below((unsigned)nblocks), j = (int)random_below((unsigned)nblocks);
	size_t from = random_below(3) ? 0 : random_below((unsigned)block[i].size);
	fprintf(names, "%d", ++number);
	name(i, from);
	if (i == j || random_below(2)) {
		MPI_Send(block[i].at + from, number, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	} else {
		name(j, 0);
		MPI_Sendrecv(block[i].at + from, number, MPI_BYTE, MPI_PROC_NULL, 0, block[j].at, 1, MPI_BYTE, MPI_PROC_NULL, 0,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	fputc('\n', names);
}

static void step(int calls)
{
	unsigned what = random_below(100);
	if (what < 25 || !nblocks) {
		for (unsigned n = what < 2 ? 60 : 1; n && nblocks < MAX; n--) {
			size_t size = random_size();
			block[nblocks].at = random_below(2) ? malloc(size) : calloc(1, size);
			block[nblocks].size = size;
			block[nblocks++].name = -1;
		}
	} else if (what < 45) {
		int i = (int)random_below((unsigned)nblocks);
		free(block[i].at);
		end_of(i);
	} else if (what == 45) {
		while (nblocks) {
			free(block[0].at);
			end_of(0);
		}
	} else if (what < 50) {
		int i = (int)random_below((unsigned)nblocks);
		size_t size = random_size();
		char *at = realloc(block[i].at, size);
		end_of(i);
		block[nblocks].at = at;
		block[nblocks].size = size;
		block[nblocks++].name = -1;
	} else if (calls) {
		call();
	}
}

/* Each step ends by choosing whose turn is next. */
static void *work(void *arg)
{
	int me = (int)(size_t)arg;
	for (;;) {
		sem_wait(&turn[me]);
		if (steps-- <= 0)
			break;
		for (unsigned n = 1 + random_below(30); n; n--)
			step(me < nthreads);
		sem_post(&turn[random_below((unsigned)(nthreads + 1))]);
	}
	steps = 0;
	for (int i = 0; i <= nthreads; i++)
		sem_post(&turn[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	int provided;
	pthread_t thread[MAX_THREADS + 1];
	if (argc != 5)
		return 2;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
	state = strtoull(argv[1], NULL, 10);
	steps = atoi(argv[2]);
	nthreads = atoi(argv[3]);
	names = fopen(argv[4], "w");
	if (!names || nthreads > MAX_THREADS)
		return 2;
	static char buffer[1 << 16]; /* or stdio would take a block of its own */
	setvbuf(names, buffer, _IOFBF, sizeof buffer);
	for (int i = 0; i <= nthreads; i++)
		sem_init(&turn[i], 0, 0);
	sem_post(&turn[0]);
	for (int i = 0; i <= nthreads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(size_t)i);
	for (int i = 0; i <= nthreads; i++)
		pthread_join(thread[i], NULL);
	fclose(names);
	MPI_Finalize();
	return 0;
}
