/* Memory is read between the stack pointer and the end of the thread's stack only. Where a frame makes no sense, the stack ends
 * there. */
#include "frame.h"

#include <dlfcn.h>

#include "phase.h"

const struct sp_rule *sp_frame_rule(struct sp_rule *rules, uint64_t pc)
{
	struct sp_rule *r = &rules[(pc ^ pc >> 10) % RULES];
	if (sp_unlikely(r->pc != pc))
		sp_unwind_rule(pc, r);
	return r;
}

static inline void note(struct frame *f, uint64_t at, uint64_t v)
{
	struct walk *w = f->walk;
	if (w->n < WORDS) {
		w->words[w->n].at = (at - f->from) / 8;
		w->words[w->n].value = v;
	}
	w->n++;
}

/* Read a word of the stack. */
static inline int word(const struct frame *f, uint64_t at, uint64_t *v)
{
	if (at < f->lo || at > f->hi - 8 || at % 8)
		return 0;
	*v = *(const uint64_t *)(uintptr_t)at;
	return 1;
}

static int go; /* there is a runtime of Go */

void sp_frame_start(void)
{
	go = SP_GOROUTINES && dlsym(RTLD_DEFAULT, "crosscall2") != NULL;
}

/* The frame pointer, which counts from now on. */
static inline uint64_t frame_pointer(struct frame *f)
{
	if (f->fp_at == FP_REGISTER)
		f->walk->fp_counts = ~0ull;
	else if (f->fp_at != FP_NOTED)
		note(f, f->fp_at, f->fp);
	f->fp_at = FP_NOTED;
	return f->fp;
}

/* Go calls C on the thread's own stack, from runtime.asmcgocall. That keeps there how much of the goroutine's stack is in use, and the
   goroutine, which begins with the bounds of its stack; the frame pointer stays its own, or that of runtime.cgocall where it has none.
   That one's caller is the stub of the C function, and the stub's caller is the program's. The stack may move between calls; where it
   was is the runtime's still. */
static __attribute__((noinline)) int to_goroutine(struct frame *f)
{
	uint64_t used, goroutine, bounds[2], own, stub, first = f->fp;
	if (!word(f, f->sp, &used) || !word(f, f->sp + 8, &goroutine) || !goroutine || goroutine % 8
	    || sp_peek((const void *)(uintptr_t)goroutine, bounds, sizeof bounds) != sizeof bounds
	    || bounds[0] >= bounds[1] || used > bounds[1] - bounds[0])
		return 0;
	struct frame to = *f;
	to.lo = bounds[1] - used;
	to.hi = bounds[1];
	own = first;
	if (first == to.lo && !word(&to, first, &own))
		return 0;
	if (!word(&to, own, &stub) || stub <= own || !word(&to, stub + 8, &to.pc) || !word(&to, stub, &to.fp))
		return 0;
	frame_pointer(&to);
	note(&to, f->sp, used);
	note(&to, f->sp + 8, goroutine);
	note(&to, first, own == first ? stub : own);
	note(&to, own, stub);
	note(&to, stub + 8, to.pc);
	to.sp = stub + 16;
	to.fp_at = stub;
	to.crossed = 1;
	*f = to;
	return to.pc >= 4096 && !(to.pc >> SP_PC_BITS);
}

int sp_frame_step(struct sp_rule *rules, struct frame *f)
{
	const struct sp_rule *r = sp_frame_rule(rules, f->pc);
	uint64_t cfa = 0, at, pc;
	f->crossed = 0;
	if (sp_unlikely(go) && r->guess && f->fp - f->lo >= f->hi - f->lo && to_goroutine(f))
		return 1;
	switch (r->cfa_from) {
	case SP_CFA_SP:
		cfa = f->sp + (uint64_t)(int64_t)r->cfa;
		break;
	case SP_CFA_FP:
		cfa = frame_pointer(f) + (uint64_t)(int64_t)r->cfa;
		break;
	case SP_CFA_AT_FP:
		at = frame_pointer(f) + (uint64_t)(int64_t)r->cfa;
		if (!word(f, at, &cfa))
			return 0;
		note(f, at, cfa);
		break;
	default:
		return 0;
	}
	at = cfa + (uint64_t)(int64_t)r->ra;
	if (cfa <= f->sp || !word(f, at, &pc))
		return 0;
	note(f, at, pc);
	if (r->fp_from == SP_FP_AT_CFA || r->fp_from == SP_FP_AT_FP) {
		uint64_t base = r->fp_from == SP_FP_AT_CFA ? cfa : frame_pointer(f);
		at = base + (uint64_t)(int64_t)r->fp;
		if (!word(f, at, &f->fp))
			return 0;
		f->fp_at = at;
	} else if (r->fp_from == SP_FP_LOST) {
		f->fp = 0;
		f->fp_at = FP_NOTED;
	}
	pc = sp_arch_pc(pc);
	if (pc < 4096 || pc >> SP_PC_BITS)
		return 0;
	f->pc = pc;
	f->sp = cfa;
	return 1;
}
