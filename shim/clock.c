/*
 * clock.c: ticks and what they mean.
 *
 * Reading the time stamp counter costs 8 ns, clock_gettime 25. The counter is
 * used where the processor promises that it runs at a constant rate in all
 * power states.
 */
#define _GNU_SOURCE
#include <time.h>

#include "shim.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

int sp_use_tsc;

static uint64_t opened_ticks;
static int64_t opened_ns;

static int64_t now(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t sp_clock_ticks(void)
{
	return (uint64_t)now(CLOCK_MONOTONIC);
}

static int counter_is_steady(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#elif defined(__aarch64__)
	return 1;
#else
	return 0;
#endif
}

/* A tick and a clock at the same moment: the tightest of a few tries, as an
   interrupt may come between the two readings. */
static void pair(clockid_t id, uint64_t *ticks, int64_t *ns)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 5; i++) {
		uint64_t a = sp_ticks();
		int64_t t = now(id);
		uint64_t b = sp_ticks();
		if (b - a < best) {
			best = b - a;
			*ticks = a + (b - a) / 2;
			*ns = t;
		}
	}
}

void sp_clock_open(void)
{
	sp_use_tsc = counter_is_steady();
	pair(CLOCK_MONOTONIC, &opened_ticks, &opened_ns);
}

void sp_clock_pair(uint64_t *ticks, int64_t *realtime_ns)
{
	pair(CLOCK_REALTIME, ticks, realtime_ns);
}

double sp_clock_rate(void)
{
	if (!sp_use_tsc)
		return 1;
	uint64_t ticks;
	int64_t ns;
	pair(CLOCK_MONOTONIC, &ticks, &ns);
	if (ns - opened_ns < 2000000) {
		/* MPI was loaded late; two milliseconds give five digits. */
		struct timespec wait = {0, 2000000};
		nanosleep(&wait, NULL);
		pair(CLOCK_MONOTONIC, &ticks, &ns);
	}
	return (double)(ticks - opened_ticks) / (double)(ns - opened_ns);
}
