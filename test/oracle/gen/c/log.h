/*
 * log.h: the lines that the oracle writes, and what its parts share.
 */
#ifndef ORACLE_LOG_H
#define ORACLE_LOG_H

#include <stdatomic.h>

#include "runtime.h"

#pragma GCC visibility push(hidden)

/* Per thread: the log, the line being made, and how deep calls are nested. */
struct o_thread {
	int fd;
	int depth;
	int comma;
	int saved_errno;
	uint64_t seq;
	char *line;
	size_t len, cap;
};
extern __thread struct o_thread o_self;

extern atomic_int o_in_mpi; /* between initialising and finalising MPI */

/* Append to the thread's line. */
void o_put(const char *format, ...) __attribute__((format(printf, 1, 2)));
void o_quote(const char *s);
/* Write it out. */
void o_flush(int fd);
/* A file of this process. */
int o_create(const char *dir, const char *suffix, int flags);

#pragma GCC visibility pop

/* The MPI's own function. */
#define REAL(f) ((__typeof__(&P##f))o_mpi("P" #f))

#endif
