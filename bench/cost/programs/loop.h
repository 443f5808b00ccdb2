/* loop.h: timing of loops. A program's arguments are: iterations, how deep its loops
   are below main, what clock (wall or cpu), and what of each loop is told: the mean of all,
   or the least of its 25th parts, which other work on the machine changes least. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static clockid_t clock_used = CLOCK_MONOTONIC;
static int least;

static void loop_options(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[3], "cpu"))
		clock_used = CLOCK_PROCESS_CPUTIME_ID;
	least = argc > 4 && !strcmp(argv[4], "least");
}

static double now(void)
{
	struct timespec t;
	clock_gettime(clock_used, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define PARTS 25

#define LOOP(name, n, body) \
	do { \
		for (int i = 0; i < (n) / 10; i++) { body; } \
		double sum = 0, best = 1e300; \
		for (int part = 0, i = 0; part < PARTS; part++) { \
			double t = now(); \
			for (int end = (int)((long)(n) * (part + 1) / PARTS); i < end; i++) { body; } \
			t = now() - t; \
			sum += t; \
			best = t < best ? t : best; \
		} \
		printf(name " %.1f\n", least ? best * PARTS / (n) : sum / (n)); \
	} while (0)
