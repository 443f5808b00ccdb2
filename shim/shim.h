/*
 * shim.h: what all parts of the shim share.
 *
 * The shim is a preloaded library that stands in front of every MPI_ and PMPI_
 * function, writes one ENTER and one LEAVE record per call into the calling
 * thread's ring, and forwards to what the program would have called without it.
 * A call of a PMPI_ name is recorded where no other call is under way: it is the
 * program's, or that of a layer above. It knows MPI and nothing of compression. It is
 * built without any mpi.h: handles pass through as pointer-sized integers, and
 * flavour.c holds what differs between MPI families.
 *
 * Invariants
 *  1. The program MUST see exactly what the function behind gave: return code,
 *     outputs, statuses. Where it ignores a status, a private one is filled instead.
 *  2. Recording a call takes no lock, no allocation and no name look-up, except
 *     when a ring needs attention (ring.c: about once in 128 KB).
 *  3. No PMPI_ function is called while a record is open; otherwise a callback
 *     that calls MPI would write into the middle of it.
 *  4. Whatever fails, tracing stops with one line on stderr and the program
 *     goes on.
 */
#ifndef SPOOR_SHIM_H
#define SPOOR_SHIM_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "engine.h"
#include "record.h"

/* -fvisibility=hidden is about definitions; this makes uses cheaper too. */
#pragma GCC visibility push(hidden)

#define SP_API __attribute__((visibility("default")))
/* The same, for what programs seldom call: PMPI_ names. */
#define SP_PMPI __attribute__((visibility("default"), cold))
/* What a call usually doesn't need: out of the way, and of the registers. */
#define SP_ASIDE __attribute__((noinline, cold))
#define sp_likely(x) __builtin_expect(!!(x), 1)
#define sp_unlikely(x) __builtin_expect(!!(x), 0)

/* Words that fit after any place sp_begin or sp_room returned: more than the
   fixed-size parts of any call (genshim checks) and pending segments. */
#define SP_SLACK 128
#define SP_PENDING 32 /* words of SEGMENT records that wait for a record to close */
#define SP_MAX_THREADS 1024
#define SP_MAX_OPEN 16 /* calls of a thread inside of each other that can be recorded */

enum sp_mode {
	SP_ON = 0,
	SP_MUTED = 1, /* switched off by the program: handles are still followed */
	SP_EARLY = 2, /* before MPI_Init: records go to a small static buffer */
	SP_OFF = 3,   /* never again */
	SP_UNRESOLVED = 4, /* no MPI function called yet */
};

/* What is done at each call besides recording it; usually stacks alone. */
enum sp_extra {
	SP_STACKS = 1, /* stack.c */
	SP_HOOKS = 2,  /* hooks.c: a plugin, counters */
	SP_LATE = 4,   /* late.c: records that wait to be written */
	SP_PYTHON = 8, /* python.c */
	SP_PHASES = 16, /* phase.c: names behind the level of MPI_Pcontrol */
	SP_LOADED = 32, /* bind.c: libraries that wait to be looked at */
	SP_AFTER = SP_HOOKS | SP_LATE, /* what there is to do behind a call */
};

/* A call under way: where its wrapper's frame ends on the stack, and what stands there. */
struct sp_open_call {
	uint64_t cfa, back;
};

/*
 * Locks, in the order in which a thread may take them:
 *
 *  1. names_lock (hooks.c): a NAME record may be written under it, for which the engine may run.
 *  2. The engine's (host.c), all signals blocked.
 *  3. attach_lock (runtime.c); windows (mpimem.c). Neither is taken under the other.
 *  4. One of sp_lock_begin's (segments, late, layers, bind): no other lock of the shim's is taken
 *     under it. bind.c and layers.c walk the loader's list of objects, whose lock is below all.
 *
 * What a thread must not be entered for by a handler, a callback, or its own work, its marks say. Three hold
 * a place on its stack, by which a jump is found that leaves it:
 *
 *  writing    a record is open: no other may begin
 *  shut       the same without a record: what a handler's calls must not enter
 *  locked     it holds a lock of sp_lock_begin's: no segment may be told of
 *
 * depth is the number of wrappers it is in: further calls are the MPI's own. The others count: */
enum sp_state {
	SP_ALLOCATING, /* it is in the C library's allocator: no allocation, and so no engine */
	SP_BUSY,       /* it does the shim's own work: allocations and calls of files aren't the program's */
	SP_HOOKED,     /* it is in a plugin: no call counts */
	SP_STATES
};

struct sp_thread {
	uint64_t *cur;  /* where the next record starts */
	uint64_t *lim;  /* a record may start before this place; NULL: see sp_begin_slow */
	uint64_t writing; /* a record is open, or `shut`: a signal handler's calls can't be recorded.
	                     The place on the stack of who does it */
	uint64_t *end;  /* end of the contiguous free words at cur */
	uint64_t *due;  /* what lim is unless each record has to be looked at */
	struct sp_ring *ring;
	struct sp_stacks *stacks; /* stack.c: fit for the ring and its thread; NULL: to be made so */
	uint64_t head;  /* position of cur */
	uint32_t depth; /* wrappers this thread is inside of */
	uint32_t in[SP_STATES]; /* how often it is in each */
	uint64_t shut;  /* inside what a handler's calls must not enter, records aside: the same */
	uint64_t locked; /* holds a lock of the shim's that a handler must not wait for; what `writing` was, and bit 0 */
	int *holds;      /* that lock */
	uint32_t attached; /* sp_rings[number] is its own */
	uint32_t delayed;  /* delay.c has something to tell */
	uint64_t seen;     /* when its last record of a call was made */
	uint64_t left;     /* 1 + what a LEFT record has to say; 0: nothing */
	uint64_t aside;    /* ticks that the engine took, of which no record tells yet */
	uint64_t lost;     /* the ENTER records of which depths were, as bits: LEAVE goes the same way */
	union {
		struct {
			uint32_t npending;
			uint32_t after; /* 1 + depth of a call whose LEAVE a VALUES record follows; 0: none */
		};
		uint64_t waiting; /* for a record to be committed */
	};
	uint32_t files;  /* of the calls under way, which are of files and not of MPI: bit depth - 1 */
	int32_t number;
	struct sp_hooks *hooks;
	const void *request_at; /* a Fortran wrapper's request variable, which C has a copy of */
	struct sp_tables *tables; /* see sp_tables; NULL: not there yet */
	struct sp_open_call open[SP_MAX_OPEN + 2]; /* by depth, from 1 on */
};

/* What else a thread has. The C library keeps little room for thread-local variables of libraries like this one,
   and where something else took it (an auditor of the loader's) programs would not start: all that this
   library has there must stay below 512 bytes (TestThreadLocals). */
#define SP_CACHED 16     /* a power of two */
#define SP_HOST_PAGES 64 /* a power of two */

struct sp_tables {
	uint64_t pending[SP_PENDING];
	struct sp_cached { /* segments.c: recently used ones */
		uint64_t base, size, word0, epoch;
	} cached[SP_CACHED];
	uint64_t host[SP_HOST_PAGES]; /* gpuask.c: pages that no driver knows, plus 1 */
};

extern __thread struct sp_thread sp_self __attribute__((tls_model("initial-exec")));
extern int sp_mode;      /* enum sp_mode; read without a lock */
extern int sp_extra;     /* bits of enum sp_extra; changes while a thread is in MPI_Init */
extern void *sp_real[];  /* PMPI_ functions by call id: the shim's own way to the MPI */
extern void *sp_next[];  /* what a call of MPI_ is forwarded to: a layer's function, or the MPI's */
extern int sp_use_tsc;

/* ---- ring.c, runtime.c ---- */

uint64_t *sp_begin_slow(struct sp_thread *t, int leave);
uint64_t *sp_room_slow(struct sp_thread *t, uint64_t *w, size_t words);
/* Give the thread a ring, if it can have one, before there is a record. */
void sp_prepare(struct sp_thread *t);
void sp_commit_pending(struct sp_thread *t, uint64_t *w, uint64_t word0);
int sp_open_slow(struct sp_thread *t, int handles, const void *site, uint64_t cfa);
int sp_open_pmpi_slow(struct sp_thread *t, int handles, const void *site, uint64_t cfa);
/* Make sure that sp_real[call] and sp_next[call] are there: where the MPI has no such
   function, one that fails. */
void sp_require(unsigned call);
/* MPI_ERR_UNSUPPORTED_OPERATION */
int sp_unsupported(void);

/* Where to go on writing when sp_room failed: the record leads nowhere. */
uint64_t *sp_room_none(void);

/* The calling thread's tables; NULL if there is no memory. */
struct sp_tables *sp_make_tables(struct sp_thread *t);

static inline struct sp_tables *sp_tables(struct sp_thread *t)
{
	return sp_likely(t->tables != NULL) ? t->tables : sp_make_tables(t);
}

/* Whether the thread has a ring of its own to write to. */
int sp_has_ring(const struct sp_thread *t);
/* Whether the engine may run, and memory be allocated: not in a handler that
   interrupted the allocator, nor on a signal stack, which may be small. */
int sp_may_work(const struct sp_thread *t);
/* Whether what is written now will be read: in that, or before MPI_Init. */
int sp_writable(const struct sp_thread *t);
/* A SEGMENT record (complete) of the calling thread, before the record that is open
   or comes next. */
void sp_tell_segment(struct sp_thread *t, const uint64_t record[6]);
/* A FREED record: at once, or before any thread's next call. Neither allocates nor
   runs the engine: this may be inside of free, with any lock held. */
void sp_tell_freed(uint64_t serial);

/* ---- left.c ---- */

/* The program calls MPI from a frame that ends at cfa: close what it has left. */
void sp_close_left(struct sp_thread *t, uint64_t cfa);
/* The call that returns to a frame which ends at cfa is not the newest. */
void sp_astray(struct sp_thread *t, uint64_t cfa);
/* The thread ends, and with it all that is under way. */
void sp_leave_all(struct sp_thread *t);

/* ---- late.c ---- */

/* Records that can't be written: the trace says how many. */
void sp_drop(uint64_t records);
void sp_freed_later(uint64_t serial);
/* Write what waits, before a record is begun. */
void sp_late(struct sp_thread *t, uint64_t ticks);

/* ---- signal handlers ---- */

/* A handler may call MPI, or malloc and free, at any instant of its thread's. What
   it interrupts must not be entered again; stores to the thread's own marks say so,
   and have to stay where they are. */
#define sp_mark(mark, value) \
	do { \
		__atomic_signal_fence(__ATOMIC_SEQ_CST); \
		__atomic_store_n(mark, value, __ATOMIC_RELAXED); \
		__atomic_signal_fence(__ATOMIC_SEQ_CST); \
	} while (0)

/* The stack pointer before the function was called that this stands in. Older frames
   are above it, those of what it calls below. */
#define SP_CFA ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())

/* Returns what sp_reopen wants. */
static inline uint64_t sp_shut(struct sp_thread *t)
{
	uint64_t was = t->shut;
	sp_mark(&t->shut, SP_CFA);
	sp_mark(&t->writing, SP_CFA);
	return was;
}

static inline void sp_reopen(struct sp_thread *t, uint64_t was)
{
	sp_mark(&t->shut, was);
	sp_mark(&t->writing, was);
}

/* Take a lock. A record may be open, and stays so. */
static inline void sp_lock_begin(struct sp_thread *t, int *lock)
{
	uint64_t writing = t->writing;
	sp_mark(&t->writing, writing ? writing : SP_CFA);
	sp_mark(&t->locked, writing | 1);
	for (unsigned spins = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE);)
		if (++spins % 64 == 0)
			sched_yield();
	sp_mark(&t->holds, lock);
}

static inline void sp_lock_end(struct sp_thread *t)
{
	uint64_t writing = t->locked & ~1ull;
	int *lock = t->holds;
	sp_mark(&t->holds, NULL);
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
	sp_mark(&t->locked, 0);
	sp_mark(&t->writing, writing);
}

/* ---- clock.c ---- */

uint64_t sp_clock_ticks(void);
void sp_clock_open(void); /* when the library is loaded */
void sp_clock_pair(uint64_t *ticks, int64_t *realtime_ns);
uint64_t sp_clock_id(void);
double sp_clock_rate(void); /* ticks per ns, since sp_clock_open */

static inline uint64_t sp_ticks(void)
{
	if (sp_likely(sp_use_tsc))
		return sp_arch_ticks();
	return sp_clock_ticks();
}

/* ---- The path every call takes ---- */

/* Whether this call is recorded. `handles`: it makes, frees or completes
   handles, and so counts even when muted. */
static inline __attribute__((always_inline)) int sp_open(struct sp_thread *t, int handles, const void *site)
{
	if (sp_likely((__atomic_load_n(&sp_mode, __ATOMIC_RELAXED) | t->depth | t->writing) == 0))
		return 1;
	return sp_open_slow(t, handles, site, SP_CFA);
}

/* The same of a call by its PMPI_ name. Mostly it is one that the MPI makes, or a layer, right
   below a wrapper: nearby, and the frame of the call that is under way is as it was. */
static inline __attribute__((always_inline)) int sp_open_pmpi(struct sp_thread *t, int handles, const void *site)
{
	const struct sp_open_call *o = &t->open[t->depth];
	if (SP_BACK_ON_STACK && sp_likely(__atomic_load_n(&sp_mode, __ATOMIC_RELAXED) == SP_ON && t->depth && o->cfa - SP_CFA < 4096)
	    && ((const uint64_t *)(uintptr_t)o->cfa)[-1] == o->back)
		return 0;
	return sp_open_pmpi_slow(t, handles, site, SP_CFA);
}

/* What the MPI calls from now on is inside of this call. */
static inline __attribute__((always_inline)) void sp_push(struct sp_thread *t)
{
	struct sp_open_call *o = &t->open[t->depth + 1];
	o->cfa = SP_CFA;
	o->back = ((const uint64_t *)__builtin_dwarf_cfa())[-1];
	sp_mark(&t->depth, t->depth + 1);
}

/* The call is through. It counts until its LEAVE is begun. */
static inline __attribute__((always_inline)) void sp_back(struct sp_thread *t)
{
	if (sp_unlikely(t->open[t->depth].cfa != SP_CFA))
		sp_astray(t, SP_CFA);
}

/* The same, without a LEAVE. */
static inline __attribute__((always_inline)) void sp_pop(struct sp_thread *t)
{
	sp_back(t);
	sp_mark(&t->depth, t->depth - 1);
}

/* The same, after an ENTER record: a signal handler's calls are recorded again. */
static inline __attribute__((always_inline)) void sp_entered(struct sp_thread *t)
{
	sp_push(t);
	sp_mark(&t->writing, t->shut);
}

/* Start a record: the place of its word 0, with SP_SLACK words of room. */
static inline __attribute__((always_inline)) uint64_t *sp_begin(struct sp_thread *t)
{
	sp_mark(&t->writing, SP_CFA);
	if (sp_likely(t->cur < t->lim))
		return t->cur;
	return sp_begin_slow(t, 0);
}

/* Make room for `words` and SP_SLACK more at w; the record may move. NULL if
   there is none: write nothing and go on at sp_room_none(). */
static inline uint64_t *sp_room(struct sp_thread *t, uint64_t *w, size_t words)
{
	if (sp_likely(w <= t->end && (size_t)(t->end - w) >= words + SP_SLACK))
		return w;
	return sp_room_slow(t, w, words);
}

/* Complete the record that ends at w. */
static inline void sp_commit(struct sp_thread *t, uint64_t *w, unsigned call, unsigned kind, unsigned flags)
{
	uint64_t words = (uint64_t)(w - t->cur);
	uint64_t word0 = SP_WORD0(words, call, kind, flags);
	if (sp_unlikely(t->waiting)) {
		sp_commit_pending(t, w, word0);
		return;
	}
	*t->cur = word0;
	t->cur = w;
	t->head += words * 8;
	__atomic_store_n(&t->ring->head, t->head, __ATOMIC_RELEASE);
	if (kind != SP_ENTER) /* sp_entered */
		sp_mark(&t->writing, t->shut);
}

/* stack.c: what stands in an ENTER record for a call from `site`: the number of a stack that a STACK record told of, or site itself
   where there is no more than that. Before the record is begun. */
extern const void *(*sp_stack_site)(struct sp_thread *t, const void *site) __attribute__((visibility("hidden")));

/* delay.c: from how many ticks on a stay in a call, or outside, is long enough to ask whether the thread had a processor. */
extern uint64_t sp_long;
void sp_delay_start(void);
/* It was that long: `ticks` is when it ended. */
void sp_delayed(struct sp_thread *t, uint64_t ticks, int in_call);
/* Write what there is to tell as a record; returns its words. Then there is nothing to tell any more. */
#define SP_DELAY_WORDS 4
uint64_t sp_delay_record(struct sp_thread *t, uint64_t w[SP_DELAY_WORDS]);

static inline __attribute__((always_inline)) void sp_sees(struct sp_thread *t, uint64_t ticks, int in_call)
{
	if (sp_unlikely(ticks - t->seen > __atomic_load_n(&sp_long, __ATOMIC_RELAXED)))
		sp_delayed(t, ticks, in_call);
	t->seen = ticks;
}

/* hooks.c: where sp_extra says more than that, before an ENTER record is begun, and before a
   LEAVE record is, whose time was taken. The first returns the call's site. */
const void *sp_before(struct sp_thread *t, const void *site, unsigned call, const int64_t *params);
void sp_after(struct sp_thread *t, unsigned call, int64_t result, uint64_t now, const int64_t *params);
void sp_hooks_left(struct sp_thread *t);

static inline __attribute__((always_inline)) uint64_t *sp_begin_enter(struct sp_thread *t, const void *site)
{
	uint64_t *w = sp_begin(t);
	w[2] = (uint64_t)(uintptr_t)site;
	return w + 3;
}

/* The clock is read last, so that recording isn't counted as time in MPI. */
static inline void sp_commit_enter(struct sp_thread *t, uint64_t *w, unsigned call, unsigned flags)
{
	flags |= __atomic_load_n(&sp_mode, __ATOMIC_RELAXED) == SP_MUTED ? SP_MUTED_FLAG : 0;
	uint64_t now = sp_ticks();
	t->cur[1] = now;
	sp_sees(t, now, 0);
	sp_commit(t, w, call, SP_ENTER, flags);
}

static inline __attribute__((always_inline)) uint64_t *sp_begin_leave(struct sp_thread *t, uint64_t now)
{
	sp_mark(&t->writing, SP_CFA);
	sp_mark(&t->depth, t->depth - 1);
	sp_sees(t, now, 1);
	uint64_t *w = sp_likely(t->cur < t->lim) ? t->cur : sp_begin_slow(t, 1);
	w[1] = now;
	return w + 2;
}

#pragma GCC visibility pop

#endif
