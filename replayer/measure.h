/* measure.h: experiments that say how long messages take; internal/simulate/machine decides which are made. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdint.h>

/* The kinds of experiments, as internal/simulate/machine numbers them. */
enum measure_kind {
	MEASURE_END,
	MEASURE_ROUND,       /* messages there and back: from and to of a round trip, inner of them in a row */
	MEASURE_ROUND_SYNC,  /* the same with MPI_Ssend */
	MEASURE_SEND,        /* how long a send keeps its caller, nobody waiting behind it */
	MEASURE_RECEIVE,     /* how long a receive and its wait take when the message has long been there */
	MEASURE_BURST,       /* inner messages without a break, and an answer */
	MEASURE_LATE,        /* how long a send takes whose receive comes delay ns later */
	MEASURE_COLLECTIVE,  /* from numbers the function */
	MEASURE_COMBINE,     /* MPI_Reduce_local */
	MEASURE_CLOCK,       /* looking at the clock */
	MEASURE_LOCAL,       /* a call that does next to nothing */
	MEASURE_TALK,        /* messages with and without requests, for a tracer to look at */
	MEASURE_FILE_OPEN,   /* all ranks open a file together, and close it */
	MEASURE_FILE_WRITE,  /* one writes the next bytes of a file */
	MEASURE_FILE_READ,   /* what it has written */
	MEASURE_FILE_SYNC,   /* how long MPI_File_sync takes behind such a write */
	MEASURE_FILE_ALL,    /* all ranks write some bytes each in one call */
};

/* What is called, and with which handles. */
struct measure_mpi {
	void *send, *ssend, *isend, *recv, *irecv, *wait, *iprobe, *comm_rank;
	void *barrier, *allreduce, *allgather, *alltoall, *reduce_scatter, *reduce_local;
	void *file_open, *file_close, *file_delete, *file_write_at, *file_read_at, *file_write_at_all, *file_sync;
	uint64_t world, self, byte, number, sum, ignore, no_info, mode; /* mode: to create, read and write */
	const char *file;                                                /* its name */
	int32_t rank, size;
};

struct measure_experiment {
	int64_t kind, from, to, bytes, samples, inner, delay;
};

/* 0 if there is no memory. */
int measure_prepare(const struct measure_mpi *m);

#define MEASURE_NO_MEMORY -1

/* Does this rank's part. On the rank `from`, of collectives on each, out has the ns of each sample. Returns
   what an MPI function returned that failed, else 0. */
int measure_run(const struct measure_experiment *x, int64_t *out);

/* Send and receive without keeping a core busy. */
int measure_quiet_receive(int from, int tag, void *to, int64_t bytes);
int measure_send(int to, int tag, const void *from, int64_t bytes);

#endif
