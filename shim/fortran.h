/*
 * fortran.h: calls that come through a Fortran binding.
 *
 * Under Open MPI no Fortran call reaches the C functions; under MPICH those of
 * mpif.h and the mpi module do, but of mpi_f08 only those with a buffer. So
 * there is a wrapper in front of every Fortran procedure. It turns what Fortran
 * passes into what C would pass, records that with the functions that record
 * the C call, and forwards to the next procedure of the same name.
 *
 * Invariants
 *  1. The procedure behind gets the arguments as they came, but for a status
 *     that the program ignores, and an ierror that it left out: these are
 *     private variables.
 *  2. A wrapper counts as depth, so that the C function that the library may
 *     call isn't recorded again.
 *  3. Arguments are addresses, but for the lengths of characters, which follow
 *     at the end. In mpi_f08 with descriptors a buffer is a descriptor, whose
 *     first word is the address. Of a section with strides the record has its
 *     first element's address, and count and datatype as the program gave them.
 */
#ifndef SPOOR_FORTRAN_H
#define SPOOR_FORTRAN_H

#include "calls.h"
#include "put.h"
#include "trampoline.h"

/* How the procedure's name is made, and what goes with it. */
enum sp_f_form {
	SP_F_PLAIN, /* mpif.h and the mpi module */
	SP_F_TS,    /* the mpi module, where it has descriptors */
	SP_F_CPTR,  /* the same, with a TYPE(C_PTR) for an address */
	SP_F_08,
	SP_F_08TS, /* buffers are descriptors */
	SP_F_08_LARGE, /* MPICH before 4.2 */
	SP_F_08TS_LARGE,
	SP_F_08_C, /* the same under the standard's name, MPI_Send_c */
	SP_F_08TS_C,
	SP_F_08_LAST_C, /* the same, misspelt by Open MPI 6.0 */
	SP_F_FORMS,
	SP_F_PMPI = 16, /* added to one of these: the PMPI_ name of the procedure */
	SP_F_SLOTS = 2 * SP_F_PMPI
};

/* Of a name's four manglings only mpi_x_ is exported: mpi_x, mpi_x__ and MPI_X are more often functions of other
   libraries. What refers to the MPI's by them is led here by bind.c. */
#define SP_F_ALIAS(name, of) extern __typeof__(of) name SP_API __attribute__((alias(#of)))

/* ---- the procedures behind ---- */

void *sp_f_resolve(void **slot, const char *name, int form);

/* `name` without what the form adds; a slot for each form, with and without SP_F_PMPI. */
static inline void *sp_f_next(void **slots, const char *name, int form)
{
	void *p = __atomic_load_n(&slots[form], __ATOMIC_RELAXED);
	return sp_likely(p != NULL) ? p : sp_f_resolve(&slots[form], name, form);
}

/* Stands for a procedure that the MPI doesn't have; not to be called. */
void sp_f_absent(void);

static inline int sp_f_is_absent(const void *behind, void *f_ierror)
{
	if (sp_likely(behind != (const void *)sp_f_absent))
		return 0;
	if (f_ierror)
		*(int *)f_ierror = sp_unsupported();
	return 1;
}

/* ---- addresses that mean something else than memory ---- */

enum sp_f_special {
	SP_F_BOTTOM, SP_F_IN_PLACE, SP_F_AUTOMATIC, SP_F_STATUS, SP_F_STATUSES, SP_F_UNWEIGHTED, SP_F_WEIGHTS_EMPTY,
	SP_F_ERRCODES, SP_F_ARGV, SP_F_ARGVS, SP_F_SPECIALS
};

struct sp_sentinel;
extern const struct sp_sentinel sp_f_sentinels[SP_FLAVOURS][2][SP_F_SPECIALS]; /* generated */

/* What an address means, as enum sp_f_special; -1 for memory. */
int sp_f_special_slow(const void *p);

extern struct sp_f_range {
	uintptr_t lo, hi; /* of all specials; 1 and 0 before they are known */
	int known;
} sp_f_range;

static inline int sp_f_special(const void *p)
{
	uintptr_t a = (uintptr_t)p;
	if (sp_likely(sp_f_range.known && (a < sp_f_range.lo || a > sp_f_range.hi)))
		return -1;
	return sp_f_special_slow(p);
}

const void *sp_f_buffer_special(int special, const void *p);

static inline void *sp_f_buffer(void *arg, int form)
{
	int described = form == SP_F_TS || form == SP_F_08TS || form == SP_F_08TS_LARGE || form == SP_F_08TS_C;
	void *p = described ? *(void **)arg : arg;
	int special = sp_f_special(p);
	return sp_likely(special < 0) ? p : (void *)(uintptr_t)sp_f_buffer_special(special, p);
}

/* Arrays for which there is a special. */
static inline void *sp_f_array(void *p)
{
	int special = sp_f_special(p);
	return sp_likely(special < 0) ? p : (void *)(uintptr_t)sp_f_buffer_special(special, p);
}

static inline int sp_f_ignored(const void *p)
{
	int special = sp_f_special(p);
	return special == SP_F_STATUS || special == SP_F_STATUSES;
}

/* Statuses after a failure: Open MPI doesn't copy them back, so they hold
   anything. */
static inline void *sp_f_statuses(void *statuses, int rc)
{
	return rc && sp_fl.number == SPOOR_OPENMPI ? NULL : statuses;
}

/* ---- values ---- */

static inline int sp_f_logical(const void *p)
{
	return sp_ld32(p) != 0;
}

/* f2c: call id of the conversion function. */
static inline intptr_t sp_f_handle(const void *p, unsigned f2c)
{
	int v = (int)sp_ld32(p);
	if (sp_fl.handle_size == 4 || !sp_real[f2c])
		return (intptr_t)(uint32_t)v;
	return ((intptr_t (*)(int))sp_real[f2c])(v);
}

/* A pointer in C, whatever the other handles are. */
static inline intptr_t sp_f_file(const void *p)
{
	int v = (int)sp_ld32(p);
	return sp_real[SP_ID_MPI_File_f2c] ? ((intptr_t (*)(int))sp_real[SP_ID_MPI_File_f2c])(v) : v;
}

/* A position as C counts it; p holds what Fortran got, in an array of count. */
int sp_f_index(const void *p, int64_t count, int form);

/* Where mpif.h's MPI_Buffer_detach would find the address that it doesn't
   return. */
extern void *sp_f_attached;

/* ---- copies that live as long as the call ---- */

#define SP_F_POOL_BYTES 1024

struct sp_f_pool {
	size_t used;
	void *more; /* allocated blocks, each beginning with the next one's address */
	char bytes[SP_F_POOL_BYTES] __attribute__((aligned(16)));
};

void *sp_f_room(struct sp_f_pool *pool, size_t bytes);
void sp_f_free(struct sp_f_pool *pool);

static inline void sp_f_done(struct sp_f_pool *pool)
{
	if (sp_unlikely(pool->more != NULL))
		sp_f_free(pool);
}

/* n < 1: p itself, which nobody will look at. */
void *sp_f_handles(struct sp_f_pool *pool, void *p, int64_t n, unsigned f2c);
int *sp_f_logicals(struct sp_f_pool *pool, void *p, int64_t n);
int *sp_f_indices(struct sp_f_pool *pool, void *p, int64_t n, int64_t count, int form);
/* 32 bits to 64. */
int64_t *sp_f_widened(struct sp_f_pool *pool, void *p, int64_t n);

enum sp_f_strip {
	SP_F_OUTPUT, /* trailing blanks */
	SP_F_INPUT,  /* leading ones too, if the library does so */
	SP_F_INFO,   /* leading ones too */
};

/* A length that a compiler passed as 32 bits has rubbish above them. */
char *sp_f_string(struct sp_f_pool *pool, const void *p, size_t length, int strip);
/* MPI_Comm_spawn's: up to a blank element; n elements; n rows of the former. */
char **sp_f_argv(struct sp_f_pool *pool, const void *p, size_t length, int wanted);
char **sp_f_strings(struct sp_f_pool *pool, const void *p, size_t length, int64_t n);
char ***sp_f_argvs(struct sp_f_pool *pool, const void *p, size_t length, int64_t n);

/* ---- fortran_irregular.c: what shim/irregular.c does, for Fortran ---- */

void sp_f_Init(const void *site, int form, void *ierror);
void sp_f_Init_thread(const void *site, int form, void *required, void *provided, void *ierror);
void sp_f_Finalize(const void *site, int form, void *ierror);
void sp_f_Session_init(const void *site, int form, void *info, void *errhandler, void *session, void *ierror);
void sp_f_Session_finalize(const void *site, int form, void *session, void *ierror);
void sp_f_Info_set(const void *site, int form, void *info, void *key, void *value, void *ierror, size_t key_length,
	size_t value_length);
void sp_f_Pcontrol(const void *site, int form, void *level, void *ierror);

#endif
