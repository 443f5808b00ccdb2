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

enum under_function {
	UNDER_NONE,
	UNDER_TEST, UNDER_TESTANY, UNDER_TESTALL, UNDER_TESTSOME,
	UNDER_WAITANY, UNDER_WAITSOME,
	UNDER_GET_STATUS,
	UNDER_IPROBE, UNDER_IMPROBE, UNDER_PROBE, UNDER_MPROBE,
	UNDER_RECV, UNDER_RECV_C, UNDER_IRECV, UNDER_IRECV_C,
	UNDER_SENDRECV, UNDER_SENDRECV_C, UNDER_REPLACE, UNDER_REPLACE_C,
	UNDER_ISENDRECV, UNDER_ISENDRECV_C, UNDER_IREPLACE, UNDER_IREPLACE_C,
	UNDER_WIN_TEST, UNDER_PARRIVED,
	UNDER_WAITALL,
	UNDER_FILE_OPEN, UNDER_FILE_DELETE,
	UNDER_END
};

/* The recorded outcome of one call. */
struct under_outcome {
	int32_t function;
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

#endif
