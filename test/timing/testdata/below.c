// A layer below the recorder, which forwards to it: it sees when the
// recorder's wrapper has gone on to the call and when the call goes back there, and lets a call
// last longer. What the recorder takes for a call lies between this and what the
// program saw.
#define _GNU_SOURCE
#include "below.h"

#include <dlfcn.h>
#include <mpi.h>
#include <string.h>
#include <time.h>

struct expected below_call;

double below_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

// Whether this is the call that the program makes, and none of the recorder's own.
static int expected(const char *name)
{
	if (!below_call.name || strcmp(below_call.name, name) != 0)
		return 0;
	below_call.name = NULL;
	below_call.from = below_now();
	if (below_call.sleep > 0) {
		struct timespec t = {below_call.sleep / 1000000000, below_call.sleep % 1000000000};
		nanosleep(&t, NULL);
	}
	return 1;
}

#define FORWARD(name, params, args)                    \
	int MPI_##name params                              \
	{                                                  \
		int own = expected(#name), rc = PMPI_##name args; \
		if (own)                                       \
			below_call.to = below_now();               \
		return rc;                                     \
	}

// Not by its PMPI_ name, which leads to the recorder: it would start in there, as it does below layers that may keep a rank.
int MPI_Init(int *argc, char ***argv)
{
	int (*init)(int *, char ***);
	*(void **)&init = dlsym(RTLD_NEXT, "PMPI_Init");
	int own = expected("Init"), rc = init(argc, argv);
	if (own)
		below_call.to = below_now();
	return rc;
}

FORWARD(Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
FORWARD(Comm_size, (MPI_Comm comm, int *size), (comm, size))
FORWARD(Barrier, (MPI_Comm comm), (comm))
FORWARD(Allreduce, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (in, out, n, type, op, comm))
FORWARD(Sendrecv,
        (const void *out, int nout, MPI_Datatype tout, int to, int tagout, void *in, int nin, MPI_Datatype tin, int from, int tagin,
         MPI_Comm comm, MPI_Status *status),
        (out, nout, tout, to, tagout, in, nin, tin, from, tagin, comm, status))
FORWARD(Irecv, (void *in, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request), (in, n, type, from, tag, comm, request))
FORWARD(Send, (const void *out, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm), (out, n, type, to, tag, comm))
FORWARD(Wait, (MPI_Request *request, MPI_Status *status), (request, status))
FORWARD(Finalize, (void), ())
