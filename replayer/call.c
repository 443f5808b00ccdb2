/* call.c: waits until a call is due, makes it, and notes how long it took. */
#define _GNU_SOURCE
#include "call.h"

#include <sys/prctl.h>

static int64_t awake = AWAKE;

void call_prepare(int64_t ns)
{
	awake = ns;
	prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
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
	c->end = time_now();
}

void call_make(struct call *c)
{
	c->ready = time_now();
	c->begin = time_await(c->not_before, c->ready, awake);
	invoke(c);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Paces calls as Stream.due and Stream.lag in internal/reproduce/replay do. */
void call_repeat(struct call *c, struct repeats *r)
{
	int64_t now = time_now(), result = 0;
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
		c->begin = time_await(due, now, awake);
		r->held += most(0, due - most(by_gap, now));
		r->late += most(0, c->begin - most(due, r->last));
		invoke(c);
		r->mpi += c->end - c->begin;
		r->last = now = c->end;
		result = (int)c->result;
		__atomic_store_n(&r->next, r->next + 1, __ATOMIC_RELAXED);
	}
}
