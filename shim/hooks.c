/*
 * hooks.c: calling a plugin around calls, and keeping what is attached to them.
 *
 * Before ENTER the hooks run; a VALUES record without values then says how long
 * they took, for that is no gap of the program's. After the call they run before
 * LEAVE is written, whose time was taken already; when it is committed, a VALUES
 * record follows with what was attached before and after. So the two records of a
 * call stand side by side in the ring, as if there were no hooks.
 *
 * While hooks run, the thread's calls of MPI are not recorded (sp_open_slow).
 */
#define _GNU_SOURCE
#include "hooks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"
#include "bind.h"
#include "flavour.h"
#include "phase.h"
#include "plugin.h"
#include "python.h"
#include "runtime.h"
#include "stack.h"

#define MAX_DEPTH 16

/* Of a thread; made at its first call. */
struct sp_hooks {
	struct {
		int first; /* its values begin here */
		uint64_t spent;
		const void *site;
		uint64_t sequence;
	} call[MAX_DEPTH]; /* by depth */
	uint64_t sequence; /* of the thread's last call */
	uint64_t last;     /* when a function of the plugin returned */
	int n;
	int32_t name[SP_MAX_VALUES * 2];
	int64_t number[SP_MAX_VALUES * 2];
	struct sp_counters counters;
};

static int counting;

/* ---- names ---- */

static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
static char names[SP_MAX_NAMES][SP_MAX_NAME + 1];
static int nnames;

static void tell_name(struct sp_thread *t, int32_t id, const char *name)
{
	size_t n = strlen(name), words = (n + 7) / 8;
	uint64_t *w = sp_begin(t);
	w[1] = sp_ticks();
	w[2] = (uint64_t)id;
	w[3] = n;
	w[3 + words] = 0;
	memcpy(w + 4, name, n);
	memset((char *)(w + 4) + n, 0, words * 8 - n);
	sp_commit(t, w + 4 + words, 0, SP_NAME, 0);
}

int32_t sp_value_name(const char *name)
{
	int32_t id = -1;
	if (!name || !*name || strlen(name) > SP_MAX_NAME)
		return -1;
	pthread_mutex_lock(&names_lock);
	for (int i = 0; i < nnames && id < 0; i++)
		if (strcmp(names[i], name) == 0)
			id = i;
	if (id < 0 && nnames < SP_MAX_NAMES) {
		id = nnames;
		strcpy(names[nnames], name);
		/* before anybody can use the number */
		tell_name(&sp_self, id, name);
		nnames++;
	}
	pthread_mutex_unlock(&names_lock);
	return id;
}

/* ---- values ---- */

static __thread struct sp_hooks *current __attribute__((tls_model("initial-exec")));

void sp_attach(struct sp_hooks *h, int32_t value, int64_t number)
{
	if (value < 0 || value >= SP_MAX_NAMES || h->n == SP_MAX_VALUES * 2)
		return;
	h->name[h->n] = value;
	h->number[h->n++] = number;
}

static void attach(const spoor_call *call, int32_t value, int64_t number)
{
	(void)call;
	if (current && value < __atomic_load_n(&nnames, __ATOMIC_RELAXED))
		sp_attach(current, value, number);
}

/* ---- start and end ---- */

/* Say what is wrong once for all ranks where rank 0 has the same trouble. */
static void complain(int failed, const char *why, const char *then)
{
	char first = (char)failed;
	if (!sp_run.alone && P_MPI_Bcast(&first, 1, sp_fl.byte, 0, sp_run.comm) != 0)
		first = 0;
	if (failed && (sp_run.rank == 0 || !first))
		sp_warn("%s; %s", why, then);
}

void sp_hooks_start(void)
{
	const char *path = getenv("SPOOR_PLUGIN"), *list = getenv("SPOOR_COUNTERS");
	char why[512] = "";
	int hooks = 0;
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_OFF)
		return;
	if (list && *list) {
		int ok = counting = sp_counters_start(list, why, sizeof why);
		complain(!ok, why, "recording without counters");
		hooks |= ok;
	}
	if (path && *path) {
		int ok = sp_plugin_load(path, attach, why, sizeof why);
		if (!ok) /* it may have died while it asked for a name */
			pthread_mutex_init(&names_lock, NULL);
		complain(!ok, why, "recording without the plugin");
		hooks |= ok;
	}
	if (hooks)
		__atomic_fetch_or(&sp_extra, SP_HOOKS, __ATOMIC_RELEASE);
}

void sp_hooks_finish(void)
{
	struct sp_thread *t = &sp_self;
	__atomic_fetch_and(&sp_extra, ~SP_HOOKS, __ATOMIC_SEQ_CST);
	if (!sp_plugin.fini)
		return;
	sp_push(t);
	t->in[SP_HOOKED]++;
	sp_plugin.fini();
	t->in[SP_HOOKED]--;
	sp_pop(t);
	sp_plugin.fini = NULL;
}

void sp_hooks_thread_ends(struct sp_thread *t)
{
	if (!t->hooks)
		return;
	sp_counters_close(&t->hooks->counters);
	munmap(t->hooks, sizeof *t->hooks);
	t->hooks = NULL;
}

/* ---- around calls ---- */

static struct sp_hooks *hooks_of(struct sp_thread *t)
{
	if (sp_likely(t->hooks != NULL))
		return t->hooks;
	sp_prepare(t); /* so that the thread has a ring and a number, and its end is noticed */
	void *p = mmap(NULL, sizeof *t->hooks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return t->hooks = p == MAP_FAILED ? NULL : p;
}

static void call_plugin(struct sp_thread *t, struct sp_hooks *h, void (*f)(const spoor_call *), spoor_call *call)
{
	call->elapsed = h->last && call->ticks > h->last ? call->ticks - h->last : 0;
	current = h;
	sp_push(t);
	t->in[SP_BUSY]++;
	t->in[SP_HOOKED]++;
	f(call);
	t->in[SP_HOOKED]--;
	t->in[SP_BUSY]--;
	sp_pop(t);
	current = NULL;
	h->last = sp_ticks();
}

static spoor_call call_of(struct sp_thread *t, struct sp_hooks *h, uint32_t depth, unsigned id, const int64_t *params, uint64_t ticks)
{
	return (spoor_call){
		.size = sizeof(spoor_call), .function = id, .name = sp_names[id] + 1, .rank = sp_run.rank, .thread = t->number,
		.ticks = ticks, .nparams = sp_params_n[id], .params = params,
		.site = h->call[depth].site, .sequence = h->call[depth].sequence,
	};
}

/* A VALUES record of the last call from value number `first` on. */
static void tell_values(struct sp_thread *t, struct sp_hooks *h, int first, uint64_t spent)
{
	int n = h->n - first;
	if (n > SP_MAX_VALUES)
		n = SP_MAX_VALUES;
	uint64_t *w = sp_begin(t);
	w[1] = sp_ticks();
	w[2] = spent;
	w += 3;
	for (int i = first; i < first + n; i++) {
		*w++ = (uint64_t)h->name[i];
		*w++ = (uint64_t)h->number[i];
	}
	sp_commit(t, w, 0, SP_VALUES, 0);
	h->n = first;
}

void sp_hooks_started(unsigned id, const int64_t *params, uint64_t begin)
{
	struct sp_thread *t = &sp_self;
	struct sp_hooks *h = NULL;
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) != SP_ON)
		return;
	if (__atomic_load_n(&sp_extra, __ATOMIC_ACQUIRE) & SP_HOOKS)
		h = hooks_of(t);
	if (!h) {
		uint64_t *w = sp_begin(t);
		w[1] = sp_ticks();
		w[2] = w[1] - begin;
		sp_commit(t, w + 3, 0, SP_VALUES, 0);
		return;
	}
	h->n = 0;
	if (sp_plugin.post) {
		h->call[0].site = NULL;
		h->call[0].sequence = ++h->sequence;
		spoor_call call = call_of(t, h, 0, id, params, begin);
		call.returned = 1;
		call_plugin(t, h, sp_plugin.post, &call);
	}
	tell_values(t, h, 0, sp_ticks() - begin);
	if (counting)
		sp_counters_after(&h->counters);
}

static void hooks_before(struct sp_thread *t, const void *site, unsigned id, const int64_t *params)
{
	struct sp_hooks *h = hooks_of(t);
	if (!h || t->depth >= MAX_DEPTH)
		return;
	h->call[t->depth].spent = 0;
	if (__atomic_load_n(&sp_mode, __ATOMIC_RELAXED) != SP_ON) {
		h->counters.known = 0; /* what was counted meanwhile belongs to no call */
		return;
	}
	uint64_t begin = sp_ticks();
	/* Calls that were left by a longjmp are no more. */
	if (t->depth == 0)
		h->n = 0;
	h->call[t->depth].first = h->n;
	h->call[t->depth].site = site;
	h->call[t->depth].sequence = ++h->sequence;
	if (counting)
		sp_counters_before(&h->counters, h);
	if (sp_plugin.pre) {
		spoor_call call = call_of(t, h, t->depth, id, params, begin);
		call_plugin(t, h, sp_plugin.pre, &call);
	}
	h->call[t->depth].spent = 1;
	int n = h->n;
	tell_values(t, h, n, sp_ticks() - begin);
}

static int late(int extra)
{
	return (extra & SP_LATE) && __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) <= SP_MUTED;
}

const void *sp_before(struct sp_thread *t, const void *site, unsigned id, const int64_t *params)
{
	int extra = __atomic_load_n(&sp_extra, __ATOMIC_ACQUIRE);
	if (late(extra))
		sp_late(t, sp_ticks());
	if (!(extra & (SP_HOOKS | SP_STACKS | SP_PYTHON | SP_PHASES | SP_LOADED)))
		return site;
	uint64_t was = sp_shut(t);
	if (extra & SP_LOADED)
		sp_bind_called();
	if ((extra & SP_HOOKS) && id < SP_NCALLS) /* files are nothing to a plugin */
		hooks_before(t, site, id, params);
	const void *from = extra & SP_PYTHON ? sp_python_site(t, site, id >= SP_NCALLS) : site;
	if (from == site && (extra & SP_STACKS))
		from = sp_stack_site(t, site);
	if (extra & (SP_HOOKS | SP_PHASES))
		from = sp_phase_site(t, from);
	sp_reopen(t, was);
	return from;
}

static void hooks_after(struct sp_thread *t, unsigned id, int64_t result, uint64_t now, const int64_t *params)
{
	struct sp_hooks *h = t->hooks;
	uint32_t depth = t->depth - 1; /* as it was before the call */
	if (!h || depth >= MAX_DEPTH || !h->call[depth].spent)
		return;
	if (sp_plugin.post) {
		spoor_call call = call_of(t, h, depth, id, params, now);
		call.result = result;
		call.returned = 1;
		call_plugin(t, h, sp_plugin.post, &call);
	}
	h->call[depth].spent = now;
	t->after = depth + 1;
}

void sp_after(struct sp_thread *t, unsigned id, int64_t result, uint64_t now, const int64_t *params)
{
	int extra = __atomic_load_n(&sp_extra, __ATOMIC_ACQUIRE);
	if (late(extra))
		sp_late(t, now);
	if (!(extra & SP_HOOKS) || id >= SP_NCALLS)
		return;
	uint64_t was = sp_shut(t);
	hooks_after(t, id, result, now, params);
	sp_reopen(t, was);
}

/* The LEAVE of a call with hooks is in the ring. */
void sp_hooks_left(struct sp_thread *t)
{
	struct sp_hooks *h = t->hooks;
	if (t->after != t->depth + 1)
		return; /* of a call inside that one */
	t->after = 0;
	uint64_t now = h->call[t->depth].spent;
	h->call[t->depth].spent = 0;
	uint64_t was = sp_shut(t);
	tell_values(t, h, h->call[t->depth].first, sp_ticks() - now);
	if (counting)
		sp_counters_after(&h->counters);
	sp_reopen(t, was);
}
