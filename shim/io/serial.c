/*
 * serial.c: what programs without MPI do with files.
 *
 * Whether a program is without MPI is known at its end: until then its records wait as
 * those do that come before MPI_Init. Only where they can't wait, since there is no more room
 * or another thread has some, is the recording begun at once, if no MPI is loaded. The
 * process directory is left, marked as finished, for `spoor run` to make a trace of, as
 * with programs that use MPI through sessions alone.
 *
 * This is of the process that `spoor run` started, by the name that SPOOR_SERIAL has for it:
 * its parent's number. Its children are recorded as little as those of others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "io.h"

#include "flavour.h"
#include "host.h"
#include "resolve.h"
#include "ring.h"

enum { NOT_HERE, WAITS, BEGINS, BEGUN, OVER };

static int state = NOT_HERE;
static pid_t self;

static int begin(int before)
{
	int was = WAITS, unresolved = SP_UNRESOLVED;
	if (before && sp_symbol_loaded("PMPI_Init"))
		return 0;
	if (!__atomic_compare_exchange_n(&state, &was, BEGINS, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return was == BEGUN;
	if (__atomic_compare_exchange_n(&sp_mode, &unresolved, SP_EARLY, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		sp_flavour_set(SPOOR_ABI);
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) != SP_EARLY) /* MPI_Init came */
		return 0;
	sp_run.alone = 1;
	sp_run.ranks = 1;
	sp_start_alone(0, NULL);
	__atomic_store_n(&state, BEGUN, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) <= SP_MUTED;
}

int sp_serial_now(struct sp_thread *t)
{
	static int refused;
	int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	if (now != WAITS || t->depth || !sp_may_work(t) || __atomic_load_n(&refused, __ATOMIC_RELAXED))
		return now == BEGUN;
	if (begin(1))
		return 1;
	__atomic_store_n(&refused, 1, __ATOMIC_RELAXED); /* an MPI is there: MPI_Init may come */
	return 0;
}

static void end(void)
{
	int mode = __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE);
	if (getpid() != self || mode == SP_OFF || (mode > SP_MUTED && !sp_early_bytes()))
		return;
	if (mode > SP_MUTED)
		begin(0);
	if (__atomic_exchange_n(&state, OVER, __ATOMIC_SEQ_CST) != BEGUN)
		return;
	sp_late(&sp_self, sp_ticks());
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) <= SP_MUTED && sp_host_drain())
		sp_context_finished(1);
	__atomic_store_n(&sp_mode, SP_OFF, __ATOMIC_SEQ_CST);
	sp_host_stop();
}

__attribute__((constructor)) static void look(void)
{
	const char *parent = getenv("SPOOR_SERIAL");
	sp_context_folder(); /* before the program leaves it */
	if (parent && strtol(parent, NULL, 10) == (long)getppid() && atexit(end) == 0) {
		self = getpid();
		state = WAITS;
	}
}
