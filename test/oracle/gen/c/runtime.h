/*
 * runtime.h: what the generated interposers of the oracle are made of.
 *
 * The oracle writes one file per thread, ORACLE_DIR/<pid>.<n>, two lines of
 * JSON per call: one when it is entered, with the values passed in, and one
 * when it is left, with the values that came back. Both carry the thread's
 * sequence number of the call, taken at entry, so calls may nest, and a number
 * that orders the lines of all threads. A line of its own tells which block of
 * memory the program frees. A third kind of file, ORACLE_DIR/<pid>.meta, holds
 * the values of this MPI's constants and the rank of the process.
 *
 * Arguments stand in declared order. An integer is a number; a handle, an
 * address, a string and a request are strings marked h: p: s: r:. All are raw,
 * as the library's own mpi.h has them. null: nothing to tell at this end.
 */
#ifndef ORACLE_RUNTIME_H
#define ORACLE_RUNTIME_H

#include <mpi.h>
#include "weak.h"
#include <stddef.h>
#include <stdint.h>

/* Entering and leaving. o_enter tells whether the call is logged; if so, the
   arguments follow, then o_entered. The same with o_leave and o_left. */
int o_enter(const char *name, int profiling, void *caller);
uint64_t o_entered(void);
void o_leave(uint64_t seq);
void o_returned_int(int64_t rc);
void o_returned_double(double value);
void o_returned_handle(uint64_t raw);
void o_outputs(void);
void o_outputs_end(void);
void o_new_comm(const MPI_Comm *comm);
void o_new_type(const MPI_Datatype *type);
void o_left(void);
void o_nest(int by);
void o_initialised(void);
void o_finalised(void);
void *o_next(const char *name);
void *o_mpi(const char *name);

/* One value each. */
void o_null(void);
void o_int(int64_t value);
void o_handle(uint64_t raw);
void o_pointer(const void *p);
void o_request(uint64_t raw, const void *address);
void o_string(const char *s);
void o_strings(char *const *list, int64_t n);
void o_string_lists(char **const *list, int64_t n);
void o_status(const MPI_Status *status);
void o_statuses(const MPI_Status *list, int64_t n);
void o_list_begin(void);
void o_list_end(void);

/* Is this the address of something, and not one of the special values? */
int o_readable(const void *p);

/* Did the call return outputs? */
int o_success(int rc);

/* Lengths. */
int64_t o_size(MPI_Comm comm);       /* of the group that one talks to */
int64_t o_local_size(MPI_Comm comm);
int64_t o_degree(MPI_Comm comm, int out);
int64_t o_cart_dims(MPI_Comm comm);
int o_at_root(MPI_Comm comm, int root);
int64_t o_sum(const int *list, int64_t n);
int64_t o_least(int64_t a, int64_t b);
int64_t o_envelope(MPI_Datatype type, int which); /* 0: integers, 1: addresses, 2: large counts, 3: datatypes */
int64_t o_graph(MPI_Comm comm, int edges);
int64_t o_neighbors(MPI_Comm comm, int rank);
int o_weighted(MPI_Comm comm);
int64_t o_category(int category, int which); /* 0: control, 1: performance variables, 2: categories, 3: events */

/* An MPICH handle is an int, an Open MPI handle a pointer. */
#define O_RAW(h) (sizeof(h) == 4 ? (uint64_t)(uint32_t)(uintptr_t)(h) : (uint64_t)(uintptr_t)(h))

/* The value behind a pointer. */
#define O_INT_AT(p) do { if (o_readable(p)) o_int((int64_t)*(p)); else o_pointer(p); } while (0)
#define O_HANDLE_AT(p) do { if (o_readable(p)) o_handle(O_RAW(*(p))); else o_pointer(p); } while (0)
#define O_REQUEST_AT(p) do { if (o_readable(p)) o_request(O_RAW(*(p)), p); else o_pointer(p); } while (0)
#define O_POINTER_AT(p) do { if (o_readable(p)) o_pointer(*(void **)(p)); else o_pointer(p); } while (0)

/* An array; a negative length says that it is not significant here. */
#define O_EACH(p, n, print) do { \
	int64_t o_n = (n); \
	if (!o_readable(p) || o_n < 0) { \
		o_pointer(p); \
		break; \
	} \
	o_list_begin(); \
	for (int64_t o_i = 0; o_i < o_n; o_i++) \
		print; \
	o_list_end(); \
} while (0)
#define O_INTS(p, n) O_EACH(p, n, o_int((int64_t)(p)[o_i]))
#define O_HANDLES(p, n) O_EACH(p, n, o_handle(O_RAW((p)[o_i])))
#define O_REQUESTS(p, n) O_EACH(p, n, o_request(O_RAW((p)[o_i]), &(p)[o_i]))

#endif
