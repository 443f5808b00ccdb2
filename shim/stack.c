/*
 * stack.c: call sites with the frames around them.
 *
 * At each call the stack is followed with rules (unwind.h), from this library's own frames outwards, and the return addresses are
 * looked up among the stacks that the thread had before. A new one gets a number and a STACK record; the number replaces the call
 * site in the ENTER record.
 *
 * A stack follows from the registers at its beginning and the words read on the way. They are kept: if all of them are the same at
 * the next call, so is the stack, and it need not be followed. Frame pointers only count where a frame is found by one: elsewhere
 * the register may hold anything, such as the counter of a loop.
 *
 * With SPOOR_LOOP_COUNTERS the counters of the loops around the frames are read, too (turn.h). For a stack that was followed each
 * is at a fixed distance from where it began: in the frame, or in a register, which a frame further in has saved; all of them
 * are in the frame of the function that begins. So nothing is read that is not within the frames just followed.
 *
 * Of a function that calls itself from one place at most eight frames in a row are kept. So the stack's end is found however deep
 * it is, and calls at greater depths have one site. Where counters are read all frames are kept.
 * Rules and stacks belong to a ring: a thread that takes over a ring goes on with the numbers of the one before it.
 */
#define _GNU_SOURCE
#include "stack.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cfi.h"
#include "frame.h"
#include "python.h"
#include "ring.h"
#include "runtime.h"
#include "turn.h"
#include "unwind.h"

#define MAX_DEEP 512      /* frames of a thread that begins to call MPI */
#define MAX_FOLDED 4096   /* frames of a stack that are left out */

#define WALKS 256 /* a power of two */
#define WAYS 2    /* to keep calls from one place apart that come through different callers */

/* Where the counters are of the loops that lead to a walk's stack. */
struct counted {
	int found;
	const struct sp_path *path;  /* NULL: there are none */
	int readable;
	int32_t at[SP_TURN_LOOPS]; /* offsets from sp in bytes */
};

struct sp_stacks {
	unsigned generation; /* of walks and rules */
	unsigned turn;       /* which one of its set the next walk takes the place of */
	struct walk walks[WALKS / WAYS][WAYS];
	struct sp_rule rules[RULES];
	uint64_t stack_hi;   /* of the thread they were made in */
	uint32_t n, nslots;
	uint32_t *slots;  /* open addressing: a stack's number */
	uint64_t *stacks; /* each one its length and up to `depth` addresses */
	/* NULL without loops' counters: */
	struct sp_turns *turns;
	struct counted *counted; /* by walk */
	struct sp_saved *saved;
};

static int depth = 1;
static int counting; /* loops' counters are read */
/* Where main returns to, and constructors that the C library calls before it: nothing of the program is behind that. */
#define ENDS 4
static uint64_t ends[ENDS];
static unsigned n_ends;
static unsigned generation;
static int threads; /* tables are at hand to follow the stacks of threads with */
static struct sp_stacks *tables[SP_MAX_THREADS];

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void find_end(void);
static const void *site_with_turn(struct sp_thread *t, const void *site);

int sp_stack_wanted(void)
{
	const char *wanted = getenv("SPOOR_STACK");
	return wanted && strtol(wanted, NULL, 10) > 1;
}

void sp_stack_start(void)
{
	static int started, unwinder;
	if (!sp_stack_wanted())
		return;
	if (!started) {
		long n = strtol(getenv("SPOOR_STACK"), NULL, 10);
		/* The interpreter's own frames will be left out. */
		depth = n < SP_MAX_FRAMES && !sp_python_start() ? (int)n : SP_MAX_FRAMES;
		sp_self.in[SP_BUSY]++;
		unwinder = sp_unwind_open();
		find_end();
		sp_frame_start();
		sp_self.in[SP_BUSY]--;
		if (unwinder && sp_turn_wanted()) {
			counting = 1;
			sp_stack_site = site_with_turn;
		}
		started = 1;
		__atomic_fetch_or(&sp_extra, SP_STACKS, __ATOMIC_RELEASE);
	}
	/* Before MPI_Init is through nobody knows which rank this is. */
	if (!unwinder && sp_run.rank == 0 && sp_run.ranks > 0)
		sp_warn_once("no libgcc_s.so.1: stacks are followed by frame pointers alone");
}

void sp_stack_threads(void)
{
	static int done;
	if (done || __atomic_load_n(&threads, __ATOMIC_RELAXED))
		return;
	done = 1;
	sp_self.in[SP_BUSY]++;
	if (sp_unwind_open())
		__atomic_store_n(&threads, 1, __ATOMIC_RELEASE);
	sp_self.in[SP_BUSY]--;
}

void sp_stack_refresh(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

static struct sp_stacks *table_of(int thread)
{
	struct sp_stacks *b = tables[thread];
	if (b)
		return b;
	b = reserve(sizeof *b);
	if (!b)
		return NULL;
	b->nslots = 256;
	b->slots = reserve(b->nslots * sizeof *b->slots);
	b->stacks = reserve((size_t)SP_MAX_STACKS * (size_t)(depth + 1) * 8);
	if (!b->slots || !b->stacks)
		return NULL;
	return tables[thread] = b;
}

/* ---- numbering ---- */

static uint64_t hash(const uint64_t *pcs, uint64_t n)
{
	uint64_t h = n;
	for (uint64_t i = 0; i < n; i++) {
		h = (h ^ pcs[i]) * 0x9fb21c651e98df25ull;
		h ^= h >> 29;
	}
	return h;
}

static uint64_t *stack_at(const struct sp_stacks *b, uint32_t number)
{
	return b->stacks + (size_t)(number - 1) * (size_t)(depth + 1);
}

int sp_stack_frames(const struct sp_thread *t, uint64_t key, uint64_t *pcs)
{
	const uint64_t *have;
	pcs[0] = key;
	if (!(key >> 63))
		return 1;
	have = stack_at(tables[t->number], (uint32_t)key);
	memcpy(pcs, have + 1, *have * sizeof *pcs);
	return (int)*have;
}

static int grow(struct sp_stacks *b)
{
	uint32_t n = b->nslots * 2;
	uint32_t *slots = reserve(n * sizeof *slots);
	if (!slots)
		return 0;
	for (uint32_t s = 1; s <= b->n; s++) {
		const uint64_t *have = stack_at(b, s);
		uint32_t i = (uint32_t)hash(have + 1, *have) & (n - 1);
		while (slots[i])
			i = (i + 1) & (n - 1);
		slots[i] = s;
	}
	munmap(b->slots, b->nslots * sizeof *slots);
	b->slots = slots;
	b->nslots = n;
	return 1;
}

/* The number of a stack, with a record of it if it is new; 0: there are too many. */
static uint32_t number_of(struct sp_thread *t, struct sp_stacks *b, const uint64_t *pcs, uint64_t n)
{
	uint32_t i = (uint32_t)hash(pcs, n) & (b->nslots - 1);
	for (; b->slots[i]; i = (i + 1) & (b->nslots - 1)) {
		const uint64_t *have = stack_at(b, b->slots[i]);
		if (*have == n && memcmp(have + 1, pcs, n * 8) == 0)
			return b->slots[i];
	}
	if (b->n == SP_MAX_STACKS || (b->n * 2 >= b->nslots && !grow(b)))
		return 0;
	for (i = (uint32_t)hash(pcs, n) & (b->nslots - 1); b->slots[i]; i = (i + 1) & (b->nslots - 1))
		;
	uint64_t *w = sp_begin(t);
	w[1] = sp_ticks();
	w[2] = SP_STACK_KEY(t->number, b->n + 1);
	memcpy(w + 3, pcs, n * 8);
	sp_commit(t, w + 3 + n, 0, SP_STACK, 0);
	b->slots[i] = ++b->n;
	uint64_t *own = stack_at(b, b->n);
	*own = n;
	memcpy(own + 1, pcs, n * 8);
	return b->n;
}

/* ---- beginning ---- */

/* The frame that called the function this stands in. */
#define CALLER \
	{ \
		.pc = (uint64_t)(uintptr_t)__builtin_return_address(0), .sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(), \
		.fp = *(const uint64_t *)__builtin_frame_address(0), \
	}

/* Set what may be read; 0 on a stack that is not the one that the thread was
   made with. */
static int begin(const struct sp_thread *t, struct frame *f, struct walk *w)
{
	const struct sp_ring *r = t->ring;
	f->lo = f->from = f->sp;
	f->hi = r->stack_hi;
	f->walk = w;
	f->fp_at = FP_REGISTER;
	w->n = w->fp_counts = 0;
	return f->sp >= r->stack_lo && f->sp < f->hi;
}

static int is_end(uint64_t pc)
{
	unsigned n = __atomic_load_n(&n_ends, __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < n; i++)
		if (ends[i] == pc)
			return 1;
	return 0;
}

/* The C library calls main from __libc_start_main, or from something it calls. If a frame is there, keep where the program's part
   of the stack ends: there, or at the frame before if that is the library's too. Only the first thread has such frames. */
static int keep_end(uint64_t before, uint64_t pc)
{
	static uint64_t start;
	Dl_info inner, outer;
	if (!start)
		start = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "__libc_start_main");
	if (!start || sp_unwind_function(pc) != start)
		return 0;
	int own = before && dladdr((void *)(uintptr_t)before, &inner) && dladdr((void *)(uintptr_t)pc, &outer)
		&& inner.dli_fbase == outer.dli_fbase;
	uint64_t end = own ? before : pc;
	if (!is_end(end) && n_ends < ENDS) {
		ends[n_ends] = end;
		__atomic_store_n(&n_ends, n_ends + 1, __ATOMIC_RELEASE);
	}
	return 1;
}

static __attribute__((noinline)) void find_end(void)
{
	struct frame f = CALLER;
	struct sp_stacks *b = table_of(sp_self.number);
	uint64_t before = 0;
	if (!b || !begin(&sp_self, &f, &b->walks[0][0]))
		return;
	while (!keep_end(before, f.pc)) {
		before = f.pc;
		if (!sp_frame_step(b->rules, &f))
			break;
	}
	b->walks[0][0] = (struct walk){0};
}

/* How many of the frames of a stack are the program's, if that isn't known yet: the first call may come from a constructor that the
   loader calls, so that others end elsewhere. */
static int cut_end(const struct sp_thread *t, const uint64_t *pcs, int n)
{
	if (n_ends == ENDS || t->ring->tid != (uint64_t)getpid())
		return n;
	for (int i = 1; i < n; i++)
		if (keep_end(pcs[i - 1], pcs[i]))
			return is_end(pcs[i]) ? i : i - 1;
	return n;
}

static const void *follow(struct sp_thread *t, struct sp_stacks *b, struct frame *f, const void *site)
{
	uint64_t pcs[SP_MAX_FRAMES];
	int n = 0, more, same = 0, left_out = 0;
	for (int i = 0; f->pc != (uint64_t)(uintptr_t)site; i++)
		if (i == OWN_FRAMES || !sp_frame_step(b->rules, f))
			return site;
	do {
		n -= f->crossed;
		same = n > 0 && pcs[n - 1] == f->pc ? same + 1 : 0;
		if (counting || same < SP_MAX_AGAIN || ++left_out > MAX_FOLDED)
			pcs[n++] = f->pc;
	} while ((more = n < depth && sp_frame_step(b->rules, f)) && !is_end(f->pc));
	if (!more)
		n = cut_end(t, pcs, n);
	if (n == 1 && !counting)
		return site;
	uint32_t number = number_of(t, b, pcs, (uint64_t)n);
	return number ? (const void *)(uintptr_t)SP_STACK_KEY(t->number, number) : site;
}

/* Words are compared four at a time, written out as compilers leave a loop here: half as many instructions as one by one. */
static inline int same(const struct walk *w, uint64_t pc, uint64_t sp, uint64_t fp)
{
	if (w->pc != pc || w->sp != sp || ((w->fp ^ fp) & w->fp_counts))
		return 0;
	const uint64_t *stack = (const uint64_t *)(uintptr_t)sp;
	const struct word *p = w->words, *end = p + w->n;
	for (; p < end; p += TOGETHER)
		if ((stack[p[0].at] ^ p[0].value) | (stack[p[1].at] ^ p[1].value) | (stack[p[2].at] ^ p[2].value) | (stack[p[3].at] ^ p[3].value))
			return 0;
	return 1;
}

/* Makes zeros of a part of what was reserved. Whole pages are given back: most were never touched. */
static void clear(void *part, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)part, to = from + bytes;
	uintptr_t first = (from + page - 1) / page * page, last = to / page * page;
	if (first >= last || madvise((void *)first, last - first, MADV_DONTNEED) != 0) {
		memset(part, 0, bytes);
		return;
	}
	memset(part, 0, first - from);
	memset((void *)last, 0, to - last);
}

/* What is kept of code that is elsewhere now, or of another thread's stack, is no use. */
static __attribute__((noinline, cold)) void forget(struct sp_stacks *b, const struct sp_thread *t)
{
	b->generation = __atomic_load_n(&generation, __ATOMIC_RELAXED);
	if (b->turns && b->stack_hi != t->ring->stack_hi)
		sp_turn_break(b->turns);
	if (b->stack_hi) { /* else it is new */
		if (b->saved)
			clear(b->saved, RULES * sizeof *b->saved);
		clear(b->rules, sizeof b->rules);
		clear(b->walks, sizeof b->walks);
	}
	b->stack_hi = t->ring->stack_hi;
}

static __attribute__((noinline)) const void *walk(struct sp_thread *t, struct sp_stacks *b, struct walk *w, struct frame f, const void *site)
{
	struct frame at = f;
	w->pc = 0; /* until it is whole */
	if (!begin(t, &f, w))
		return site;
	const void *answer = follow(t, b, &f, site);
	if (w->n <= WORDS) {
		for (; w->n % TOGETHER; w->n++)
			w->words[w->n] = w->words[w->n - 1];
		w->sp = at.sp;
		w->fp = at.fp;
		w->answer = answer;
		w->pc = at.pc;
	}
	return answer;
}

/* The table of a thread, fit to be used; NULL if stacks can't be followed. */
static inline struct sp_stacks *ready(struct sp_thread *t)
{
	if (sp_unlikely(!sp_has_ring(t)))
		sp_prepare(t);
	struct sp_stacks *b = t->ring && t->ring->stack_hi ? tables[t->number] : NULL;
	if (sp_unlikely(!b) && (!t->ring || !t->ring->stack_hi || !(b = table_of(t->number))))
		return NULL;
	if (sp_unlikely(b->generation != __atomic_load_n(&generation, __ATOMIC_RELAXED) || b->stack_hi != t->ring->stack_hi))
		forget(b, t);
	t->stacks = sp_has_ring(t) ? b : NULL;
	return b;
}

/* The walks among which one from a site is. Where it begins is the same for all calls: their site is the first to tell them apart. */
static inline struct walk *set_of(struct sp_stacks *b, const struct frame *f, const void *site)
{
	uint64_t h = ((uint64_t)(uintptr_t)site ^ f->sp << 20) * 0x9fb21c651e98df25ull;
	return b->walks[(h >> 32) % (WALKS / WAYS)];
}

static __attribute__((noinline)) const void *walked(struct sp_thread *t, const void *site, uint64_t pc, uint64_t sp, uint64_t fp)
{
	struct frame f = {.pc = pc, .sp = sp, .fp = fp};
	uint64_t was = sp_shut(t);
	struct sp_stacks *b = ready(t);
	const void *answer = b ? walk(t, b, &set_of(b, &f, site)[b->turn++ % WAYS], f, site) : site;
	sp_reopen(t, was);
	return answer;
}

/* noinline: the frame to begin at is this function's caller's. Nearly all calls find their stack as it was, so nothing is done here
   that only others need. */
static __attribute__((noinline)) const void *stack_site(struct sp_thread *t, const void *site)
{
	struct frame f = CALLER;
	struct sp_stacks *b = t->stacks;
	if (sp_likely(b && b->generation == __atomic_load_n(&generation, __ATOMIC_RELAXED))) {
		uint64_t was = t->writing;
		sp_mark(&t->writing, SP_CFA); /* a signal handler's calls would have other walks here */
		const struct walk *set = set_of(b, &f, site);
		for (int i = 0; i < WAYS; i++)
			if (sp_likely(same(&set[i], f.pc, f.sp, f.fp))) {
				const void *answer = set[i].answer;
				sp_mark(&t->writing, was);
				return answer;
			}
		sp_mark(&t->writing, was);
	}
	return walked(t, site, f.pc, f.sp, f.fp);
}

const void *(*sp_stack_site)(struct sp_thread *t, const void *site) = stack_site;

/* ---- counters of loops ---- */

static const struct sp_saved *saved_of(struct sp_stacks *b, uint64_t pc)
{
	struct sp_saved *s = &b->saved[(pc ^ pc >> 10) % RULES];
	if (s->pc != pc)
		sp_unwind_saved(pc, s);
	return s;
}

struct trail {
	uint64_t pc, fp, cfa; /* cfa 0: not known */
};

/* Where a register's value is that frame i had: what it calls has put it somewhere, or what that calls. The first of the frames is
   that of the function that begins, which has all registers. 0: not known. */
static uint64_t register_at(struct sp_stacks *b, const struct trail *frames, int i, uint64_t reg)
{
	int kept = sp_cfi_kept(reg);
	while (kept >= 0 && --i >= 0) {
		const struct sp_saved *s = saved_of(b, frames[i].pc);
		if (!s->known)
			return 0;
		if (s->from[kept] == SP_FP_AT_CFA)
			return frames[i].cfa ? frames[i].cfa + (uint64_t)(int64_t)s->at[kept] : 0;
		if (s->from[kept] == SP_FP_AT_FP)
			return frames[i].fp + (uint64_t)(int64_t)s->at[kept];
		if (s->from[kept] != SP_FP_SAME)
			return 0;
	}
	return 0;
}

#define OWN_BYTES 4096 /* of the function that begins, at most */

/* Find the counters of a stack's loops; 0 if one can't be read. */
static __attribute__((noinline)) int locate(struct sp_thread *t, struct sp_stacks *b, struct counted *c, struct frame f, const void *site, uint64_t within)
{
	struct trail frames[1 + OWN_FRAMES + SP_MAX_FRAMES];
	struct walk unused;
	uint64_t sp = f.sp, hi = t->ring->stack_hi;
	int n = 1, site_at = 0;
	if (!begin(t, &f, &unused))
		return 0;
	frames[0] = (struct trail){within, 0, sp};
	while (n < (int)(sizeof frames / sizeof *frames)) {
		if (!site_at && f.pc == (uint64_t)(uintptr_t)site)
			site_at = n;
		frames[n] = (struct trail){f.pc, f.fp, 0};
		if (!sp_frame_step(b->rules, &f)) {
			n++;
			break;
		}
		frames[n++].cfa = f.sp;
		if (is_end(f.pc))
			break;
	}
	for (uint32_t l = 0; l < c->path->loops; l++) {
		const struct spoor_place *p = &c->path->place[c->path->loop[l]];
		int i = site_at + p->frame;
		c->at[l] = 0; /* what has no counter is not looked at */
		if (!p->step)
			continue;
		if (!site_at || i >= n)
			return 0;
		uint64_t at = p->in_register ? register_at(b, frames, i, p->reg) : frames[i].cfa ? frames[i].cfa + (uint64_t)(int64_t)p->offset : 0;
		if (at < sp - OWN_BYTES || at > hi - 4 || (at < sp && !p->in_register) || at - sp + OWN_BYTES > INT32_MAX)
			return 0;
		c->at[l] = (int32_t)(int64_t)(at - sp);
	}
	return 1;
}

static __attribute__((noinline)) uint64_t here(void)
{
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static __attribute__((noinline, cold)) int make_turns(struct sp_stacks *b)
{
	b->counted = reserve(WALKS * sizeof *b->counted);
	b->saved = reserve(RULES * sizeof *b->saved);
	b->turns = b->counted && b->saved ? sp_turn_make() : NULL;
	return b->turns != NULL;
}

/* Find what there is to read at a stack that was just followed. */
static __attribute__((noinline)) void look(struct sp_thread *t, struct sp_stacks *b, struct counted *c, uint32_t number, struct frame f, const void *site, uint64_t within)
{
	uint32_t before = sp_turn_awaited(b->turns);
	uint64_t *stack;
	if (before) { /* of the call before, there was no engine to ask */
		stack = stack_at(b, before);
		sp_turn_path(t, b->turns, before, stack + 1, *stack, *stack < (uint64_t)depth);
	}
	stack = stack_at(b, number);
	c->path = sp_turn_path(t, b->turns, number, stack + 1, *stack, *stack < (uint64_t)depth);
	c->readable = c->path && locate(t, b, c, f, site, within);
	c->found = sp_turn_asked(b->turns, number);
}

/* The same as stack_site, with which loop went round. */
static __attribute__((noinline)) const void *site_with_turn(struct sp_thread *t, const void *site)
{
	__builtin_unwind_init(); /* all registers that calls keep are in this frame now */
	struct frame f = CALLER;
	uint64_t was = sp_shut(t);
	struct sp_stacks *b = ready(t);
	if (sp_unlikely(!b) || (sp_unlikely(!b->turns) && !make_turns(b))) {
		sp_reopen(t, was);
		return site;
	}
	struct walk *set = set_of(b, &f, site), *w = NULL;
	for (int i = 0; i < WAYS && !w; i++)
		if (sp_likely(same(&set[i], f.pc, f.sp, f.fp)))
			w = &set[i];
	const void *answer;
	if (sp_likely(w != NULL)) {
		answer = w->answer;
	} else {
		w = &set[b->turn++ % WAYS];
		answer = walk(t, b, w, f, site);
		b->counted[w - &b->walks[0][0]].found = 0;
	}
	struct counted *c = &b->counted[w - &b->walks[0][0]];
	uint64_t key = (uint64_t)(uintptr_t)answer;
	int muted = __atomic_load_n(&sp_mode, __ATOMIC_RELAXED) == SP_MUTED;
	if (sp_unlikely(!w->pc || !(key >> 63) || muted)) {
		sp_turn_break(b->turns);
		sp_reopen(t, was);
		return key >> 63 && !muted ? (const void *)(uintptr_t)SP_TURN_KEY(key, SP_TURN_UNKNOWN) : answer;
	}
	if (sp_unlikely(!c->found))
		look(t, b, c, (uint32_t)key, f, site, here());
	int32_t values[SP_TURN_LOOPS];
	if (sp_likely(c->readable))
		for (uint32_t l = 0; l < c->path->loops; l++)
			memcpy(&values[l], (const char *)(uintptr_t)f.sp + c->at[l], sizeof *values);
	key = SP_TURN_KEY(key, sp_turn(b->turns, (uint32_t)key, c->path, c->readable ? values : NULL));
	sp_reopen(t, was);
	return (const void *)(uintptr_t)key;
}

/* Only by tables: what is guessed need not be where a thread begins. */
__attribute__((noinline)) int sp_stack_outermost(const struct sp_thread *t, uint64_t *pcs)
{
	struct frame f = CALLER;
	struct walk w;
	int n = 0, whole = 0;
	if (!__atomic_load_n(&threads, __ATOMIC_ACQUIRE) || !t->ring->stack_hi || !begin(t, &f, &w))
		return 0;
	struct sp_rule *rules = reserve(RULES * sizeof *rules);
	for (int i = 0; rules && i < MAX_DEEP && !whole; i++) {
		if (n == SP_OUTERMOST)
			memmove(pcs, pcs + 1, --n * sizeof *pcs);
		pcs[n++] = f.pc;
		const struct sp_rule *r = sp_frame_rule(rules, f.pc);
		if (r->guess)
			break;
		whole = r->cfa_from == SP_CFA_NONE;
		if (!whole && !sp_frame_step(rules, &f))
			break;
	}
	if (rules)
		munmap(rules, RULES * sizeof *rules);
	return whole ? n : 0;
}
