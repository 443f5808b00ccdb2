/*
 * talk.c: what ranks of one world say to each other.
 *
 * An MPI's own blocking calls mostly spin. Here ranks wait for others that are
 * busy in the engine or, where there are more ranks than cores, do not run at all;
 * spinning would take the core from them. So all waiting is done here: for a
 * moment as an MPI does it, then with naps in between. Where each rank may have a
 * core of its own the moment is longer: a nap makes a wait up to a quarter longer,
 * and the end of a run is a dozen waits.
 */
#define _GNU_SOURCE
#include "talk.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "calls.h"
#include "engine.h"
#include "flavour.h"
#include "layers.h"
#include "runtime.h"

#define MAX_MESSAGE (1ull << 30)
static int tag = 1;

#define SPIN 50000      /* ns */
#define YIELD 5000000   /* ns, of ranks that have cores enough */
#define LONG_NAP 500000000 /* ns */
#define MAX_NAP 1000000 /* ns, for each rank that a core has */

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* After each look that found nothing: spins, yields where there are cores enough, or naps for a part of the wait so far. A yield
   that took long was for somebody else, who needs the core more: from then on there are not. */
static void rest(int64_t waited, int part)
{
	static long cores;
	if (!cores)
		cores = sysconf(_SC_NPROCESSORS_ONLN);
	if (sp_run.ranks > 0 && sp_run.ranks <= cores && waited < YIELD) {
		int64_t began = now();
		sched_yield();
		if (now() - began > SPIN)
			cores = -1;
	} else if (waited >= SPIN) {
		/* those who look too often keep the core from those who have work */
		int64_t nap = waited / part, most = MAX_NAP * (sp_run.ranks > cores && cores > 0 ? sp_run.ranks / cores : 1);
		if (most > LONG_NAP)
			most = LONG_NAP;
		struct timespec t = {0, nap < most ? nap : most};
		nanosleep(&t, NULL);
	}
}

/* A rank that is alive answers in this time, whatever it has to write. */
#define PATIENCE_SECONDS 600

static int64_t patience(void)
{
	const char *named = getenv("SPOOR_PATIENCE");
	uint64_t seconds = named ? strtoull(named, NULL, 0) : 0;
	return (int64_t)(seconds && seconds < 1u << 30 ? seconds : PATIENCE_SECONDS) * 1000000000;
}

/* What will never come must not be written where nobody expects it any more. */
static void withdraw(intptr_t *request)
{
	uint64_t status[8];
	int done = 0;
	P_MPI_Cancel(request);
	for (int i = 0; i < 1000 && !done && P_MPI_Test(request, &done, status) == 0; i++) {
		struct timespec t = {0, 1000000};
		if (!done)
			nanosleep(&t, NULL);
	}
}

/* SPOOR_LATE: it is still open. */
static int test_until(intptr_t *request, int64_t limit)
{
	uint64_t status[8];
	int64_t began = 0;
	int done = 0, rc;
	while ((rc = P_MPI_Test(request, &done, status)) == 0 && !done) {
		int64_t at = now();
		if (!began)
			began = at;
		if (at - began > limit)
			return SPOOR_LATE;
		rest(at - began, 4);
	}
	return rc;
}

static int complete(intptr_t *request, int64_t limit)
{
	int rc = test_until(request, limit);
	if (rc == SPOOR_LATE)
		withdraw(request);
	return rc;
}

/* Ranks come back from MPI_Init at about the same time, if they come. */
#define OPENING_SECONDS 60

static int64_t opening_limit(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	int all = 0;
	int64_t limit = OPENING_SECONDS * INT64_C(1000000000);
	if (P_MPI_Comm_size(sp_fl.comm_world, &all) == 0 && cores > 0 && all > cores)
		limit *= all / cores;
	return limit < patience() ? limit : patience();
}

/* A collective operation can't be cancelled: where it stays open, the variables have to stay as well. */
static int duplicate(void)
{
	static intptr_t request, comm;
	int64_t limit = opening_limit();
	int rc = P_MPI_Comm_idup(sp_fl.comm_world, &comm, &request);
	if (rc == 0)
		rc = test_until(&request, limit);
	sp_run.comm = comm;
	return rc;
}

static int open_comm(void)
{
	if (sp_layers_change_world())
		return N_MPI_Comm_dup(sp_fl.comm_world, &sp_run.comm);
	if (P_MPI_Comm_idup)
		return duplicate();
	return P_MPI_Comm_dup(sp_fl.comm_world, &sp_run.comm);
}

/* MPIs make communicators with frames of 100 KB. A program that makes none may have a smaller stack. */
#define STACK_NEEDED (1ul << 20)

static int is_stack_small(void)
{
	struct rlimit limit;
	pthread_attr_t attr;
	size_t size = 0;
	if (syscall(SYS_gettid) == getpid())
		return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_NEEDED;
	if (pthread_getattr_np(pthread_self(), &attr) != 0)
		return 0;
	pthread_attr_getstacksize(&attr, &size);
	pthread_attr_destroy(&attr);
	return size < STACK_NEEDED;
}

static struct {
	ucontext_t from, on;
	int rc;
} larger;

static void open_there(void)
{
	larger.rc = open_comm();
}

static int open_on_larger_stack(void)
{
	void *stack = mmap(NULL, STACK_NEEDED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED || getcontext(&larger.on) != 0)
		return open_comm();
	larger.on.uc_stack.ss_sp = stack;
	larger.on.uc_stack.ss_size = STACK_NEEDED;
	larger.on.uc_link = &larger.from;
	makecontext(&larger.on, open_there, 0);
	swapcontext(&larger.from, &larger.on);
	munmap(stack, STACK_NEEDED);
	return larger.rc;
}

int sp_talk_open(void)
{
	int rc = is_stack_small() ? open_on_larger_stack() : open_comm();
	if (rc != 0)
		sp_run.comm = 0;
	else
		P_MPI_Comm_set_errhandler(sp_run.comm, sp_fl.errors_return);
	return rc;
}

void sp_talk_close(void)
{
	if (sp_run.comm)
		P_MPI_Comm_free(&sp_run.comm);
	sp_run.comm = 0;
}

int32_t sp_talk_send(int32_t dest, const void *buf, uint64_t len)
{
	int rc = sp_run.comm ? 0 : -1;
	for (uint64_t at = 0; rc == 0 && at < len; at += MAX_MESSAGE) {
		uint64_t n = len - at < MAX_MESSAGE ? len - at : MAX_MESSAGE;
		intptr_t request = 0;
		rc = P_MPI_Isend((const char *)buf + at, (int)n, sp_fl.byte, dest, tag, sp_run.comm, &request);
		if (rc == 0)
			rc = complete(&request, patience());
	}
	return rc;
}

static int recv_within(int32_t source, void *buf, uint64_t len, int64_t limit)
{
	int rc = sp_run.comm ? 0 : -1;
	for (uint64_t at = 0; rc == 0 && at < len; at += MAX_MESSAGE) {
		uint64_t n = len - at < MAX_MESSAGE ? len - at : MAX_MESSAGE;
		intptr_t request = 0;
		rc = P_MPI_Irecv((char *)buf + at, (int)n, sp_fl.byte, source, tag, sp_run.comm, &request);
		if (rc == 0)
			rc = complete(&request, limit);
	}
	return rc;
}

int32_t sp_talk_recv(int32_t source, void *buf, uint64_t len)
{
	return recv_within(source, buf, len, patience());
}

int32_t sp_talk_await(int32_t source)
{
	int64_t limit = patience(), began = now();
	if (!sp_run.comm)
		return -1;
	for (;;) {
		uint64_t status[8];
		int there = 0;
		int rc = P_MPI_Iprobe(source, tag, sp_run.comm, &there, status);
		if (rc != 0 || there)
			return rc;
		int64_t waited = now() - began;
		if (waited > limit)
			return SPOOR_LATE;
		rest(waited, 8);
	}
}

void sp_talk_apart(void) { tag = 2; }

static void count(struct sp_vote *all, const struct sp_vote *v)
{
	all->yes = all->yes && v->yes;
	if (all->cramped < 0)
		all->cramped = v->cramped; /* the other has higher ranks */
	all->one_clock = all->one_clock && v->one_clock && v->clock == all->clock;
}

/* Up a tree to rank 0 and down again. Who hears nothing takes it for a no, and goes on:
   others wait for it. */
static void up_and_down(struct sp_vote *vote, int64_t limit)
{
	const struct sp_vote no = {.cramped = -1};
	struct sp_vote other;
	int step = 1;
	for (; step < sp_run.ranks && !(sp_run.rank & step); step <<= 1)
		if (sp_run.rank + step < sp_run.ranks)
			count(vote, recv_within(sp_run.rank + step, &other, sizeof other, limit) == 0 ? &other : &no);
	if (sp_run.rank > 0
	    && (sp_talk_send(sp_run.rank - step, vote, sizeof *vote) != 0 || recv_within(sp_run.rank - step, vote, sizeof *vote, limit) != 0))
		*vote = no;
	while (step >>= 1)
		if (sp_run.rank + step < sp_run.ranks)
			sp_talk_send(sp_run.rank + step, vote, sizeof *vote);
}

int sp_talk_agree(struct sp_vote *vote, int ending)
{
	tag = 1;
	up_and_down(vote, ending ? INT64_MAX : patience());
	return vote->yes;
}

void sp_talk_together(void)
{
	struct sp_vote vote = {.yes = 1, .cramped = -1};
	tag = 3;
	up_and_down(&vote, patience());
}
