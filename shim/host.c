/*
 * host.c: loading the engine and calling it.
 *
 * The engine brings a Go runtime along. Two things keep it from being noticed:
 * all signals are blocked while it runs, so that the program's handlers never
 * run on Go's small stacks, and whatever it does to signal dispositions, to the limit
 * of open files and to the thread's signal stack is undone before the program goes on.
 */
#define _GNU_SOURCE
#include "host.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "context.h"
#include "leader.h"
#include "ring.h"
#include "room.h"
#include "runtime.h"

static struct {
	int32_t (*start)(const struct spoor_host *);
	int32_t (*sync)(void);
	int32_t (*drain)(void);
	int32_t (*finish)(void);
	int32_t (*path)(const uint64_t *, int32_t, struct spoor_place *, int32_t);
	void (*stop)(void);
	const char *(*error)(void);
} engine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int running;

struct guard {
	sigset_t mask;
	stack_t stack;
	int error;
};

static void guard_signals(struct guard *g)
{
	sigset_t all;
	sigfillset(&all);
	g->error = errno;
	pthread_sigmask(SIG_SETMASK, &all, &g->mask);
}

static void guard_engine(struct guard *g)
{
	pthread_mutex_lock(&lock);
	sigaltstack(NULL, &g->stack);
	sp_self.in[SP_BUSY]++;
}

static void guard_enter(struct guard *g)
{
	guard_signals(g);
	guard_engine(g);
}

static void guard_leave(struct guard *g)
{
	sp_self.in[SP_BUSY]--;
	stack_t now;
	if (sigaltstack(NULL, &now) == 0 && (now.ss_sp != g->stack.ss_sp || now.ss_flags != g->stack.ss_flags))
		sigaltstack(&g->stack, NULL);
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &g->mask, NULL);
	errno = g->error;
}

/* Report the engine's failure; call inside a guard. */
static void failed(const char *doing)
{
	const char *text = engine.error ? engine.error() : NULL;
	sp_give_up("%s: %s, tracing stops", doing, text && *text ? text : "engine failed");
}

static int load(void)
{
	char path[4096];
	const char *named = getenv("SPOOR_ENGINE");
	Dl_info self;
	if (named && *named) {
		snprintf(path, sizeof path, "%s", named);
	} else {
		if (!dladdr((void *)load, &self) || !self.dli_fname)
			return 0;
		const char *slash = strrchr(self.dli_fname, '/');
		int n = slash ? (int)(slash + 1 - self.dli_fname) : 0;
		snprintf(path, sizeof path, "%.*slibspoor-engine.so", n, self.dli_fname);
	}
	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	sp_leader_loaded(h ? dlsym(h, "spoor_engine_start") : NULL);
	if (!h) {
		sp_give_up("%s, not tracing", dlerror());
		return 0;
	}
	*(void **)&engine.start = dlsym(h, "spoor_engine_start");
	*(void **)&engine.sync = dlsym(h, "spoor_engine_sync");
	*(void **)&engine.drain = dlsym(h, "spoor_engine_drain");
	*(void **)&engine.finish = dlsym(h, "spoor_engine_finish");
	*(void **)&engine.path = dlsym(h, "spoor_engine_path");
	*(void **)&engine.stop = dlsym(h, "spoor_engine_stop");
	*(void **)&engine.error = dlsym(h, "spoor_engine_error");
	if (!engine.start || !engine.sync || !engine.drain || !engine.finish || !engine.stop) {
		sp_give_up("%s is not spoor's engine, not tracing", path);
		return 0;
	}
	return 1;
}

/* What the runtime changes of the process while it starts. */
struct process {
	struct sigaction actions[NSIG];
	struct rlimit files; /* raised to what is allowed at most */
};

static void process_save(struct process *p)
{
	for (int i = 1; i < NSIG; i++)
		sigaction(i, NULL, &p->actions[i]);
	getrlimit(RLIMIT_NOFILE, &p->files);
}

static void process_restore(const struct process *p)
{
	struct sigaction now;
	for (int i = 1; i < NSIG; i++)
		if (sigaction(i, NULL, &now) == 0 && (now.sa_handler != p->actions[i].sa_handler || now.sa_flags != p->actions[i].sa_flags))
			sigaction(i, &p->actions[i], NULL);
	setrlimit(RLIMIT_NOFILE, &p->files);
}

int sp_host_start(const struct spoor_host *host)
{
	struct process was;
	struct guard g;
	guard_enter(&g);
	process_save(&was);
	if (load()) {
		/* the engine is among what is loaded now, so that the next drain finds nothing new */
		if (!sp_context_refresh(sp_context_loads()))
			sp_give_up("can't write to %s, not tracing", sp_scratch_dir());
		else if (!(running = engine.start(host) == 0))
			failed("start");
	}
	/* The runtime starts aside of us: it is through only now. */
	process_restore(&was);
	guard_leave(&g);
	return running;
}

void sp_host_sync(void)
{
	struct guard g;
	guard_enter(&g);
	if (running && engine.sync() != 0) {
		running = 0;
		failed("clocks");
	}
	guard_leave(&g);
}

int sp_host_drain(void)
{
	struct guard g;
	guard_signals(&g);
	/* Asks the loader, whose lock somebody may hold who waits for the engine: a
	   constructor that calls MPI. */
	uint64_t loads = sp_context_loads();
	guard_engine(&g);
	sp_context_refresh(loads);
	if (running && !sp_room_to_drain()) {
		running = 0;
		sp_give_up("too little memory is left, tracing stops");
	}
	if (running && engine.drain() != 0) {
		running = 0;
		failed("drain");
	}
	int ok = running;
	if (ok && sp_self.attached) /* while no handler can jump out of it */
		sp_ring_ahead(sp_rings[sp_self.number], sp_rings[sp_self.number]->head);
	guard_leave(&g);
	return ok;
}

int sp_host_path(const uint64_t *pcs, int n, struct spoor_place *list, int room)
{
	struct guard g;
	guard_enter(&g);
	int places = -1;
	if (running)
		places = engine.path && sp_room_to_drain() ? engine.path(pcs, n, list, room) : 0;
	guard_leave(&g);
	return places;
}

int sp_host_finish(void)
{
	struct guard g;
	guard_enter(&g);
	int ok = running;
	if (running) {
		int rc = engine.finish();
		running = 0;
		if (rc == 0 || rc == SPOOR_KEPT) {
			ok = rc == 0 ? 1 : SPOOR_KEPT;
		} else {
			ok = 0;
			failed("finish");
		}
	}
	guard_leave(&g);
	return ok;
}

void sp_host_stop(void)
{
	struct guard g;
	guard_enter(&g);
	if (engine.stop)
		engine.stop();
	running = 0;
	guard_leave(&g);
}

int sp_host_grow(struct sp_thread *t, const uint64_t *w, uint64_t capacity)
{
	struct guard g;
	guard_enter(&g);
	int ok = sp_ring_grow(t, w, capacity);
	guard_leave(&g);
	return ok;
}
