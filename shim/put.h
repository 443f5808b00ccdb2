/*
 * put.h: writing the parts of a record. The generated sp_enter_ and sp_leave_
 * functions are made of these; contract of each part in record.h and
 * mpi/calls.txt.
 *
 * Scalars are stored by inline code. Anything whose size is known at run time
 * alone goes through a function that makes room first and leaves SP_SLACK words
 * for what follows.
 */
#ifndef SPOOR_PUT_H
#define SPOOR_PUT_H

#include <string.h>

#include "flavour.h"
#include "shim.h"

void sp_locate(const void *addr, uint64_t out[2]);

/* ---- values behind pointers; a tool call may have none ---- */

static inline uint64_t sp_ld32(const void *p)
{
	int32_t v = 0;
	if (p)
		memcpy(&v, p, sizeof v);
	return (uint64_t)(int64_t)v;
}

static inline uint64_t sp_ld64(const void *p)
{
	uint64_t v = 0;
	if (p)
		memcpy(&v, p, sizeof v);
	return v;
}

/* A handle in a register: MPICH's upper half is anything. */
static inline uint64_t sp_handle(intptr_t h)
{
	return (uint64_t)h & sp_fl.handle_mask;
}

static inline uint64_t sp_ldh(const void *p)
{
	if (!p)
		return 0;
	if (sp_fl.handle_size == 8)
		return sp_ld64(p);
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static inline int64_t sp_at_least_0(int64_t n)
{
	return n < 0 ? 0 : n;
}

static inline int64_t sp_smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Whether a call succeeded well enough to have outputs. */
static inline int sp_has_outputs(int rc)
{
	return rc == 0 || (rc & sp_fl.error_mask) == sp_fl.err_in_status;
}

/* ---- parts ---- */

static inline uint64_t *sp_put_address(uint64_t *w, const void *p)
{
	if (p == NULL || p == sp_fl.in_place || p == sp_fl.buffer_automatic) {
		w[0] = (uint64_t)SP_SPECIAL << 56;
		w[1] = p == NULL ? SP_BOTTOM : p == sp_fl.in_place ? SP_IN_PLACE : SP_BUFFER_AUTOMATIC;
	} else {
		sp_locate(p, w);
	}
	return w + 2;
}

/* An address that was set by the call: nothing there if there is no pointer. */
static inline uint64_t *sp_put_address_at(uint64_t *w, const void *p)
{
	return sp_put_address(w, (const void *)(uintptr_t)sp_ld64(p));
}

/* A request variable of the program, or (address NULL) a plain value. */
static inline uint64_t *sp_put_request(uint64_t *w, uint64_t handle, const void *address)
{
	w[0] = handle;
	w[1] = (uint64_t)(uintptr_t)(address && sp_self.request_at ? sp_self.request_at : address);
	return w + 2;
}

uint64_t *sp_put_status(uint64_t *w, const void *status, int form);

/* Arrays of n elements, or of an sp_length. */
uint64_t *sp_put_32s(struct sp_thread *t, uint64_t *w, const void *array, int64_t n);
uint64_t *sp_put_64s(struct sp_thread *t, uint64_t *w, const void *array, int64_t n);
uint64_t *sp_put_handles(struct sp_thread *t, uint64_t *w, const void *array, int64_t n);
uint64_t *sp_put_requests(struct sp_thread *t, uint64_t *w, const void *array, int64_t n);
uint64_t *sp_put_statuses(struct sp_thread *t, uint64_t *w, const void *array, int64_t n, int form);
/* n < 0: up to the null pointer. */
uint64_t *sp_put_strings(struct sp_thread *t, uint64_t *w, const void *array, int64_t n);
uint64_t *sp_put_string_lists(struct sp_thread *t, uint64_t *w, const void *array, int64_t n);
/* Up to the NUL, but not more than room bytes. */
uint64_t *sp_put_string(struct sp_thread *t, uint64_t *w, const void *string, int64_t room);

#define SP_TO_NULL (-100) /* as n of sp_put_strings */

/* ---- questions to the MPI; not while a record is open ---- */

int64_t sp_size(intptr_t comm);      /* of the remote group, if there is one */
int64_t sp_localsize(intptr_t comm);
int64_t sp_indegree(intptr_t comm);
int64_t sp_outdegree(intptr_t comm);
int64_t sp_dims(intptr_t comm);
int64_t sp_nodes(intptr_t comm);
int64_t sp_edges(intptr_t comm);
int64_t sp_neighbors(intptr_t comm, int rank);
int64_t sp_inweights(intptr_t comm); /* 0 if the edges have none */
int64_t sp_outweights(intptr_t comm);
int64_t sp_integers(intptr_t type); /* what its constructor was given */
int64_t sp_addresses(intptr_t type);
int64_t sp_largecounts(intptr_t type);
int64_t sp_datatypes(intptr_t type);
int64_t sp_cvars(int category);
int64_t sp_pvars(int category);
int64_t sp_events(int category);
int64_t sp_categories(int category);
int sp_at_root(int root, intptr_t comm);
int64_t sp_sum32(const void *array, int64_t n);
int64_t sp_last32(const void *array, int64_t n);

/* Aux words of a communicator or datatype that came out; returns how many. */
int sp_comm_aux(uint64_t aux[6], uint64_t comm, int of_group);
int sp_type_aux(uint64_t aux[5], uint64_t type);

/* ---- private statuses ---- */

#define SP_STATUS_BYTES 64 /* more than any flavour's */
#define SP_OWN_STATUSES 32

struct sp_own_status {
	uint64_t bytes[SP_STATUS_BYTES / 8];
};

/* Room for n statuses: `few` if they fit, else allocated. */
void *sp_statuses_new(int64_t n, void *few, size_t size);
void sp_statuses_free(void *array, void *few);

#endif
