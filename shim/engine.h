/*
 * engine.h: the one contract between the shim (C, preloaded) and the engine
 * (Go, loaded with dlopen inside MPI_Init).
 *
 * Raise SPOOR_ENGINE_ABI when a field changes its meaning or place, or a
 * function its signature; fields may be added at the end without that, `size`
 * tells whether they are there.
 *
 * The shim promises
 *  1. Engine functions are called by one thread at a time, with all signals
 *     blocked, on whichever thread has records to drain.
 *  2. The context and maps files are complete in `dir` before start.
 *  3. Rings change their address only between engine calls: ask ring() anew in
 *     each call. Threads may append while the engine reads: load head with
 *     acquire order.
 * The engine promises
 *  4. It calls MPI only through send and recv, and these only inside sync
 *     and finish, which all ranks of the world call.
 *  5. When drain returns 0, every ring has head - drained == 0 for the heads it
 *     had at entry, and capacity - (head - kept) is at least what is wanted and an
 *     eighth of the capacity; otherwise the owner thread can't write its next record.
 *  6. It prints nothing on success. A function that fails returns non-zero and
 *     leaves one line of text for spoor_engine_error; the shim prints it,
 *     stops tracing and calls nothing but spoor_engine_stop afterwards.
 */
#ifndef SPOOR_ENGINE_H
#define SPOOR_ENGINE_H

#include <stdint.h>

#define SPOOR_ENGINE_ABI 3

enum spoor_flavour { SPOOR_ABI = 0, SPOOR_MPICH = 1, SPOOR_OPENMPI = 2 }; /* mpi.Flavour in Go */

enum spoor_host_flag {
	SPOOR_ALONE = 1,   /* no MPI_COMM_WORLD (sessions only): send and recv fail, sync and finish are not called, stop saves everything */
	SPOOR_SPAWNED = 2, /* this world was started by MPI_Comm_spawn */
	SPOOR_TSC = 4,     /* ticks are the processor's time stamp counter, not nanoseconds */
};

struct spoor_host {
	uint32_t abi;  /* SPOOR_ENGINE_ABI */
	uint32_t size; /* sizeof(struct spoor_host) */
	const char *dir; /* process directory, absolute, valid until stop; NULL: nothing can be saved, records are in memory only */
	int32_t rank, ranks; /* in MPI_COMM_WORLD */
	int32_t flavour; /* enum spoor_flavour */
	uint32_t flags;  /* enum spoor_host_flag */
	double ticks_per_ns;

	uint64_t (*ticks)(void);
	/* A tick and the wall clock (ns since 1970) at the same moment. */
	void (*clock_pair)(uint64_t *ticks, int64_t *realtime_ns);
	int32_t (*nthreads)(void);
	/* Ring of thread i (0 <= i < nthreads()): its struct sp_ring, or NULL. */
	void *(*ring)(int32_t thread);
	/* Blocking, over a private duplicate of MPI_COMM_WORLD; 0, SPOOR_LATE or an MPI error.
	   Both sides must give the same length. Messages of one sender don't overtake. */
	int32_t (*send)(int32_t dest, const void *buf, uint64_t len);
	int32_t (*recv)(int32_t source, void *buf, uint64_t len);
	/* Wait, mostly asleep, until a message from source is available. SPOOR_LATE after a time in which every live
	   rank would have sent it. */
	int32_t (*await)(int32_t source);
	/* Separates messages: later ones are never taken for earlier ones. */
	void (*apart)(void);
};

#define SPOOR_LATE (-2)
/* Result of finish if it succeeded, but no complete trace exists: records must stay. Rank 0 has printed the reason. */
#define SPOOR_KEPT 2

/* The host struct stays valid until stop. */
int32_t spoor_engine_start(const struct spoor_host *host);
/* Collective over the world, after start has succeeded on all ranks: compare
   clocks for the first time. Not called where all ranks read one clock. */
int32_t spoor_engine_sync(void);
/* Read everything in all rings, ordered by time across threads. */
int32_t spoor_engine_drain(void);
/* Collective over the world: compare clocks again, drain, merge, write the trace, and add its wait states. 0 on
   all ranks or on none, save for those that died. */
int32_t spoor_engine_finish(void);
/* Save a last checkpoint if finish was not called; release all resources. */
void spoor_engine_stop(void);
/* A loop or call on the path to a call, outermost first; for a loop with the location of its counter. */
struct spoor_place {
	uint32_t id; /* identifies it with all places before it */
	uint8_t loop;
	uint8_t frame; /* of the stack, 0: innermost */
	uint8_t in_register; /* in the register of this DWARF number; else in the frame, at `offset` from its address (CFA) */
	uint8_t reg;
	uint64_t order; /* within the code of its function */
	int32_t offset, step; /* step 0: there is no counter */
	int32_t add, base; /* difference to the value at the begin of the iteration; which of the loop's counters it is */
};

/* Write the path of a stack of return addresses, innermost first. Returns its number of places; 0: unknown. */
int32_t spoor_engine_path(const uint64_t *pcs, int32_t n, struct spoor_place *list, int32_t room);
/* Text of the last failure, without newline; valid until the next call. */
const char *spoor_engine_error(void);

#endif
