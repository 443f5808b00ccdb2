/*
 * start.c: the life of a traced process: from MPI_Init to MPI_Finalize.
 *
 * Starting and finishing are agreed among all ranks: if one of them can't go
 * on, the others must not wait for it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "context.h"
#include "depart.h"
#include "flavour.h"
#include "hooks.h"
#include "host.h"
#include "layers.h"
#include "phase.h"
#include "ring.h"
#include "room.h"
#include "runtime.h"
#include "python.h"
#include "stack.h"
#include "talk.h"

#define RING_BYTES (1ull << 20)
#define MIN_RING_BYTES (64ull << 10)

struct sp_run sp_run;

static struct spoor_host host;

/* ---- what the engine may ask ---- */

static int32_t nthreads(void)
{
	return __atomic_load_n(&sp_nrings, __ATOMIC_ACQUIRE);
}

static void *ring(int32_t thread)
{
	return thread >= 0 && thread < nthreads() ? sp_rings[thread] : NULL;
}

/* ---- agreement ---- */

enum answer { NO, YES, NO_ROOM /* and nothing said about it yet */ };

/* Whether all ranks say yes. `why` is what to say where this one has no room: rank
   0 speaks for all who haven't. */
static int all_agree(enum answer yes, const char *why, int *one_clock, int ending)
{
	struct sp_vote vote = {
		.clock = sp_clock_id(), .yes = yes == YES, .cramped = yes == NO_ROOM ? sp_run.rank : -1, .one_clock = 1,
	};
	if (ending && sp_run.rank == 0)
		sp_depart_offer(&vote.departure);
	int agreed = sp_talk_agree(&vote, ending);
	sp_depart_join(&vote.departure);
	if (sp_run.rank == 0 && vote.cramped == 0)
		sp_give_up("%s", why);
	else if (sp_run.rank == 0 && vote.cramped > 0)
		sp_give_up("rank %d: too little memory is left, not tracing", vote.cramped);
	if (one_clock)
		*one_clock = vote.one_clock && vote.clock;
	return agreed;
}

/* ---- start ---- */

static uint64_t ring_bytes(void)
{
	const char *named = getenv("SPOOR_RING");
	uint64_t want = named ? strtoull(named, NULL, 0) : RING_BYTES;
	uint64_t size = MIN_RING_BYTES;
	while (size < want && size < 1ull << 32)
		size *= 2;
	return size;
}

/* 0, SPOOR_LATE or another error. */
static int open_world(void)
{
	intptr_t parent = 0;
	int rc = sp_talk_open();
	if (rc != 0)
		return rc;
	P_MPI_Comm_rank(sp_run.comm, &sp_run.rank);
	P_MPI_Comm_size(sp_run.comm, &sp_run.ranks);
	P_MPI_Comm_group(sp_run.comm, &sp_run.world_group);
	if (P_MPI_Comm_get_parent(&parent) == 0)
		sp_run.spawned = ((uint64_t)parent & sp_fl.handle_mask) != (uint64_t)sp_fl.comm_null;
	return 0;
}

static int start_engine(void)
{
	sp_run.ticks_per_ns = sp_clock_rate();
	sp_clock_pair(&sp_run.start_ticks, &sp_run.start_ns);
	uint64_t capacity = ring_bytes();
	while (capacity < 4 * sp_early_bytes())
		capacity *= 2;
	sp_scratch_open(capacity);
	if (!sp_attach_first(&sp_self, capacity)) {
		sp_give_up("no memory for a ring, not tracing");
		return 0;
	}
	if (!sp_context_write()) {
		sp_give_up("can't write to %s, not tracing", sp_scratch_dir());
		return 0;
	}
	host = (struct spoor_host){
		.abi = SPOOR_ENGINE_ABI,
		.size = sizeof host,
		.dir = sp_scratch_dir(),
		.rank = sp_run.rank,
		.ranks = sp_run.ranks,
		.flavour = sp_fl.number,
		.flags = (sp_run.alone ? SPOOR_ALONE : 0) | (sp_run.spawned ? SPOOR_SPAWNED : 0) | (sp_use_tsc ? SPOOR_TSC : 0),
		.ticks_per_ns = sp_run.ticks_per_ns,
		.ticks = sp_ticks,
		.clock_pair = sp_clock_pair,
		.nthreads = nthreads,
		.ring = ring,
		.send = sp_talk_send,
		.recv = sp_talk_recv,
		.await = sp_talk_await,
		.apart = sp_talk_apart,
	};
	return sp_host_start(&host);
}

static void close_world(void)
{
	if (sp_run.world_group)
		P_MPI_Group_free(&sp_run.world_group);
	sp_run.world_group = 0;
	sp_talk_close();
}

static void set_on(void)
{
	const char *off = getenv("SPOOR_START_OFF");
	int early = SP_EARLY;
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_EARLY) {
		sp_stack_start();
		sp_python_start();
	}
	if (__atomic_compare_exchange_n(&sp_mode, &early, SP_ON, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)
	    && (sp_run.start_off || (off && strcmp(off, "1") == 0)))
		sp_switch(0);
	sp_phase_start();
	sp_hooks_start();
	sp_delay_start();
}

/* Of MPI_Init_thread's parameters; MPI_THREAD_SINGLE is 0 in all MPIs. */
#define PROVIDED 3

/* The other ranks don't take part: the records are complete at the end, and `spoor run` merges them. */
static void leave_others(void)
{
	P_MPI_Comm_rank(sp_fl.comm_world, &sp_run.rank);
	P_MPI_Comm_size(sp_fl.comm_world, &sp_run.ranks);
	P_MPI_Comm_group(sp_fl.comm_world, &sp_run.world_group);
	sp_run.alone = sp_run.late = 1;
}

static void start_engine_alone(void)
{
	char why[256];
	if (sp_room_to_start(why, sizeof why))
		start_engine();
	else
		sp_give_up("%s", why);
}

/* How long the start took in a layer's call of PMPI_Init, until MPI_Init has returned. */
static uint64_t inside_ticks;

void sp_start(unsigned call, const int64_t *params)
{
	uint64_t begin = sp_ticks();
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) != SP_EARLY)
		return;
	sp_flavour_late();
	uint64_t was = sp_shut(&sp_self);
	sp_self.in[SP_BUSY]++;
	char why[256];
	int one_clock, rc = open_world();
	if (rc == SPOOR_LATE) {
		leave_others();
		start_engine_alone();
		sp_warn("rank %d: other ranks did not come out of MPI_Init, so it is recorded without them", sp_run.rank);
	} else if (rc != 0) {
		sp_give_up("can't duplicate MPI_COMM_WORLD, not tracing");
	} else if (!all_agree(sp_room_to_start(why, sizeof why) ? start_engine() : NO_ROOM, why, &one_clock, 0)) {
		if (sp_run.rank == 0) {
			sp_give_up("another rank can't trace, so none does");
			sp_scratch_told();
		}
		__atomic_store_n(&sp_mode, SP_OFF, __ATOMIC_SEQ_CST);
		sp_host_stop();
		sp_scratch_remove();
		close_world();
	} else if (!one_clock) {
		sp_host_sync();
	}
	sp_self.in[SP_BUSY]--;
	if (call == SP_ID_MPI_Init_thread && *(const int *)(intptr_t)params[PROVIDED] != 0)
		sp_stack_threads();
	set_on();
	if (sp_run.inside)
		inside_ticks = sp_ticks() - begin;
	else
		sp_hooks_started(call, params, begin);
	sp_reopen(&sp_self, was);
}

void sp_start_inside(const void *site, unsigned call, const int64_t *params)
{
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) != SP_EARLY || !sp_self.depth || !sp_is_layer(site) || sp_layers_may_change_world())
		return;
	sp_run.inside = 1;
	sp_start(call, params);
}

void sp_started_inside(unsigned call, const int64_t *params)
{
	struct sp_thread *t = &sp_self;
	if (!inside_ticks || !sp_has_ring(t))
		return;
	/* as if recording had started after the call: its LEAVE, the last record, is earlier by that */
	for (int n = 2; n <= 4; n++)
		if ((uint32_t)t->cur[-n] == (uint32_t)n && (t->cur[-n] >> 48 & 0xff) == SP_LEAVE) {
			t->cur[1 - n] -= inside_ticks;
			break;
		}
	uint64_t was = sp_shut(t);
	sp_hooks_started(call, params, sp_ticks() - inside_ticks);
	sp_reopen(t, was);
	inside_ticks = 0;
}

void sp_start_alone(unsigned call, const int64_t *params)
{
	uint64_t begin = sp_ticks();
	sp_flavour_late();
	uint64_t was = sp_shut(&sp_self);
	sp_self.in[SP_BUSY]++;
	start_engine_alone();
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_OFF)
		sp_scratch_told();
	sp_self.in[SP_BUSY]--;
	set_on();
	sp_hooks_started(call, params, begin);
	sp_reopen(&sp_self, was);
}

/* MPI was initialised in a way that no wrapper saw: the ranks notice it one by one, in any
   call, and so start one by one. */
static void start_late(void)
{
	leave_others();
	sp_start_alone(SP_ID_MPI_Init, (const int64_t[]){0, 0});
}

void sp_start_late(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, start_late);
}

/* ---- finish ---- */

/* The last that MPI sees of spoor is a message that all wait for; what takes time comes before it. */
static void part(void)
{
	sp_host_stop();
	sp_talk_together();
	close_world();
	sp_depart();
}

void sp_finish(void)
{
	if (sp_run.late)
		sp_finish_alone();
	if (!sp_run.comm)
		return;
	if (sp_self.depth && !sp_run.finalizing) /* a layer never returned from MPI_Init to the program */
		sp_leave_all(&sp_self);
	sp_self.in[SP_BUSY]++;
	sp_hooks_finish();
	sp_late(&sp_self, sp_ticks());
	int ok = __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) <= SP_MUTED && sp_host_drain();
	if (all_agree(!ok ? NO : sp_room_to_finish() ? YES : NO_ROOM, "too little memory is left to merge: see `spoor recover`", NULL, 1)) {
		switch (sp_host_finish()) {
		case 1:
			sp_host_stop();
			sp_scratch_remove();
			break;
		case SPOOR_KEPT:
			sp_context_finished(1);
		}
	} else {
		sp_give_up("another rank stopped tracing: see `spoor recover`");
	}
	__atomic_store_n(&sp_mode, SP_OFF, __ATOMIC_SEQ_CST);
	part();
	sp_self.in[SP_BUSY]--;
}

int sp_finish_inside(void)
{
	sp_run.finalizing = sp_run.inside && sp_run.comm;
	return sp_run.finalizing;
}

void sp_finish_missed(void)
{
	int over = 0;
	if (!sp_run.comm)
		return;
	if (P_MPI_Finalized(&over) == 0 && !over) {
		sp_finish();
		return;
	}
	sp_run.comm = 0;
	sp_run.world_group = 0;
	sp_run.alone = 1;
	sp_finish_alone();
}
