/*
 * under.h: what the replayer asks of the library that stands between tracers
 * and the MPI.
 *
 * A recorded MPI_Test said no, a recorded MPI_Waitany finished the third of five
 * requests, a receive from MPI_ANY_SOURCE got its message from rank 7. Replayed
 * as they stand, these calls could end otherwise. So this library has PMPI_
 * functions of the same names, found before the MPI's: for one call of this
 * thread they bring about the recorded outcome, then they step aside. In the same
 * way a file is opened in a scratch directory though the call names another.
 */
#ifndef UNDER_H
#define UNDER_H

#include <stdint.h>

/* The recorded outcome of one call. */
struct under_outcome {
	const char *function; /* the PMPI_ function it is for */
	int32_t flag;
	int32_t source, tag;  /* of the message that is to match, as the MPI numbers them */
	int32_t count;        /* of requests that are to finish */
	const char *path;     /* of the file in place of the named one */
	int32_t index[1];     /* which requests */
};

/* What the library has to know of the MPI, once. */
struct under_mpi {
	int32_t handle_size, status_size, st_error;
	int32_t undefined, err_in_status, err_pending;
	void *status_ignore, *statuses_ignore;
};

void under_init(const struct under_mpi *m);

/* Sets what this thread's next call of the function is to give; null: nothing.
   Returns what was set before. */
const struct under_outcome *under_expect(const struct under_outcome *o);

/* Callbacks that stand in for the program's, by what they are for. */
void *under_stand_in(int kind);

/* The function of a name that makes calls on files again, see internal/reproduce/proxy/runtime/posix.h, or serves that; null if
   there is none. */
void *under_files(const char *name);

#endif
