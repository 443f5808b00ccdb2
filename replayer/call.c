/* call.c: waits until a call is due, makes it, and notes how long it took. */
#define _GNU_SOURCE
#include "call.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static int status_size;

/* Sleeping overshoots by a few tens of microseconds: the rest is spent looking at
   the clock, unless that would keep other ranks from a core. */
static int64_t spin_ns;

int64_t call_clock(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void call_prepare(int size, int64_t spin)
{
	status_size = size;
	spin_ns = spin;
	prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
}

static int64_t wait_until(int64_t due, int64_t now)
{
	while (now < due) {
		if (due - now > spin_ns) {
			int64_t wake = due - spin_ns;
			struct timespec t = {wake / 1000000000, wake % 1000000000};
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		}
		now = call_clock();
	}
	return now;
}

typedef uint64_t (*function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
	uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

/* Goes into the MPI and comes out. */
static void invoke(struct call *c)
{
	function f;
	*(void **)&f = c->function;
	const uint64_t *w = c->words;
	if (c->outcome)
		under_expect(c->outcome);
	/* Words beyond the function's parameters lie on the stack unseen. */
	c->result = f(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14], w[15], w[16], w[17]);
	if (c->outcome)
		under_expect(NULL);
	c->end = call_clock();
}

void call_make(struct call *c)
{
	c->ready = call_clock();
	c->begin = wait_until(c->not_before, c->ready);
	invoke(c);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Paces calls as Stream.due and Stream.lag in internal/again/replay do. */
void call_repeat(struct call *c, struct repeats *r)
{
	int64_t now = call_clock(), result = 0;
	while (r->next < r->n && !result) {
		int64_t gap = r->at[r->next].gap, by_gap = 0;
		if (gap > 0) {
			int64_t caught = least(r->late, gap);
			r->late -= caught;
			by_gap = r->last + gap - caught;
		}
		int64_t due = most(r->at[r->next].line, by_gap);
		c->ready = now;
		__atomic_store_n(&r->from, most(due, now), __ATOMIC_RELAXED);
		c->begin = wait_until(due, now);
		r->held += most(0, due - most(by_gap, now));
		r->late += most(0, c->begin - most(due, r->last));
		invoke(c);
		r->mpi += c->end - c->begin;
		r->last = now = c->end;
		result = (int)c->result;
		__atomic_store_n(&r->next, r->next + 1, __ATOMIC_RELAXED);
	}
}

/* ---- stand-ins ---- */

static void user_op(void *in, void *inout, int *n, void *type)
{
	(void)in, (void)inout, (void)n, (void)type;
}

/* Copies the attribute, as most programs want. */
static int copy_attr(intptr_t object, int key, void *extra, void *value, void **copy, int *flag)
{
	(void)object, (void)key, (void)extra;
	*copy = value;
	*flag = 1;
	return 0;
}

/* Copies none: what a null pointer means in MPICH. */
static int no_copy(intptr_t object, int key, void *extra, void *value, void **copy, int *flag)
{
	(void)object, (void)key, (void)extra, (void)value, (void)copy;
	*flag = 0;
	return 0;
}

static int delete_attr(intptr_t object, int key, void *value, void *extra)
{
	(void)object, (void)key, (void)value, (void)extra;
	return 0;
}

/* The extra state is the status to give. */
static int query(void *extra, void *status)
{
	memcpy(status, extra, (size_t)status_size);
	return 0;
}

static int nothing(void)
{
	return 0;
}

void *call_stand_in(int kind)
{
	void *table[] = {(void *)nothing, (void *)user_op, (void *)copy_attr, (void *)delete_attr, (void *)query, (void *)no_copy};
	return kind >= 0 && kind < (int)(sizeof table / sizeof *table) ? table[kind] : table[0];
}
