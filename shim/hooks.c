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

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "calls.h"
#include "flavour.h"
#include "runtime.h"
#include "spoor_plugin.h"
#include "stack.h"

#define MAX_DEPTH 16

/* Of a thread; made at its first call. */
struct sp_hooks {
	struct {
		int first; /* its values begin here */
		uint64_t spent;
	} call[MAX_DEPTH]; /* by depth */
	int n;
	int32_t name[SP_MAX_VALUES * 2];
	int64_t number[SP_MAX_VALUES * 2];
	struct sp_counters counters;
};

static struct {
	int (*init)(const spoor_api *);
	void (*pre)(const spoor_call *);
	void (*post)(const spoor_call *);
	void (*fini)(void);
} plugin;

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

/* ---- what a plugin may ask ---- */

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

/* A function's parameters: name, kind, name, kind, …, each with its NUL. */
static const char *param(const spoor_call *call, int32_t index, int kind)
{
	if (!call || index < 0 || index >= call->nparams)
		return NULL;
	const char *p = sp_params + sp_params_at[call->function];
	for (int i = 0; i < index * 2 + kind; i++)
		p += strlen(p) + 1;
	return p;
}

static const char *param_name(const spoor_call *call, int32_t index)
{
	return param(call, index, 0);
}

static const char *param_kind(const spoor_call *call, int32_t index)
{
	return param(call, index, 1);
}

static int32_t find_param(const spoor_call *call, const char *name)
{
	for (int32_t i = 0; name && i < call->nparams; i++)
		if (strcmp(param(call, i, 0), name) == 0)
			return i;
	return -1;
}

static spoor_api api;

/* ---- loading ---- */

static sigjmp_buf crashed;
static __thread int may_crash __attribute__((tls_model("initial-exec")));
static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define DEADLY (int)(sizeof deadly / sizeof *deadly)
static struct sigaction before[DEADLY];

static void crash(int signal, siginfo_t *info, void *context)
{
	(void)info;
	(void)context;
	if (may_crash)
		siglongjmp(crashed, signal);
	/* another thread's own trouble: as it would have been */
	for (int i = 0; i < DEADLY; i++)
		if (deadly[i] == signal)
			sigaction(signal, &before[i], NULL);
}

/* Load the plugin and call its init. What is wrong stands in `why` then. */
static int load(const char *path, char *why, size_t room)
{
	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!h) {
		const char *text = dlerror();
		snprintf(why, room, "%s", text ? text : path);
		return 0;
	}
	*(void **)&plugin.init = dlsym(h, "spoor_init");
	*(void **)&plugin.pre = dlsym(h, "spoor_pre");
	*(void **)&plugin.post = dlsym(h, "spoor_post");
	*(void **)&plugin.fini = dlsym(h, "spoor_fini");
	if (!plugin.init || (!plugin.pre && !plugin.post)) {
		snprintf(why, room, "%s has no %s", path, plugin.init ? "spoor_pre and no spoor_post" : "spoor_init");
		return 0;
	}
	int rc = plugin.init(&api);
	if (rc != 0) {
		snprintf(why, room, "%s: spoor_init returned %d", path, rc);
		return 0;
	}
	return 1;
}

static int load_safely(const char *path, char *why, size_t room)
{
	struct sp_thread *t = &sp_self;
	struct sigaction guard = {.sa_flags = SA_SIGINFO | SA_NODEFER};
	volatile int ok = 0;
	guard.sa_sigaction = crash;
	for (int i = 0; i < DEADLY; i++)
		sigaction(deadly[i], &guard, &before[i]);
	uint32_t depth = t->depth, busy = t->busy;
	t->depth++;
	t->busy++;
	t->hooked++;
	int signal = sigsetjmp(crashed, 1);
	if (signal == 0) {
		may_crash = 1;
		ok = load(path, why, room);
	} else {
		snprintf(why, room, "%s: spoor_init died of signal %d (%s)", path, signal, strsignal(signal));
		pthread_mutex_init(&names_lock, NULL);
	}
	may_crash = 0;
	t->hooked--;
	t->depth = depth;
	t->busy = busy;
	for (int i = 0; i < DEADLY; i++)
		sigaction(deadly[i], &before[i], NULL);
	return ok;
}

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
		api = (spoor_api){
			.abi = SPOOR_PLUGIN_ABI, .size = sizeof api, .rank = sp_run.rank, .ranks = sp_run.ranks,
			.ticks_per_ns = sp_run.ticks_per_ns, .ticks = sp_ticks, .value = sp_value_name, .attach = attach,
			.find = find_param, .name = param_name, .kind = param_kind,
		};
		int ok = load_safely(path, why, sizeof why);
		if (!ok)
			memset(&plugin, 0, sizeof plugin);
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
	if (!plugin.fini)
		return;
	t->depth++;
	t->hooked++;
	plugin.fini();
	t->hooked--;
	t->depth--;
	plugin.fini = NULL;
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
	sp_begin(t); /* so that the thread has a ring and a number, and its end is noticed */
	void *p = mmap(NULL, sizeof *t->hooks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return t->hooks = p == MAP_FAILED ? NULL : p;
}

static void call_plugin(struct sp_thread *t, struct sp_hooks *h, void (*f)(const spoor_call *), const spoor_call *call)
{
	current = h;
	t->depth++;
	t->busy++;
	t->hooked++;
	f(call);
	t->hooked--;
	t->busy--;
	t->depth--;
	current = NULL;
}

static spoor_call call_of(struct sp_thread *t, unsigned id, const int64_t *params, uint64_t ticks)
{
	return (spoor_call){
		.size = sizeof(spoor_call), .function = id, .name = sp_names[id] + 1, .rank = sp_run.rank, .thread = t->number,
		.ticks = ticks, .nparams = sp_params_n[id], .params = params,
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
	if (plugin.post) {
		spoor_call call = call_of(t, id, params, begin);
		call.returned = 1;
		call_plugin(t, h, plugin.post, &call);
	}
	tell_values(t, h, 0, sp_ticks() - begin);
	if (counting)
		sp_counters_after(&h->counters);
}

static void hooks_before(struct sp_thread *t, unsigned id, const int64_t *params)
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
	if (counting)
		sp_counters_before(&h->counters, h);
	if (plugin.pre) {
		spoor_call call = call_of(t, id, params, begin);
		call_plugin(t, h, plugin.pre, &call);
	}
	h->call[t->depth].spent = 1;
	int n = h->n;
	tell_values(t, h, n, sp_ticks() - begin);
}

const void *sp_before(struct sp_thread *t, const void *site, unsigned id, const int64_t *params)
{
	int extra = __atomic_load_n(&sp_extra, __ATOMIC_ACQUIRE);
	if (extra & SP_HOOKS)
		hooks_before(t, id, params);
	return extra & SP_STACKS ? sp_stack_site(t, site) : site;
}

void sp_after(struct sp_thread *t, unsigned id, int64_t result, uint64_t now, const int64_t *params)
{
	struct sp_hooks *h = t->hooks;
	if (!(__atomic_load_n(&sp_extra, __ATOMIC_ACQUIRE) & SP_HOOKS) || !h || t->depth >= MAX_DEPTH || !h->call[t->depth].spent)
		return;
	if (plugin.post) {
		spoor_call call = call_of(t, id, params, now);
		call.result = result;
		call.returned = 1;
		call_plugin(t, h, plugin.post, &call);
	}
	h->call[t->depth].spent = now;
	t->after = t->depth + 1;
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
	tell_values(t, h, h->call[t->depth].first, sp_ticks() - now);
	if (counting)
		sp_counters_after(&h->counters);
}
