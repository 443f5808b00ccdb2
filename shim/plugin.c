/* plugin.c: loading a plugin, and what it may ask of a call. */
#define _GNU_SOURCE
#include "plugin.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "hooks.h"
#include "phase.h"
#include "put.h"
#include "runtime.h"

struct sp_plugin sp_plugin;

static spoor_api api;

/* ---- parameters ---- */

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

static int64_t bytes(const spoor_call *call)
{
	const struct sp_moved *m = call ? &sp_moved[call->function] : NULL;
	if (!m || !m->count || (sp_fl.in_place && call->params[m->buffer - 1] == (int64_t)(intptr_t)sp_fl.in_place))
		return -1;
	intptr_t comm = m->comm ? call->params[m->comm - 1] : 0, type = call->params[m->type - 1];
	if (m->root && !sp_at_root((int)call->params[m->root - 1], comm))
		return 0;
	int size = 0;
	int64_t n = call->params[m->count - 1];
	if (m->times)
		n *= m->times == SP_TIMES_SIZE ? sp_size(comm) : m->times == SP_TIMES_INDEGREE ? sp_indegree(comm) : sp_outdegree(comm);
	if (sp_handle(type) == (uint64_t)sp_fl.datatype_null || P_MPI_Type_size(type, &size) != 0 || size < 0)
		return -1;
	return n * size;
}

static void phase(const spoor_call *call, const char *name)
{
	(void)call;
	sp_phase_begins(&sp_self, name);
}

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
	*(void **)&sp_plugin.init = dlsym(h, "spoor_init");
	*(void **)&sp_plugin.pre = dlsym(h, "spoor_pre");
	*(void **)&sp_plugin.post = dlsym(h, "spoor_post");
	*(void **)&sp_plugin.fini = dlsym(h, "spoor_fini");
	if (!sp_plugin.init || (!sp_plugin.pre && !sp_plugin.post)) {
		snprintf(why, room, "%s has no %s", path, sp_plugin.init ? "spoor_pre and no spoor_post" : "spoor_init");
		return 0;
	}
	int rc = sp_plugin.init(&api);
	if (rc != 0) {
		snprintf(why, room, "%s: spoor_init returned %d", path, rc);
		return 0;
	}
	return 1;
}

int sp_plugin_load(const char *path, void (*attach)(const spoor_call *, int32_t, int64_t), char *why, size_t room)
{
	api = (spoor_api){
		.abi = SPOOR_PLUGIN_ABI, .size = sizeof api, .rank = sp_run.rank, .ranks = sp_run.ranks,
		.ticks_per_ns = sp_run.ticks_per_ns, .ticks = sp_ticks, .value = sp_value_name, .attach = attach,
		.find = find_param, .name = param_name, .kind = param_kind, .bytes = bytes, .phase = phase,
	};
	struct sp_thread *t = &sp_self;
	struct sigaction guard = {.sa_flags = SA_SIGINFO | SA_NODEFER};
	volatile int ok = 0;
	guard.sa_sigaction = crash;
	for (int i = 0; i < DEADLY; i++)
		sigaction(deadly[i], &guard, &before[i]);
	uint32_t depth = t->depth, busy = t->in[SP_BUSY];
	sp_push(t);
	t->in[SP_BUSY]++;
	t->in[SP_HOOKED]++;
	int signal = sigsetjmp(crashed, 1);
	if (signal == 0) {
		may_crash = 1;
		ok = load(path, why, room);
	} else {
		snprintf(why, room, "%s: spoor_init died of signal %d (%s)", path, signal, strsignal(signal));
	}
	may_crash = 0;
	t->in[SP_HOOKED]--;
	t->depth = depth;
	t->in[SP_BUSY] = busy;
	for (int i = 0; i < DEADLY; i++)
		sigaction(deadly[i], &before[i], NULL);
	if (!ok)
		memset(&sp_plugin, 0, sizeof sp_plugin);
	return ok;
}
