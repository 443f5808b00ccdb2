/* measure.c: the experiments. Each function does the part of one rank; the one that looks at the clock fills in the
   samples. Two ranks are in step because each sample ends with a message back. */
#define _GNU_SOURCE
#include "measure.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "call.h"

typedef int (*f1)(uint64_t);
typedef int (*f2)(uint64_t, uint64_t);
typedef int (*f5)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef int (*f6)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
typedef int (*f7)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);

#define CALL(TYPE, FUNCTION, ...) (((TYPE)mpi.FUNCTION)(__VA_ARGS__))
#define ADDRESS(POINTER) ((uint64_t)(uintptr_t)(POINTER))
/* Ends the function that does an experiment if a call fails. */
#define TRY(CALL_)              \
	do {                    \
		int rc_ = CALL_; \
		if (rc_)        \
			return rc_; \
	} while (0)

#define TAG 77
#define MANY 64 /* requests at a time */

static struct measure_mpi mpi;
static char *out_buffer, *in_buffer;
static int32_t *counts;
static uint64_t requests[MANY];

int measure_prepare(const struct measure_mpi *m)
{
	mpi = *m;
	counts = calloc((size_t)mpi.size, sizeof *counts);
	return counts != NULL;
}

/* Memory lies as it does in programs: how it is aligned shows in how fast it is copied. */
static char *memory(int64_t bytes)
{
	char *p = malloc((size_t)bytes + 1);
	if (p)
		memset(p, 0, (size_t)bytes + 1);
	return p;
}

static int send(int to, int64_t bytes) { return CALL(f6, send, ADDRESS(out_buffer), (uint64_t)bytes, mpi.byte, (uint64_t)to, TAG, mpi.world); }
static int ssend(int to, int64_t bytes) { return CALL(f6, ssend, ADDRESS(out_buffer), (uint64_t)bytes, mpi.byte, (uint64_t)to, TAG, mpi.world); }
static int recv(int from, int64_t bytes) { return CALL(f7, recv, ADDRESS(in_buffer), (uint64_t)bytes, mpi.byte, (uint64_t)from, TAG, mpi.world, mpi.ignore); }
static int isend(int to, int64_t bytes, uint64_t *r) { return CALL(f7, isend, ADDRESS(out_buffer), (uint64_t)bytes, mpi.byte, (uint64_t)to, TAG, mpi.world, ADDRESS(r)); }
static int irecv(int from, int64_t bytes, uint64_t *r) { return CALL(f7, irecv, ADDRESS(in_buffer), (uint64_t)bytes, mpi.byte, (uint64_t)from, TAG, mpi.world, ADDRESS(r)); }
static int wait(uint64_t *r) { return CALL(f2, wait, ADDRESS(r), mpi.ignore); }

/* Computes, as far as MPI can see. */
static void spin(int64_t ns)
{
	int64_t end = time_now() + ns;
	while (time_now() < end)
		;
}

static int rounds(const struct measure_experiment *x, int64_t *out)
{
	int sync = x->kind == MEASURE_ROUND_SYNC;
	for (int64_t s = 0; s < x->samples; s++) {
		int64_t begin = time_now();
		for (int64_t i = 0; i < x->inner; i++) {
			if (mpi.rank == x->from) {
				TRY(sync ? ssend((int)x->to, x->bytes) : send((int)x->to, x->bytes));
				TRY(recv((int)x->to, x->bytes));
			} else {
				TRY(recv((int)x->from, x->bytes));
				TRY(sync ? ssend((int)x->from, x->bytes) : send((int)x->from, x->bytes));
			}
		}
		out[s] = time_now() - begin;
	}
	return 0;
}

static int sends(const struct measure_experiment *x, int64_t *out)
{
	for (int64_t s = 0; s < x->samples; s++) {
		if (mpi.rank != x->from) {
			TRY(recv((int)x->from, x->bytes));
			TRY(send((int)x->from, 0));
			continue;
		}
		spin(x->delay); /* until the other waits */
		int64_t begin = time_now();
		TRY(isend((int)x->to, x->bytes, requests));
		out[s] = time_now() - begin;
		TRY(wait(requests));
		TRY(recv((int)x->to, 0));
	}
	return 0;
}

static int receives(const struct measure_experiment *x, int64_t *out)
{
	for (int64_t s = 0; s < x->samples; s++) {
		if (mpi.rank != x->from) {
			TRY(recv((int)x->from, 0));
			TRY(send((int)x->from, x->bytes));
			continue;
		}
		int64_t begin = time_now();
		TRY(irecv((int)x->to, x->bytes, requests));
		out[s] = time_now() - begin;
		TRY(send((int)x->to, 0));
		spin(x->delay);
		begin = time_now();
		TRY(wait(requests));
		out[s] += time_now() - begin;
	}
	return 0;
}

static int bursts(const struct measure_experiment *x, int64_t *out)
{
	int n = x->inner < MANY ? (int)x->inner : MANY;
	for (int64_t s = 0; s < x->samples; s++) {
		if (mpi.rank != x->from) {
			for (int i = 0; i < n; i++)
				TRY(irecv((int)x->from, x->bytes, &requests[i]));
			TRY(send((int)x->from, 0));
			for (int i = 0; i < n; i++)
				TRY(wait(&requests[i]));
			TRY(send((int)x->from, 0));
			continue;
		}
		TRY(recv((int)x->to, 0));
		int64_t begin = time_now();
		for (int i = 0; i < n; i++)
			TRY(isend((int)x->to, x->bytes, &requests[i]));
		for (int i = 0; i < n; i++)
			TRY(wait(&requests[i]));
		TRY(recv((int)x->to, 0));
		out[s] = time_now() - begin;
	}
	return 0;
}

/* The same in the MPI, which goes on with what is under way: some let a short message wait until the receiver looks
   at it, whether or not it is received. */
static int look(int from, int64_t ns)
{
	int32_t there;
	for (int64_t end = time_now() + ns; time_now() < end;)
		TRY(CALL(f5, iprobe, (uint64_t)from, TAG + 1, mpi.world, ADDRESS(&there), mpi.ignore));
	return 0;
}

static int late(const struct measure_experiment *x, int64_t *out)
{
	for (int64_t s = 0; s < x->samples; s++) {
		if (mpi.rank != x->from) {
			TRY(send((int)x->from, 0));
			TRY(look((int)x->from, x->delay));
			TRY(recv((int)x->from, x->bytes));
			TRY(send((int)x->from, 0));
			continue;
		}
		TRY(recv((int)x->to, 0));
		int64_t begin = time_now();
		TRY(send((int)x->to, x->bytes));
		out[s] = time_now() - begin;
		TRY(recv((int)x->to, 0));
	}
	return 0;
}

static int collective(const struct measure_experiment *x)
{
	uint64_t a = ADDRESS(out_buffer), b = ADDRESS(in_buffer), n = (uint64_t)x->bytes;
	switch (x->from) {
	case 0:
		return CALL(f1, barrier, mpi.world);
	case 1:
		return CALL(f6, allreduce, a, b, n / 8, mpi.number, mpi.sum, mpi.world);
	case 2:
		return CALL(f7, allgather, a, n, mpi.byte, b, n, mpi.byte, mpi.world);
	case 3:
		return CALL(f7, alltoall, a, n / (uint64_t)mpi.size, mpi.byte, b, n / (uint64_t)mpi.size, mpi.byte, mpi.world);
	}
	for (int i = 0; i < mpi.size; i++)
		counts[i] = (int32_t)(n / 8 / (uint64_t)mpi.size);
	return CALL(f6, reduce_scatter, a, b, ADDRESS(counts), mpi.number, mpi.sum, mpi.world);
}

static int collectives(const struct measure_experiment *x, int64_t *out)
{
	for (int64_t s = 0; s < x->samples; s++) {
		TRY(CALL(f1, barrier, mpi.world));
		int64_t begin = time_now();
		for (int64_t i = 0; i < x->inner; i++)
			TRY(collective(x));
		out[s] = time_now() - begin;
	}
	return 0;
}

/* What needs no other rank. */
static int alone(const struct measure_experiment *x, int64_t *out)
{
	for (int64_t s = 0; s < x->samples; s++) {
		int64_t begin = time_now();
		for (int64_t i = 0; i < x->inner; i++) {
			if (x->kind == MEASURE_COMBINE) {
				TRY(CALL(f5, reduce_local, ADDRESS(out_buffer), ADDRESS(in_buffer), (uint64_t)x->bytes / 8, mpi.number, mpi.sum));
			} else if (x->kind == MEASURE_LOCAL) {
				int32_t rank;
				TRY(CALL(f2, comm_rank, mpi.world, ADDRESS(&rank)));
			} else {
				(void)time_now();
			}
		}
		out[s] = time_now() - begin;
	}
	return 0;
}

static int talk(const struct measure_experiment *x)
{
	int peer = (int)(mpi.rank == x->from ? x->to : x->from);
	for (int64_t i = 0; i < x->inner; i++) {
		if (mpi.rank == x->from) {
			TRY(send(peer, x->bytes));
			TRY(recv(peer, x->bytes));
		} else {
			TRY(recv(peer, x->bytes));
			TRY(send(peer, x->bytes));
		}
	}
	for (int64_t i = 0; i < x->inner; i++) {
		TRY(irecv(peer, x->bytes, &requests[0]));
		TRY(isend(peer, x->bytes, &requests[1]));
		TRY(wait(&requests[0]));
		TRY(wait(&requests[1]));
	}
	return 0;
}

static int file_open(uint64_t comm, uint64_t *file) { return CALL(f5, file_open, comm, ADDRESS(mpi.file), mpi.mode, mpi.no_info, ADDRESS(file)); }

static int file_opens(const struct measure_experiment *x, int64_t *out)
{
	uint64_t file;
	for (int64_t s = 0; s < x->samples; s++) {
		TRY(CALL(f1, barrier, mpi.world));
		int64_t begin = time_now();
		TRY(file_open(mpi.world, &file));
		TRY(CALL(f1, file_close, ADDRESS(&file)));
		out[s] = time_now() - begin;
	}
	return 0;
}

/* Writes the next bytes of a file: what is measured is how long that takes, or what comes behind it. */
static int file_moves(const struct measure_experiment *x, uint64_t file, int64_t *out)
{
	int all = x->kind == MEASURE_FILE_ALL;
	void *write = all ? mpi.file_write_at_all : mpi.file_write_at;
	for (int64_t s = 0; s < x->samples; s++) {
		uint64_t at = (uint64_t)((all ? s * mpi.size + mpi.rank : s) * x->bytes);
		if (all)
			TRY(CALL(f1, barrier, mpi.world));
		int64_t begin = time_now();
		TRY(((f6)write)(file, at, ADDRESS(out_buffer), (uint64_t)x->bytes, mpi.byte, mpi.ignore));
		if (x->kind == MEASURE_FILE_SYNC) {
			begin = time_now();
			TRY(CALL(f1, file_sync, file));
		} else if (x->kind == MEASURE_FILE_READ) {
			begin = time_now();
			TRY(CALL(f6, file_read_at, file, at, ADDRESS(in_buffer), (uint64_t)x->bytes, mpi.byte, mpi.ignore));
		}
		out[s] = time_now() - begin;
	}
	return 0;
}

static int files(const struct measure_experiment *x, int64_t *out)
{
	int all = x->kind == MEASURE_FILE_ALL || x->kind == MEASURE_FILE_OPEN, rc;
	if (x->kind == MEASURE_FILE_OPEN) {
		rc = file_opens(x, out);
	} else {
		uint64_t file;
		TRY(file_open(all ? mpi.world : mpi.self, &file));
		rc = file_moves(x, file, out);
		TRY(CALL(f1, file_close, ADDRESS(&file)));
	}
	if (all)
		TRY(CALL(f1, barrier, mpi.world));
	if (mpi.rank == x->from)
		CALL(f2, file_delete, ADDRESS(mpi.file), mpi.no_info);
	return rc;
}

static int run(const struct measure_experiment *x, int64_t *out)
{
	switch (x->kind) {
	case MEASURE_COLLECTIVE:
		return collectives(x, out);
	case MEASURE_COMBINE:
	case MEASURE_CLOCK:
	case MEASURE_LOCAL:
		return alone(x, out);
	case MEASURE_ROUND:
	case MEASURE_ROUND_SYNC:
		return rounds(x, out);
	case MEASURE_SEND:
		return sends(x, out);
	case MEASURE_RECEIVE:
		return receives(x, out);
	case MEASURE_BURST:
		return bursts(x, out);
	case MEASURE_LATE:
		return late(x, out);
	case MEASURE_TALK:
		return talk(x);
	case MEASURE_FILE_OPEN:
	case MEASURE_FILE_WRITE:
	case MEASURE_FILE_READ:
	case MEASURE_FILE_SYNC:
	case MEASURE_FILE_ALL:
		return files(x, out);
	}
	return 0;
}

int measure_run(const struct measure_experiment *x, int64_t *out)
{
	int all = x->kind == MEASURE_COLLECTIVE || x->kind == MEASURE_FILE_OPEN || x->kind == MEASURE_FILE_ALL;
	int two = x->kind != MEASURE_COMBINE && x->kind != MEASURE_CLOCK && x->kind != MEASURE_LOCAL && x->kind < MEASURE_FILE_OPEN;
	if (!all && mpi.rank != x->from && !(two && mpi.rank == x->to))
		return 0;
	out_buffer = memory(x->bytes);
	in_buffer = memory(x->kind == MEASURE_COLLECTIVE ? x->bytes * mpi.size : x->bytes);
	int rc = out_buffer && in_buffer ? run(x, out) : MEASURE_NO_MEMORY;
	free(out_buffer);
	free(in_buffer);
	return rc;
}

int measure_quiet_receive(int from, int tag, void *to, int64_t bytes)
{
	struct timespec pause = {0, 100000};
	for (int32_t there = 0;;) {
		TRY(CALL(f5, iprobe, (uint64_t)from, (uint64_t)tag, mpi.world, ADDRESS(&there), mpi.ignore));
		if (there)
			break;
		nanosleep(&pause, NULL);
	}
	return CALL(f7, recv, ADDRESS(to), (uint64_t)bytes, mpi.byte, (uint64_t)from, (uint64_t)tag, mpi.world, mpi.ignore);
}

int measure_send(int to, int tag, const void *from, int64_t bytes)
{
	return CALL(f6, send, ADDRESS(from), (uint64_t)bytes, mpi.byte, (uint64_t)to, (uint64_t)tag, mpi.world);
}
