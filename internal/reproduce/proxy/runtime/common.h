/* common.h: what proxies and the replayer have in common, besides calls on files. */
#ifndef COMMON_H
#define COMMON_H

#include <stdint.h>
#include <time.h>

/* ---- time, in nanoseconds ---- */

static inline int64_t time_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Sleeping overshoots by a few tens of microseconds: the rest is spent looking at the clock, unless that would keep other
   ranks from a core. */
#define AWAKE 60000

/* Waits until it is so late, awake in the end, and returns what time it is then. */
static inline int64_t time_await(int64_t due, int64_t now, int64_t awake)
{
	while (now < due) {
		if (due - now > awake) {
			int64_t wake = due - awake;
			struct timespec t = {wake / 1000000000, wake % 1000000000};
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		}
		now = time_now();
	}
	return now;
}

/* ---- callbacks in place of the program's, of whatever type it has them ---- */

/* Does nothing: operators leave data alone, as what is sent means nothing. */
static inline int stand_in(void) { return 0; }

/* Copies an attribute, as most programs want. */
static inline int stand_in_copy(intptr_t object, int key, void *extra, void *value, void **copy, int *found)
{
	(void)object, (void)key, (void)extra;
	*copy = value;
	*found = 1;
	return 0;
}

/* Copies none, as MPI_COMM_NULL_COPY_FN and the like do. */
static inline int stand_in_no_copy(intptr_t object, int key, void *extra, void *value, void **copy, int *found)
{
	(void)object, (void)key, (void)extra, (void)value, (void)copy;
	*found = 0;
	return 0;
}

#endif
