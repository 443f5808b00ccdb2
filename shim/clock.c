/*
 * clock.c: ticks and what they mean.
 *
 * Reading the time stamp counter costs 8 ns, clock_gettime 25. The counter is
 * used where the processor promises that it runs at a constant rate in all
 * power states.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime.h"

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
	sp_use_tsc = sp_arch_steady();
	pair(CLOCK_MONOTONIC, &opened_ticks, &opened_ns);
}

/* For tests of what is made of clocks that differ: SPOOR_CLOCK_SKEW=R:NS:PPM:SINCE,…
   sets rank R's wall clock forward by NS and makes it faster by PPM from SINCE on, ns
   since 1970, or from now on if there is no SINCE. Ranks for which all three are the same
   share a clock. Only calibration sees it, ticks stay what they are. */
static int64_t skew(int64_t ns)
{
	static int64_t first;
	const char *s = getenv("SPOOR_CLOCK_SKEW");
	if (!s)
		return ns;
	if (!first)
		first = ns;
	for (; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
		char *at;
		if (strtol(s, &at, 10) != sp_run.rank || *at != ':')
			continue;
		int64_t by = strtoll(at + 1, &at, 10);
		double ppm = *at == ':' ? strtod(at + 1, &at) : 0;
		int64_t since = *at == ':' ? strtoll(at + 1, NULL, 10) : first;
		return ns + by + (int64_t)((double)(ns - since) * ppm * 1e-6);
	}
	return ns;
}

/* Equal for processes that read the same wall clock: those on one kernel. 0: can't tell. */
uint64_t sp_clock_id(void)
{
	unsigned char text[64];
	uint64_t h = 0xcbf29ce484222325;
	if (getenv("SPOOR_CLOCK_SKEW"))
		return 0;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++)
		h = (h ^ text[i]) * 0x100000001b3;
	return n > 0 ? h : 0;
}

void sp_clock_pair(uint64_t *ticks, int64_t *realtime_ns)
{
	pair(CLOCK_REALTIME, ticks, realtime_ns);
	*realtime_ns = skew(*realtime_ns);
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
