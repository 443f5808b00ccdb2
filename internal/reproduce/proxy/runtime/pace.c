/* pace.c: calls take place: time between them, and the watchdog that looks at them. */
#include "private.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Calls under way, for the watchdog. */
static struct {
	const char *volatile call;
	volatile uint64_t number; /* of the call */
	volatile uint64_t steps;  /* any progress */
	volatile uint64_t over;   /* calls that are through */
	volatile int waiting;     /* for another thread, before its first call */
} streams[THREADS];
_Thread_local int stream;
static int limit = 120; /* seconds */

static void *watch(void *unused)
{
	uint64_t last[THREADS] = {0};
	int idle[THREADS] = {0};
	(void)unused;
	for (;;) {
		sleep(1);
		for (int i = 0; i < THREADS; i++) {
			if (!streams[i].call || streams[i].steps != last[i]) {
				last[i] = streams[i].steps;
				idle[i] = 0;
				continue;
			}
			/* The first to end ends the job: others that are stuck may tell so before. */
			if (++idle[i] == limit) {
				fprintf(stderr, "proxy: rank %d, thread %d: for %d s in call %llu: %s\n", rank, i, idle[i],
				        (unsigned long long)streams[i].number, streams[i].call);
				fflush(stderr);
			}
			if (idle[i] >= limit + 2 + limit / 4)
				_exit(3);
		}
	}
	return NULL;
}

/* Time between calls. */
static enum { NONE, SLEEP, SPIN } compute;
static double speed = 1;
static _Thread_local int64_t left; /* when the last call was over, 0: none yet */

/* A permutation of the numbers up to a mask, the first of which fill the range evenly: the
   bits the other way round, and each turned or not by those above it (Owen's scrambling, by
   a hash of Laine and Karras). */
static uint32_t scrambled(uint32_t x, uint32_t seed, uint32_t mask)
{
	uint32_t turned = 0;
	x += seed;
	x ^= x * 0x6c50b47c;
	x ^= x * 0xb82f1e52;
	x ^= x * 0xc7afe638;
	x ^= x * 0x8d22f6e6;
	for (; mask; mask >>= 1, x >>= 1)
		turned = turned << 1 | (x & 1);
	return turned;
}

double drawn(uint32_t *times, uint32_t place, uint32_t calls, int n, const struct gap *g)
{
	uint32_t mask = 0, seed = (uint32_t)rank * 0x9e3779b9 ^ place * 0x85ebca6b, i;
	while (mask < calls - 1)
		mask = mask << 1 | 1;
	do
		i = scrambled((*times)++ & mask, seed, mask);
	while (i >= calls);
	double at = (i + 0.5) / calls;
	for (; n > 1 && at >= g->share; n--)
		at -= g++->share;
	return g->us;
}

static _Thread_local double passed;     /* microseconds that belong to no call */
static _Thread_local double entry = -1; /* what the next call comes after, if not negative */

static _Thread_local int64_t due, spent; /* nanoseconds between calls, as the trace has them and as they were */

void tell_times(void)
{
	if (getenv("PROXY_TIMES"))
		fprintf(stderr, "proxy: rank %d: %.6f s between calls, by the trace %.6f s\n", rank, (double)spent * 1e-9, (double)due * 1e-9);
}

static const int64_t *last; /* by thread, NULL: all come to their end */
static int lasts;

void ends(int n, const int64_t *calls)
{
	last = calls + n * rank;
	lasts = n;
}

int ended(void) { return last != NULL; }

uint64_t calls_made(void) { return streams[stream].number; }

static const struct later *later; /* in order of ranks, threads and calls */
static int laters;

void turns(int n, const struct later *list)
{
	later = list;
	laters = n;
}

/* Wait until other threads have made the calls that the next one needs. */
static void await_turns(uint64_t call)
{
	static _Thread_local const struct later *next;
	if (!next)
		for (next = later; next < later + laters && (next->rank < rank || (next->rank == rank && next->thread < stream)); next++)
			;
	if (call == 0 && stream > 1) /* threads are numbered by their first calls */
		for (; !streams[stream - 1].steps; usleep(20))
			streams[stream].waiting = 1;
	for (; next < later + laters && next->rank == rank && next->thread == stream && next->call <= call; next++)
		for (; __atomic_load_n(&streams[next->of].over, __ATOMIC_ACQUIRE) <= next->after; usleep(20))
			streams[stream].waiting = 1;
}

static _Thread_local int same; /* the call is that before once more */

/* The next call of the trace; returns what it comes after. */
static double next(double gap)
{
	if (last && stream < lasts && streams[stream].number >= (uint64_t)last[stream])
		over(streams[stream].number);
	if (later && !same)
		await_turns(streams[stream].number);
	streams[stream].number++;
	if (follows)
		gap = same ? 0 : followed();
	else if (entry >= 0)
		gap = entry;
	entry = -1;
	same = 0;
	return gap;
}

int again(void)
{
	streams[stream].number--;
	same = 1;
	return 1;
}

static void through(void) { __atomic_store_n(&streams[stream].over, streams[stream].number, __ATOMIC_RELEASE); }

void pass(double gap)
{
	passed += next(gap);
	through();
}

void entered(double gap) { entry = gap; }

void before(double gap, const char *call)
{
	int64_t wait = (int64_t)((next(gap) + passed) * 1e3 / speed);
	due += wait;
	if (compute != NONE) {
		int64_t now = time_now(), from = left ? left : now;
		spent += time_await(from + wait, now, compute == SLEEP ? AWAKE : INT64_MAX) - from;
	}
	passed = 0;
	waits_in(call);
}

void after(void)
{
	requests_over();
	arguments_over();
	if (compute != NONE)
		left = time_now();
	streams[stream].call = NULL;
	through();
}

void waits_in(const char *what)
{
	streams[stream].steps++;
	streams[stream].call = what;
}

int has_begun(int thread) { return streams[thread].steps || streams[thread].waiting; }

void stream_over(void) { streams[stream].call = NULL; }

void pace(const char *how, double faster, int seconds)
{
	compute = strcmp(how, "sleep") == 0 ? SLEEP : strcmp(how, "spin") == 0 ? SPIN : NONE;
	if (faster > 0)
		speed = faster;
	if (seconds >= 0)
		limit = seconds;
	pthread_t t;
	if (limit > 0 && pthread_create(&t, NULL, watch, NULL) == 0)
		pthread_detach(t);
}
