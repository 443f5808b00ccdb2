/*
 * late.c: what can't be written where it arises.
 *
 * A FREED record of a thread that has no ring, or none with room, and the number
 * of records that could not be written at all, wait here for the next call of MPI
 * in any thread, which writes them before its own record. Nothing waits as a rule,
 * so calls see it by a bit of sp_extra, which they look at anyway.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "runtime.h"

#define FIRST 512 /* serials; a page */
#define BATCH 64

static struct {
	int lock;
	size_t n, room;
	uint64_t *serial;
} freed;

static uint64_t dropped;

/* Make room for one more. mremap, since this may be inside of free. */
static int grow(void)
{
	size_t bytes = freed.room * sizeof *freed.serial;
	void *p = freed.serial ? mremap(freed.serial, bytes, bytes * 2, MREMAP_MAYMOVE)
		: mmap(NULL, FIRST * sizeof *freed.serial, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	freed.serial = p;
	freed.room = freed.room ? freed.room * 2 : FIRST;
	return 1;
}

static void announce(void)
{
	__atomic_fetch_or(&sp_extra, SP_LATE, __ATOMIC_SEQ_CST);
}

void sp_drop(uint64_t records)
{
	__atomic_fetch_add(&dropped, records, __ATOMIC_SEQ_CST);
	announce();
}

void sp_freed_later(uint64_t serial)
{
	struct sp_thread *t = &sp_self;
	if (t->locked) { /* by what this signal handler interrupted */
		sp_drop(1);
		return;
	}
	sp_lock_begin(t, &freed.lock);
	int ok = freed.n < freed.room || grow();
	if (ok)
		freed.serial[freed.n++] = serial;
	sp_lock_end(t);
	if (ok)
		announce();
	else
		sp_drop(1);
}

/* Some of those that wait. */
static size_t take(struct sp_thread *t, uint64_t serial[BATCH])
{
	sp_lock_begin(t, &freed.lock);
	size_t n = freed.n < BATCH ? freed.n : BATCH;
	freed.n -= n;
	if (n)
		memcpy(serial, freed.serial + freed.n, n * sizeof *serial);
	sp_lock_end(t);
	return n;
}

static void write_one(struct sp_thread *t, unsigned kind, uint64_t ticks, uint64_t value)
{
	uint64_t *w = sp_begin(t);
	w[1] = ticks;
	w[2] = value;
	sp_commit(t, w + 3, 0, kind, 0);
}

/* Whether a record can be written for sure. */
static int sure(const struct sp_thread *t)
{
	return t->cur < t->due || sp_may_work(t);
}

void sp_late(struct sp_thread *t, uint64_t ticks)
{
	sp_prepare(t);
	if (!sp_has_ring(t) || !sure(t))
		return;
	/* Cleared first: what comes meanwhile sets it again. */
	__atomic_fetch_and(&sp_extra, ~SP_LATE, __ATOMIC_SEQ_CST);
	uint64_t serial[BATCH];
	for (size_t n; (n = sure(t) ? take(t, serial) : 0) > 0;)
		for (size_t i = 0; i < n; i++)
			if (sure(t))
				write_one(t, SP_FREED, ticks, serial[i]);
			else
				sp_freed_later(serial[i]);
	if (!sure(t)) {
		announce();
		return;
	}
	uint64_t lost = __atomic_exchange_n(&dropped, 0, __ATOMIC_SEQ_CST);
	if (lost)
		write_one(t, SP_LOST, ticks, lost);
}
