/*
 * left.c: calls that were left by longjmp or an exception.
 *
 * Error handlers, callbacks and signal handlers may leave the MPI through its
 * wrappers, which learn nothing of it. A call under way is over
 *  - if the program calls MPI from a frame that is not inside of it: stacks grow
 *    downwards, so not from below it;
 *  - if another return address or something else stands where its own did;
 *  - if a call around it returns.
 * A LEFT record then says how many calls remain. Nothing of this is looked at while
 * no call is under way.
 *
 * Places can be compared if they are on one stack: signal handlers may have one of
 * their own, and coroutines have others that nobody knows of. In doubt a call is
 * taken for under way; if one that was taken for left returns, its LEAVE is lost.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "ring.h"
#include "runtime.h"

/* Whether a frame that ends there is on the stack that the thread was made with. */
static int is_own(const struct sp_thread *t, uint64_t place)
{
	return sp_has_ring(t) && place > t->ring->stack_lo && place <= t->ring->stack_hi;
}

/* Whether the frame that ends at `old` is no more, now that there is one that ends at
   `now` and belongs to a function which the program called. */
static int is_over(const struct sp_thread *t, uint64_t old, uint64_t now)
{
	stack_t s;
	int own = is_own(t, old) && is_own(t, now);
	if (now == old)
		return 1;
	if ((own && now < old) || sigaltstack(NULL, &s) != 0)
		return 0;
	uint64_t lo = (uint64_t)(uintptr_t)s.ss_sp;
	int old_aside = !(s.ss_flags & SS_DISABLE) && old > lo && old <= lo + s.ss_size;
	if (s.ss_flags & SS_ONSTACK)
		return old_aside && now > old;
	return old_aside || (own && now > old);
}

/* What lies there may be anything by now. */
__attribute__((no_sanitize_address, no_sanitize_thread)) static int is_changed(const struct sp_thread *t,
	const struct sp_open_call *o)
{
	return SP_BACK_ON_STACK && is_own(t, o->cfa) && ((const uint64_t *)(uintptr_t)o->cfa)[-1] != o->back;
}

/* n calls remain. This may be left in its turn: what is to be told is noted first. */
static void close_from(struct sp_thread *t, uint32_t n)
{
	uint64_t lost = t->lost & ((1ull << n) - 1);
	t->lim = NULL;
	sp_mark(&t->left, 1 + n - (uint64_t)__builtin_popcountll(lost));
	t->lost = lost;
	t->after = 0;
	t->request_at = NULL;
	t->files &= (uint32_t)((1ull << n) - 1);
	sp_mark(&t->depth, n);
}

/* Who was writing a record has been left. What is in the ring by now counts. */
static void abandon(struct sp_thread *t)
{
	if (t->holds) {
		int *lock = t->holds;
		sp_mark(&t->holds, NULL);
		__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
	}
	t->in[SP_HOOKED] = 0;
	t->in[SP_BUSY] = 0;
	t->locked = 0;
	if (sp_has_ring(t)) {
		t->head = t->ring->head;
		sp_ring_limits(t);
	}
	sp_mark(&t->shut, 0);
	sp_mark(&t->writing, 0);
}

void sp_close_left(struct sp_thread *t, uint64_t cfa)
{
	uint32_t n = t->depth;
	int abandoned = 0;
	if (t->writing) {
		if (!is_over(t, t->writing, cfa))
			return;
		abandoned = 1;
	}
	for (uint32_t i = 1; i <= n; i++)
		if (is_changed(t, &t->open[i]) || is_over(t, t->open[i].cfa, cfa))
			n = i - 1;
	if (n < t->depth || abandoned)
		close_from(t, n);
	if (abandoned)
		abandon(t);
}

void sp_astray(struct sp_thread *t, uint64_t cfa)
{
	for (uint32_t i = t->depth; i > 0; i--)
		if (t->open[i].cfa == cfa) {
			close_from(t, i);
			return;
		}
	/* It was taken for left: its LEAVE goes nowhere. */
	t->lost |= 1ull << t->depth;
	t->lim = NULL;
	t->depth++;
}

void sp_leave_all(struct sp_thread *t)
{
	if (!t->depth && !t->writing)
		return;
	close_from(t, 0);
	abandon(t);
	if (sp_has_ring(t)) {
		sp_begin(t); /* a LEFT record comes before any other */
		sp_mark(&t->writing, 0);
	}
}
