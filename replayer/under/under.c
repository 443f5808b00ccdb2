/* under.c: PMPI_ functions with a known outcome. See under.h. */
#define _GNU_SOURCE
#include "under.h"

#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../internal/reproduce/proxy/runtime/common.h"

#define EXPORT __attribute__((visibility("default")))

typedef intptr_t word;

static struct under_mpi mpi;
static __thread const struct under_outcome *expected;

EXPORT void under_init(const struct under_mpi *m)
{
	mpi = *m;
}

EXPORT const struct under_outcome *under_expect(const struct under_outcome *o)
{
	const struct under_outcome *old = expected;
	expected = o;
	return old;
}

/* The extra state is the status to give. */
static int stand_in_query(void *extra, void *status)
{
	memcpy(status, extra, (size_t)mpi.status_size);
	return 0;
}

EXPORT void *under_stand_in(int kind)
{
	void *table[] = {(void *)stand_in, (void *)stand_in_copy, (void *)stand_in_no_copy, (void *)stand_in_query};
	return table[kind >= 0 && kind < 4 ? kind : 0];
}

/* The MPI's function behind one of ours. */
static void *real(void **cache, const char *name)
{
	void *f = __atomic_load_n(cache, __ATOMIC_RELAXED);
	if (!f) {
		f = dlsym(RTLD_NEXT, name);
		if (!f) {
			fprintf(stderr, "spoor-replay: the MPI has no %s\n", name);
			abort();
		}
		__atomic_store_n(cache, f, __ATOMIC_RELAXED);
	}
	return f;
}

#define REAL(name) ({ static void *f_; real(&f_, STRING(name)); })
#define STRING(name) #name

/* The outcome if it is for this function; it counts for one call. */
static const struct under_outcome *take(const char *function)
{
	const struct under_outcome *o = expected;
	if (!o || strcmp(o->function, function))
		return NULL;
	expected = NULL;
	return o;
}

/* A function with a known outcome. A tracer may hand on by either name. */
#define DIRECTED(NAME, ...)                                                   \
	EXPORT int P##NAME(__VA_ARGS__);                                      \
	EXPORT int NAME(__VA_ARGS__) __attribute__((alias(STRING(P##NAME)))); \
	int P##NAME(__VA_ARGS__)

typedef int (*f1)(word);
typedef int (*f2)(word, word);
typedef int (*f3)(word, word, word);
typedef int (*f4)(word, word, word, word);
typedef int (*f5)(word, word, word, word, word);
typedef int (*f6)(word, word, word, word, word, word);
typedef int (*f7)(word, word, word, word, word, word, word);
typedef int (*f9)(word, word, word, word, word, word, word, word, word);
typedef int (*f12)(word, word, word, word, word, word, word, word, word, word, word, word);

static char *request_at(word requests, int i)
{
	return (char *)requests + (size_t)i * (size_t)mpi.handle_size;
}

static word request_value(word requests, int i)
{
	char *p = request_at(requests, i);
	return mpi.handle_size == 4 ? (word)*(uint32_t *)p : *(word *)p;
}

/* How often a thread that tests in vain lets the MPI work. What comes of a test is known; what is under way
   must go on, and asking more often than that only takes time from ranks that have something to do. */
#define PROGRESS_NS 25000

/* Lets the MPI work on what is under way, without any outcome. */
static void progress(word request)
{
	static __thread int64_t last;
	int64_t now = time_now();
	if (now - last < PROGRESS_NS)
		return;
	last = now;
	char status[64];
	int flag = 0;
	((f3)REAL(PMPI_Request_get_status))(request, (word)&flag, (word)status);
}

static int wait_one(word requests, int i, word status)
{
	return ((f2)REAL(PMPI_Wait))((word)request_at(requests, i), status);
}

/* Finishes the requests of an outcome. Errors go where MPI puts them. */
static int wait_some(const struct under_outcome *o, word requests, word indices, word statuses)
{
	int failed = 0;
	for (int i = 0; i < o->count; i++) {
		word st = (word)mpi.status_ignore;
		if (statuses != (word)mpi.statuses_ignore)
			st = statuses + (word)i * mpi.status_size;
		int rc = wait_one(requests, o->index[i], st);
		if (indices)
			((int32_t *)indices)[i] = o->index[i];
		if (rc && statuses != (word)mpi.statuses_ignore)
			*(int32_t *)(st + mpi.st_error) = rc;
		failed |= rc != 0;
	}
	return failed ? mpi.err_in_status : 0;
}

DIRECTED(MPI_Test, word request, word flag, word status)
{
	const struct under_outcome *o = take(__func__);
	if (!o)
		return ((f3)REAL(PMPI_Test))(request, flag, status);
	*(int32_t *)flag = o->flag;
	if (o->flag)
		return wait_one(request, 0, status);
	progress(request_value(request, 0));
	return 0;
}

DIRECTED(MPI_Testall, int n, word requests, word flag, word statuses)
{
	const struct under_outcome *o = take(__func__);
	if (!o)
		return ((f4)REAL(PMPI_Testall))(n, requests, flag, statuses);
	*(int32_t *)flag = o->flag;
	if (o->flag)
		return ((f3)REAL(PMPI_Waitall))(n, requests, statuses);
	if (n > 0)
		progress(request_value(requests, 0));
	return 0;
}

DIRECTED(MPI_Testany, int n, word requests, word index, word flag, word status)
{
	const struct under_outcome *o = take(__func__);
	if (!o)
		return ((f5)REAL(PMPI_Testany))(n, requests, index, flag, status);
	*(int32_t *)flag = o->flag;
	if (o->flag) {
		*(int32_t *)index = o->index[0];
		return wait_one(requests, o->index[0], status);
	}
	*(int32_t *)index = mpi.undefined;
	if (n > 0)
		progress(request_value(requests, 0));
	return 0;
}

DIRECTED(MPI_Waitany, int n, word requests, word index, word status)
{
	const struct under_outcome *o = take(__func__);
	if (!o)
		return ((f4)REAL(PMPI_Waitany))(n, requests, index, status);
	*(int32_t *)index = o->index[0];
	return wait_one(requests, o->index[0], status);
}

DIRECTED(MPI_Testsome, int n, word requests, word count, word indices, word statuses)
{
	const struct under_outcome *o = take(__func__);
	if (!o)
		return ((f5)REAL(PMPI_Testsome))(n, requests, count, indices, statuses);
	*(int32_t *)count = o->count;
	if (o->count == 0 && n > 0)
		progress(request_value(requests, 0));
	return wait_some(o, requests, indices, statuses);
}

DIRECTED(MPI_Waitsome, int n, word requests, word count, word indices, word statuses)
{
	const struct under_outcome *o = take(__func__);
	if (!o)
		return ((f5)REAL(PMPI_Waitsome))(n, requests, count, indices, statuses);
	*(int32_t *)count = o->count;
	return wait_some(o, requests, indices, statuses);
}

/* A Waitall that failed: some requests are done, others were left pending. */
DIRECTED(MPI_Waitall, int n, word requests, word statuses)
{
	const struct under_outcome *o = take(__func__);
	if (!o)
		return ((f3)REAL(PMPI_Waitall))(n, requests, statuses);
	int failed = 0;
	for (int i = 0, k = 0; i < n; i++) {
		word st = statuses == (word)mpi.statuses_ignore ? (word)mpi.status_ignore : statuses + (word)i * mpi.status_size;
		int rc = mpi.err_pending;
		if (k < o->count && o->index[k] == i) {
			k++;
			rc = wait_one(requests, i, st);
		}
		if (statuses != (word)mpi.statuses_ignore)
			*(int32_t *)(st + mpi.st_error) = rc;
		failed |= rc != 0;
	}
	return failed ? mpi.err_in_status : 0;
}

DIRECTED(MPI_File_open, word comm, word name, int mode, word info, word file)
{
	const struct under_outcome *o = take(__func__);
	return ((f5)REAL(PMPI_File_open))(comm, o ? (word)o->path : name, mode, info, file);
}

DIRECTED(MPI_File_delete, word name, word info)
{
	const struct under_outcome *o = take(__func__);
	return ((f2)REAL(PMPI_File_delete))(o ? (word)o->path : name, info);
}

/* A flag that comes out set stays so: asks until it is, if it is to be. */
#define ASKED(NAME, FLAG, ARGS, TYPE, ...)                           \
	DIRECTED(NAME, __VA_ARGS__)                                  \
	{                                                            \
		const struct under_outcome *o = take(__func__);      \
		int rc = ((TYPE)REAL(P##NAME))ARGS;                  \
		while (o && o->flag && !rc && !*(int32_t *)(FLAG)) { \
			sched_yield();                               \
			rc = ((TYPE)REAL(P##NAME))ARGS;              \
		}                                                    \
		if (o && !rc)                                        \
			*(int32_t *)(FLAG) = o->flag;                \
		return rc;                                           \
	}

ASKED(MPI_Request_get_status, flag, (request, flag, status), f3, word request, word flag, word status)
ASKED(MPI_Parrived, flag, (request, partition, flag), f3, word request, word partition, word flag)

DIRECTED(MPI_Iprobe, int source, int tag, word comm, word flag, word status)
{
	f5 f = (f5)REAL(PMPI_Iprobe);
	const struct under_outcome *o = take(__func__);
	if (!o)
		return f(source, tag, comm, flag, status);
	if (o->flag) {
		*(int32_t *)flag = 1;
		return ((f4)REAL(PMPI_Probe))(o->source, o->tag, comm, status);
	}
	int rc = f(source, tag, comm, flag, (word)mpi.status_ignore);
	*(int32_t *)flag = 0;
	return rc;
}

DIRECTED(MPI_Probe, int source, int tag, word comm, word status)
{
	const struct under_outcome *o = take(__func__);
	return ((f4)REAL(PMPI_Probe))(o ? o->source : source, o ? o->tag : tag, comm, status);
}

DIRECTED(MPI_Improbe, int source, int tag, word comm, word flag, word message, word status)
{
	const struct under_outcome *o = take(__func__);
	if (!o)
		return ((f6)REAL(PMPI_Improbe))(source, tag, comm, flag, message, status);
	if (o->flag) {
		int rc = 0;
		for (*(int32_t *)flag = 0; !rc && !*(int32_t *)flag; sched_yield())
			rc = ((f6)REAL(PMPI_Improbe))(o->source, o->tag, comm, flag, message, status);
		return rc;
	}
	*(int32_t *)flag = 0;
	int seen;
	return ((f5)REAL(PMPI_Iprobe))(source, tag, comm, (word)&seen, (word)mpi.status_ignore);
}

DIRECTED(MPI_Mprobe, int source, int tag, word comm, word message, word status)
{
	const struct under_outcome *o = take(__func__);
	return ((f5)REAL(PMPI_Mprobe))(o ? o->source : source, o ? o->tag : tag, comm, message, status);
}

/* Receives: what differs is which message they take. Counts of 32 bits are passed on in the words that they came in, so
   that a function and its large form are alike. */

#define RECEIVES(NAME)                                                                                          \
	DIRECTED(NAME, word buf, word n, word type, int source, int tag, word comm, word last)                  \
	{                                                                                                       \
		const struct under_outcome *o = take(__func__);                                                 \
		return ((f7)REAL(P##NAME))(buf, n, type, o ? o->source : source, o ? o->tag : tag, comm, last); \
	}

#define EXCHANGES(NAME)                                                                                                  \
	DIRECTED(NAME, word sbuf, word sn, word stype, word dest, word stag, word rbuf, word rn, word rtype, int source, \
		int rtag, word comm, word last)                                                                          \
	{                                                                                                                \
		const struct under_outcome *o = take(__func__);                                                          \
		return ((f12)REAL(P##NAME))(sbuf, sn, stype, dest, stag, rbuf, rn, rtype, o ? o->source : source,        \
			o ? o->tag : rtag, comm, last);                                                                  \
	}

#define REPLACES(NAME)                                                                                                       \
	DIRECTED(NAME, word buf, word n, word type, word dest, word stag, int source, int rtag, word comm, word last)        \
	{                                                                                                                    \
		const struct under_outcome *o = take(__func__);                                                              \
		return ((f9)REAL(P##NAME))(buf, n, type, dest, stag, o ? o->source : source, o ? o->tag : rtag, comm, last); \
	}

RECEIVES(MPI_Recv)
RECEIVES(MPI_Recv_c)
RECEIVES(MPI_Irecv)
RECEIVES(MPI_Irecv_c)
EXCHANGES(MPI_Sendrecv)
EXCHANGES(MPI_Sendrecv_c)
EXCHANGES(MPI_Isendrecv)
EXCHANGES(MPI_Isendrecv_c)
REPLACES(MPI_Sendrecv_replace)
REPLACES(MPI_Sendrecv_replace_c)
REPLACES(MPI_Isendrecv_replace)
REPLACES(MPI_Isendrecv_replace_c)

DIRECTED(MPI_Win_test, word win, word flag)
{
	const struct under_outcome *o = take(__func__);
	if (!o)
		return ((f2)REAL(PMPI_Win_test))(win, flag);
	*(int32_t *)flag = o->flag;
	return o->flag ? ((f1)REAL(PMPI_Win_wait))(win) : 0;
}

/* Open MPI has these two as macros in C, and as functions in Fortran alone. */

EXPORT word MPI_Aint_add(word base, word disp) { return (word)((uintptr_t)base + (uintptr_t)disp); }
EXPORT word PMPI_Aint_add(word base, word disp) { return (word)((uintptr_t)base + (uintptr_t)disp); }
EXPORT word MPI_Aint_diff(word a, word b) { return (word)((uintptr_t)a - (uintptr_t)b); }
EXPORT word PMPI_Aint_diff(word a, word b) { return (word)((uintptr_t)a - (uintptr_t)b); }

/* MPICH has these as macros alone: there a handle is its integer. */

typedef word (*converter)(word);
#define CONVERTS(NAME)                                            \
	EXPORT word NAME(word v)                                  \
	{                                                         \
		converter f = (converter)dlsym(RTLD_NEXT, #NAME); \
		return f ? f(v) : (word)(int32_t)v;               \
	}
#define CONVERSIONS(OF) CONVERTS(MPI_##OF##_c2f) CONVERTS(PMPI_##OF##_c2f) CONVERTS(MPI_##OF##_f2c) CONVERTS(PMPI_##OF##_f2c)

CONVERSIONS(Comm)
CONVERSIONS(Type)
CONVERSIONS(Group)
CONVERSIONS(Info)
CONVERSIONS(Request)
CONVERSIONS(Op)
CONVERSIONS(Errhandler)
CONVERSIONS(Win)
CONVERSIONS(Message)
CONVERSIONS(Session)
