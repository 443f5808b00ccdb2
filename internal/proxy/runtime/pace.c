/* pace.c: calls take place: time between them, and the watchdog that looks at them. */
#include "private.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Calls under way, for the watchdog. */
static struct {
	const char *volatile call;
	volatile uint64_t number; /* of the call */
	volatile uint64_t steps;  /* any progress */
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
static _Thread_local double left; /* seconds after the last call, 0: none yet */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void wait_until(double end)
{
	for (;;) {
		double rest = end - now();
		if (rest <= 0)
			return;
		if (compute == SLEEP && rest > 100e-6) {
			rest -= 60e-6; /* what waking up takes */
			struct timespec t = {(time_t)rest, (long)((rest - (double)(time_t)rest) * 1e9)};
			nanosleep(&t, NULL);
		}
	}
}

/* Multiples of the golden ratio, their whole parts cut off, are spread evenly. */
double drawn(int n, const struct gap *g)
{
	double at = 0.6180339887498949 * (double)streams[stream].number + 0.7548776662466927 * rank;
	at -= (double)(int64_t)at;
	for (; n > 1 && at >= g->share; n--)
		at -= g++->share;
	return g->us;
}

void before(double gap, const char *call)
{
	streams[stream].number++;
	if (compute != NONE) {
		double t = left ? left : now();
		wait_until(t + gap * 1e-6 / speed);
	}
	waits_in(call);
}

void after(void)
{
	requests_over();
	arguments_over();
	if (compute != NONE)
		left = now();
	streams[stream].call = NULL;
}

void waits_in(const char *what)
{
	streams[stream].steps++;
	streams[stream].call = what;
}

uint64_t calls_of(int thread) { return streams[thread].steps; }

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
