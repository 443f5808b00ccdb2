/*
 * runtime.c: the slow paths of recording: threads that come new, rings that
 * need attention, calls from unusual places.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bind.h"
#include "bounds.h"
#include "calls.h"
#include "flavour.h"
#include "hooks.h"
#include "host.h"
#include "layers.h"
#include "leader.h"
#include "resolve.h"
#include "ring.h"
#include "segments.h"
#include "python.h"
#include "stack.h"

#define EARLY_WORDS 4096
#define EARLY_FILE_WORDS (2ull << 20) /* with files: some 150,000 calls; pages that aren't touched cost nothing */
#define MAX_RING (1ull << 36)

__thread struct sp_thread sp_self;
int sp_mode = SP_UNRESOLVED;
int sp_initialising;
int sp_extra __attribute__((section(".data"))) = 0; /* read at each call, so beside sp_mode */

/* Records of the one thread that calls MPI before MPI_Init. */
static uint64_t few[EARLY_WORDS];
static struct {
	struct sp_ring ring;
	uint64_t *words;
	size_t room;
	struct sp_thread *owner;
} early = {.words = few, .room = EARLY_WORDS};

/* Where a thread writes when it can't record; never read. */
static struct {
	struct sp_ring ring;
	uint64_t words[2 * SP_SLACK];
} nowhere;

static pthread_mutex_t attach_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- threads ---- */

static uint64_t *begin_nowhere(struct sp_thread *t)
{
	t->ring = &nowhere.ring;
	t->stacks = NULL;
	t->cur = nowhere.words;
	t->end = nowhere.words + sizeof nowhere.words / 8;
	t->lim = t->due = NULL;
	t->head = 0;
	t->npending = 0;
	return t->cur;
}

int sp_has_ring(const struct sp_thread *t)
{
	return t->ring && t->ring != &early.ring && t->ring != &nowhere.ring;
}

int sp_writable(const struct sp_thread *t)
{
	return t->ring && t->ring != &nowhere.ring;
}

static size_t stack_words;

static void describe_thread(struct sp_ring *r)
{
	pthread_attr_t attr;
	uintptr_t first, end;
	if (sp_first_stack(&first, &end) || sp_made_stack(stack_words, &first, &end)) {
		r->stack_lo = first;
		r->stack_hi = end;
	} else if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		void *lo;
		size_t size;
		if (pthread_attr_getstack(&attr, &lo, &size) == 0) {
			r->stack_lo = (uint64_t)(uintptr_t)lo;
			r->stack_hi = r->stack_lo + size;
		}
		pthread_attr_destroy(&attr);
	}
	r->stack_ref = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	r->tid = (uint64_t)syscall(SYS_gettid);
	r->start_ticks = sp_ticks();
}

/* A thread that ends leaves its ring to the next that comes: programs may start
   a thread per task, and a stream of calls per thread would be no structure. */
static struct {
	pthread_key_t key; /* its destructor is how we learn of the end */
	int number[SP_MAX_THREADS];
	int n;
} vacant;

static void thread_ends(void *arg)
{
	struct sp_thread *t = arg;
	sp_leave_all(t);
	sp_hooks_thread_ends(t);
	pthread_mutex_lock(&attach_lock);
	vacant.number[vacant.n++] = t->number;
	pthread_mutex_unlock(&attach_lock);
	/* a later destructor may still call MPI, and then finds a ring anew */
	t->ring = NULL;
	t->stacks = NULL;
	t->cur = t->lim = t->due = t->end = NULL;
	t->attached = 0;
	t->npending = 0;
	if (t->tables)
		munmap(t->tables, sizeof *t->tables);
	t->tables = NULL;
}

/* A new ring, or a vacant one; NULL if there is neither. */
static struct sp_ring *take_ring(int *used)
{
	struct sp_ring *r = NULL;
	pthread_mutex_lock(&attach_lock);
	*used = vacant.n > 0;
	if (*used) {
		r = sp_rings[vacant.number[--vacant.n]];
	} else if (sp_nrings == SP_MAX_THREADS) {
		sp_warn_once("more than %d threads call MPI at a time: some are not recorded", SP_MAX_THREADS);
	} else if ((r = sp_ring_make(sp_nrings, sp_rings[0]->capacity))) {
		describe_thread(r);
		sp_rings[sp_nrings] = r;
		__atomic_store_n(&sp_nrings, sp_nrings + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&attach_lock);
	return r;
}

int sp_may_work(const struct sp_thread *t)
{
	stack_t stack;
	return !t->in[SP_ALLOCATING] && (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_ONSTACK));
}

static void take_up(struct sp_thread *t, struct sp_ring *r)
{
	t->ring = r;
	t->stacks = NULL;
	t->number = (int)r->thread;
	t->head = r->head;
	t->attached = 1;
	sp_ring_limits(t);
}

static void tell_thread(struct sp_thread *t);

static int attach(struct sp_thread *t)
{
	int used;
	if (t->attached) { /* it had no room for a record */
		take_up(t, sp_rings[t->number]);
		return 1;
	}
	if (!sp_may_work(t))
		return 0;
	int saved = errno; /* which a handler that calls MPI must leave as it was */
	t->in[SP_BUSY]++;
	struct sp_ring *r = take_ring(&used);
	if (r) {
		take_up(t, r);
		/* the stack in the header is that of the records in the ring */
		if (used && sp_host_drain())
			describe_thread(r);
		tell_thread(t);
		pthread_setspecific(vacant.key, t);
	}
	t->in[SP_BUSY]--;
	errno = saved;
	return r != NULL;
}

int sp_attach_first(struct sp_thread *t, uint64_t capacity)
{
	struct sp_ring *r = sp_rings[0] ? sp_rings[0] : sp_ring_make(0, capacity);
	if (!r)
		return 0;
	describe_thread(r);
	char *data = sp_ring_data(r);
	memcpy(data, early.words, early.ring.head);
	__atomic_store_n(&r->head, early.ring.head, __ATOMIC_RELEASE);
	sp_rings[0] = r;
	__atomic_store_n(&sp_nrings, 1, __ATOMIC_RELEASE);
	take_up(t, r);
	return 1;
}

/* ---- before MPI_Init ---- */

/* Stacks are followed from the first call on, which mostly is MPI_Init. */
static void early_stacks(struct sp_thread *t)
{
	static int done;
	if (done)
		return;
	done = 1;
	int python = sp_python_start();
	if (!sp_stack_wanted() && !python)
		return;
	sp_prepare(t);
	if (t->ring != &early.ring)
		return;
	t->in[SP_BUSY]++;
	describe_thread(t->ring);
	t->in[SP_BUSY]--;
	sp_stack_start();
}

void sp_early_claim(struct sp_thread *t)
{
	__atomic_store_n(&early.owner, t, __ATOMIC_RELAXED);
	early_stacks(t);
}

static int is_early(const struct sp_thread *t)
{
	return __atomic_load_n(&early.owner, __ATOMIC_RELAXED) == t;
}

static int is_initialised(void)
{
	int yes = 0, over = 0;
	return !__atomic_load_n(&sp_initialising, __ATOMIC_ACQUIRE) && P_MPI_Initialized && P_MPI_Initialized(&yes) == 0 && yes
		&& P_MPI_Finalized(&over) == 0 && !over;
}

int sp_early_open(struct sp_thread *t)
{
	if (is_initialised()) {
		sp_start_late();
		return __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_ON;
	}
	struct sp_thread *none = NULL;
	__atomic_compare_exchange_n(&early.owner, &none, t, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	/* What remains must also hold MPI_Init's own record. */
	if (is_early(t) && early.ring.head / 8 + 6 * SP_SLACK < early.room) {
		early_stacks(t);
		return 1;
	}
	sp_drop(2);
	return 0;
}

int sp_early_files(struct sp_thread *t)
{
	struct sp_thread *none = NULL;
	__atomic_compare_exchange_n(&early.owner, &none, t, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	if (!is_early(t))
		return 0;
	if (early.room == EARLY_WORDS) {
		void *p = mmap(NULL, EARLY_FILE_WORDS * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p == MAP_FAILED)
			return 0;
		memcpy(p, early.words, early.ring.head);
		early.words = p;
		early.room = EARLY_FILE_WORDS;
	}
	/* a path may be long, and MPI_Init's record has to follow */
	return early.ring.head / 8 + 24 * SP_SLACK < early.room;
}

uint64_t sp_early_bytes(void)
{
	return early.ring.head;
}

static uint64_t *early_begin(struct sp_thread *t)
{
	if (!is_early(t) || early.ring.head / 8 + 2 * SP_SLACK > early.room)
		return NULL;
	t->ring = &early.ring;
	t->stacks = NULL;
	t->head = early.ring.head;
	t->cur = early.words + t->head / 8;
	t->end = early.words + early.room;
	t->lim = t->due = NULL;
	return t->cur;
}

/* ---- records ---- */

/* Room for `words` at w in t's own ring; NULL if there is none to be had. */
static uint64_t *reserve(struct sp_thread *t, uint64_t *w, size_t words)
{
	size_t used = (size_t)(w - t->cur);
	uint64_t need = (used + words) * 8;
	if (need > t->ring->capacity / 4) {
		uint64_t capacity = t->ring->capacity;
		while (need > capacity / 4 && capacity < MAX_RING)
			capacity *= 2;
		if (!sp_may_work(t))
			return NULL;
		if (need > capacity / 4 || !sp_host_grow(t, w, capacity)) {
			sp_give_up("no memory for a record of %llu bytes, tracing stops", (unsigned long long)need);
			return NULL;
		}
		w = t->cur + used;
	}
	for (int tries = 0; tries < 3; tries++) {
		struct sp_ring *r = t->ring;
		if (sp_ring_limits(t) >= need)
			return w;
		uint64_t rest = r->capacity - t->head % r->capacity;
		uint64_t unkept = t->head - __atomic_load_n(&r->kept, __ATOMIC_ACQUIRE);
		if (r->capacity - unkept >= rest + need)
			return sp_ring_wrap(t, w);
		if (!sp_may_work(t))
			return NULL;
		__atomic_store_n(&r->wanted, rest < need ? rest + need : need, __ATOMIC_RELAXED);
		uint64_t begin = sp_ticks();
		int drained = sp_host_drain();
		if (!used) /* else the record that is open has its place on one side of this or the other */
			t->aside += sp_ticks() - begin;
		__atomic_store_n(&t->ring->wanted, 0, __ATOMIC_RELAXED);
		if (!drained)
			return NULL;
	}
	sp_give_up("the engine does not keep up, tracing stops");
	return NULL;
}

/* The n words at cur are a record, or several. */
static void advance(struct sp_thread *t, uint64_t n)
{
	t->cur += n;
	t->head += n * 8;
	__atomic_store_n(&t->ring->head, t->head, __ATOMIC_RELEASE);
}

static uint64_t depth_bit(const struct sp_thread *t)
{
	return t->depth < 64 ? 1ull << t->depth : 0;
}

/* The record to be written can't be. */
static uint64_t *lose(struct sp_thread *t)
{
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) != SP_OFF)
		sp_drop(1);
	t->lost |= depth_bit(t);
	return begin_nowhere(t);
}

/* Let the engine run before a record is begun. Signals wait for its end: this is
   when their handlers' calls come, and can be recorded. They are inside of a call
   whose LEAVE is not there yet. */
static int drain(struct sp_thread *t, int leave)
{
	uint64_t writing = t->writing, begin = sp_ticks();
	sp_mark(&t->depth, t->depth + (leave != 0));
	sp_mark(&t->writing, t->shut);
	int ok = sp_host_drain();
	sp_mark(&t->writing, writing);
	sp_mark(&t->depth, t->depth - (leave != 0));
	t->aside += sp_ticks() - begin;
	if (ok)
		take_up(t, sp_rings[t->number]);
	return ok;
}

/* There is room at cur. */
static void tell_left(struct sp_thread *t)
{
	t->cur[0] = SP_WORD0(3, 0, SP_LEFT, 0);
	t->cur[1] = sp_ticks();
	t->cur[2] = t->left - 1;
	advance(t, 3);
	sp_mark(&t->left, 0);
}

/* Whether the ring has room for n words at cur, without the engine's help. */
static int has_room(struct sp_thread *t, uint64_t n)
{
	if (t->end - t->cur >= (ptrdiff_t)n)
		return 1;
	struct sp_ring *r = t->ring;
	if (sp_ring_limits(t) >= n * 8)
		return 1;
	uint64_t rest = r->capacity - t->head % r->capacity;
	uint64_t unkept = t->head - __atomic_load_n(&r->kept, __ATOMIC_ACQUIRE);
	if (r->capacity - unkept < rest + n * 8)
		return 0;
	sp_ring_wrap(t, t->cur);
	return 1;
}

/* Say, before an ENTER, how long the thread had no processor, and how long the engine ran
   since the one before: that is no gap of the program's. */
static void tell_between(struct sp_thread *t)
{
	if (t->delayed && has_room(t, SP_DELAY_WORDS))
		advance(t, sp_delay_record(t, t->cur));
	if (!t->aside || !has_room(t, 3))
		return;
	t->cur[0] = SP_WORD0(3, 0, SP_VALUES, 0);
	t->cur[1] = sp_ticks();
	t->cur[2] = t->aside;
	t->aside = 0;
	advance(t, 3);
}

/* Where a thread comes from, if it can be found out: no thread is known by its number, which
   depends on who calls first. */
static void tell_thread(struct sp_thread *t)
{
	uint64_t pcs[SP_OUTERMOST];
	int n = sp_stack_outermost(t, pcs);
	if (!n || !has_room(t, 2 + (uint64_t)n))
		return;
	t->cur[0] = SP_WORD0(2 + n, 0, SP_THREAD, 0);
	t->cur[1] = sp_ticks();
	memcpy(t->cur + 2, pcs, (size_t)n * 8);
	advance(t, 2 + (uint64_t)n);
}

uint64_t *sp_begin_slow(struct sp_thread *t, int leave)
{
	int mode = __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE);
	if (mode == SP_OFF)
		return begin_nowhere(t);
	uint64_t bit = depth_bit(t), lost = t->lost & bit;
	t->lost &= ~bit;
	if (leave && lost) {
		uint64_t *w = lose(t);
		t->lost &= ~bit;
		return w;
	}
	if (mode == SP_EARLY || mode == SP_UNRESOLVED) {
		uint64_t *w = early_begin(t);
		if (w && t->left) {
			tell_left(t);
			w = early_begin(t);
		}
		return w ? w : lose(t);
	}
	if (!sp_has_ring(t) && !attach(t))
		return lose(t);
	if (!leave)
		tell_between(t);
	sp_ring_limits(t);
	if (t->cur >= t->due && t->cur < t->end && sp_may_work(t) && !drain(t, leave))
		return begin_nowhere(t);
	size_t room = leave ? SP_SLACK : 2 * SP_SLACK;
	for (;;) {
		if (!reserve(t, t->cur, room))
			return lose(t);
		if (t->left)
			tell_left(t);
		else if (!leave && (t->aside || t->delayed))
			tell_between(t);
		else
			return t->cur;
	}
}

void sp_prepare(struct sp_thread *t)
{
	int mode = __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE);
	sp_mark(&t->writing, SP_CFA);
	if (mode == SP_EARLY)
		early_begin(t);
	else if (mode <= SP_MUTED && !sp_has_ring(t))
		attach(t);
	sp_mark(&t->writing, t->shut);
}

uint64_t *sp_room_slow(struct sp_thread *t, uint64_t *w, size_t words)
{
	uint64_t *moved = NULL;
	if (sp_has_ring(t) && __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) <= SP_MUTED)
		moved = reserve(t, w, words + SP_SLACK);
	if (moved)
		return moved;
	/* The segments of the record are known by now, whether it is written or not. */
	if ((sp_has_ring(t) || t->ring == &early.ring) && t->npending) {
		memcpy(t->cur, t->tables->pending, t->npending * 8);
		advance(t, t->npending);
	}
	lose(t);
	return NULL;
}

uint64_t *sp_room_none(void)
{
	return nowhere.words + SP_SLACK;
}

void sp_commit_pending(struct sp_thread *t, uint64_t *w, uint64_t word0)
{
	uint32_t n = t->npending;
	uint64_t words = (uint64_t)(w - t->cur);
	memmove(t->cur + n, t->cur, words * 8);
	if (n)
		memcpy(t->cur, t->tables->pending, n * 8);
	t->cur[n] = word0;
	t->npending = 0;
	advance(t, words + n);
	if ((word0 >> 48 & 0xff) == SP_ENTER)
		return;
	sp_mark(&t->writing, t->shut);
	if (t->after && (word0 >> 48 & 0xff) == SP_LEAVE)
		sp_hooks_left(t);
}

void sp_tell_freed(uint64_t serial)
{
	struct sp_thread *t = &sp_self;
	int mode = __atomic_load_n(&sp_mode, __ATOMIC_RELAXED), written = 0;
	if (mode == SP_OFF)
		return;
	if (mode <= SP_MUTED && sp_has_ring(t) && !t->writing) {
		sp_mark(&t->writing, SP_CFA);
		uint32_t n = t->npending; /* its own SEGMENT may be among these */
		if (has_room(t, n + 3)) {
			uint64_t record[3] = {SP_WORD0(3, 0, SP_FREED, 0), sp_ticks(), serial};
			if (n)
				memcpy(t->cur, t->tables->pending, n * 8);
			memcpy(t->cur + n, record, sizeof record);
			t->npending = 0;
			advance(t, n + 3);
			written = 1;
		}
		sp_mark(&t->writing, t->shut);
	}
	if (!written)
		sp_freed_later(serial);
}

void sp_switch(int on)
{
	struct sp_thread *t = &sp_self;
	int mode = __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE);
	if (mode == SP_EARLY)
		sp_run.start_off = !on;
	if (mode > SP_MUTED || (mode == SP_ON) == (on != 0))
		return;
	uint64_t *w = sp_begin(t);
	w[1] = sp_ticks();
	w[2] = on != 0;
	sp_commit(t, w + 3, 0, SP_SWITCH, 0);
	/* Only from on to muted or back: another thread may just have given up. */
	__atomic_compare_exchange_n(&sp_mode, &mode, on ? SP_ON : SP_MUTED, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* ---- loading, forking ---- */

static void forked(void)
{
	int mode = __atomic_load_n(&sp_mode, __ATOMIC_SEQ_CST);
	sp_leader_forked();
	if (mode == SP_UNRESOLVED)
		return; /* a daemon may be about to begin with MPI */
	/* The rings are shared with the parent: writing would mix two processes. */
	__atomic_store_n(&sp_mode, SP_OFF, __ATOMIC_SEQ_CST);
	sp_scratch_forget();
	sp_segments_off();
}

/* Also called by the first call of MPI: libraries that are loaded before this one may
   make it in their constructors. */
__attribute__((constructor)) void sp_loaded(void)
{
	static int done;
	if (__atomic_exchange_n(&done, 1, __ATOMIC_SEQ_CST))
		return;
	stack_words = sp_stack_words();
	sp_clock_open();
	sp_alloc_open();
	sp_leader_open();
	pthread_key_create(&vacant.key, thread_ends);
	pthread_atfork(NULL, NULL, forked);
	sp_bind_start();
}
