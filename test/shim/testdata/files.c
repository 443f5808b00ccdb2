/* Three threads open, duplicate, map, read, write and close files at once, while a handler
   writes to one. Arguments: milliseconds. Prints how often the handler wrote, and what the
   threads called: open, dup, pread, pwrite, close, mmap, munmap, fopen, fread, fclose. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { OPEN, DUP, PREAD, PWRITE, CLOSE, MMAP, MUNMAP, FOPEN, FREAD, FCLOSE, KINDS };

static long calls[3][KINDS];
static int shared, ticks, handled;
static double until;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void tick(int sig)
{
	(void)sig;
	__atomic_fetch_add(&handled, write(ticks, "t", 1) == 1, __ATOMIC_SEQ_CST);
}

static void need(int good, const char *what)
{
	if (!good) {
		perror(what);
		abort();
	}
}

static void *work(void *arg)
{
	long *n = calls[(long)arg];
	char name[32], b[4096];
	snprintf(name, sizeof name, "file.%ld", (long)arg);
	do {
		int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600), copy = dup(shared);
		need(fd >= 0 && copy >= 0, "open");
		memset(b, (int)(long)arg + 1, sizeof b);
		for (int i = 0; i < 4; i++) {
			need(pwrite(fd, b, sizeof b, i * 4096) == 4096, "pwrite");
			need(pread(copy, b + 1, 100, i) == 100, "pread");
		}
		void *m = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
		need(m != MAP_FAILED && *(char *)m == (long)arg + 1, "mmap");
		need(munmap(m, 8192) == 0, "munmap");
		need(close(copy) == 0 && close(fd) == 0, "close");
		FILE *f = fopen(name, "r");
		need(f && fread(b, 8, 16, f) == 16, "fread");
		need(fclose(f) == 0, "fclose");
		n[OPEN]++, n[DUP]++, n[PWRITE] += 4, n[PREAD] += 4, n[MMAP]++, n[MUNMAP]++, n[CLOSE] += 2, n[FOPEN]++, n[FREAD]++, n[FCLOSE]++;
	} while (now() < until);
	return NULL;
}

int main(int argc, char **argv)
{
	int level;
	char b[4096] = "";
	pthread_t t[3];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	shared = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600);
	ticks = open("ticks", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	need(pwrite(shared, b, sizeof b, 0) == 4096, "pwrite");
	struct sigaction a = {.sa_handler = tick, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	until = now() + atoi(argv[1]);
	for (long i = 1; i < 3; i++)
		need(pthread_create(&t[i], NULL, work, (void *)i) == 0, "pthread_create");
	work(NULL);
	for (int i = 1; i < 3; i++)
		pthread_join(t[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d", __atomic_load_n(&handled, __ATOMIC_SEQ_CST));
	for (int k = 0; k < KINDS; k++)
		printf(" %ld", calls[0][k] + calls[1][k] + calls[2][k]);
	printf("\n");
	MPI_Finalize();
	return 0;
}
