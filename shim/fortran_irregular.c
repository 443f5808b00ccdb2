/* fortran_irregular.c: what shim/irregular.c does, for Fortran. The exported
   names are generated. */
#include "arrive.h"
#include "flavour.h"
#include "fortran.h"
#include "layers.h"
#include "runtime.h"

typedef void with_error(void *ierror);

/* mpi_f08 lets programs leave ierror out. */
static void *error_or(void *ierror, int *own)
{
	return ierror ? ierror : own;
}

static int open_call(struct sp_thread *t, int handles, const void *site, int pmpi)
{
	return pmpi ? sp_open_pmpi(t, handles, site) : sp_open(t, handles, site);
}

void sp_f_Init(const void *site, int form, void *ierror)
{
	static void *next[SP_F_SLOTS];
	struct sp_thread *t = &sp_self;
	with_error *real;
	int own = 0;
	*(void **)&real = sp_f_next(next, "mpi_init", form);
	if (sp_f_is_absent(*(void **)&real, ierror))
		return;
	const int64_t params[] = {0, 0};
	int *error = error_or(ierror, &own);
	if (!sp_open_start(t, site, form & SP_F_PMPI)) {
		real(error);
		if (*error == 0 && (form & SP_F_PMPI))
			sp_start_inside(site, SP_ID_MPI_Init, params);
		return;
	}
	sp_enter_Init(t, site, SP_FORTRAN_FLAG, NULL, NULL);
	sp_arrive("MPI_Init");
	sp_entered(t);
	__atomic_fetch_add(&sp_initialising, 1, __ATOMIC_SEQ_CST);
	real(error);
	sp_back(t);
	sp_leave_Init(t, *error, NULL, NULL);
	if (*error == 0 && t->depth == 0) {
		sp_start(SP_ID_MPI_Init, params);
		sp_started_inside(SP_ID_MPI_Init, params);
	}
	__atomic_fetch_sub(&sp_initialising, 1, __ATOMIC_SEQ_CST);
	sp_arrive_end();
}

void sp_f_Init_thread(const void *site, int form, void *required, void *provided, void *ierror)
{
	static void *next[SP_F_SLOTS];
	struct sp_thread *t = &sp_self;
	void (*real)(void *, void *, void *);
	int own = 0;
	*(void **)&real = sp_f_next(next, "mpi_init_thread", form);
	if (sp_f_is_absent(*(void **)&real, ierror))
		return;
	int *error = error_or(ierror, &own), level = (int)sp_ld32(required);
	const int64_t params[] = {0, 0, level, (int64_t)(intptr_t)provided};
	if (!sp_open_start(t, site, form & SP_F_PMPI)) {
		real(required, provided, error);
		if (*error == 0 && (form & SP_F_PMPI))
			sp_start_inside(site, SP_ID_MPI_Init_thread, params);
		return;
	}
	sp_enter_Init_thread(t, site, SP_FORTRAN_FLAG, NULL, NULL, level, provided);
	sp_arrive("MPI_Init_thread");
	sp_entered(t);
	__atomic_fetch_add(&sp_initialising, 1, __ATOMIC_SEQ_CST);
	real(required, provided, error);
	sp_back(t);
	sp_leave_Init_thread(t, *error, NULL, NULL, level, provided);
	if (*error == 0 && t->depth == 0) {
		sp_start(SP_ID_MPI_Init_thread, params);
		sp_started_inside(SP_ID_MPI_Init_thread, params);
	}
	__atomic_fetch_sub(&sp_initialising, 1, __ATOMIC_SEQ_CST);
	sp_arrive_end();
}

void sp_f_Finalize(const void *site, int form, void *ierror)
{
	static void *next[SP_F_SLOTS];
	struct sp_thread *t = &sp_self;
	with_error *real;
	*(void **)&real = sp_f_next(next, "mpi_finalize", form);
	if (sp_f_is_absent(*(void **)&real, ierror))
		return;
	int open = open_call(t, 1, site, form & SP_F_PMPI);
	if (open) {
		sp_enter_Finalize(t, site, SP_FORTRAN_FLAG);
		sp_entered(t);
		sp_leave_Finalize(t, 0);
	}
	int later = open && !(form & SP_F_PMPI) && sp_finish_inside();
	if (open || t->depth == 0 || ((form & SP_F_PMPI) && sp_is_layer(site))) {
		sp_arrive("MPI_Finalize");
		if (!later)
			sp_finish();
	}
	if (later)
		sp_push(t);
	real(ierror);
	if (later) {
		sp_pop(t);
		sp_finish_missed();
	}
	sp_arrive_end();
}

void sp_f_Session_init(const void *site, int form, void *info, void *errhandler, void *session, void *ierror)
{
	static void *next[SP_F_SLOTS];
	struct sp_thread *t = &sp_self;
	void (*real)(void *, void *, void *, void *);
	int own = 0;
	*(void **)&real = sp_f_next(next, "mpi_session_init", form);
	if (sp_f_is_absent(*(void **)&real, ierror))
		return;
	if (!sp_open_start(t, site, form & SP_F_PMPI)) {
		real(info, errhandler, session, ierror);
		return;
	}
	int *error = error_or(ierror, &own);
	intptr_t c_info = sp_f_handle(info, SP_ID_MPI_Info_f2c), c_session = 0;
	intptr_t c_errhandler = sp_f_handle(errhandler, SP_ID_MPI_Errhandler_f2c);
	sp_enter_Session_init(t, site, SP_FORTRAN_FLAG, c_info, c_errhandler, &c_session);
	sp_arrive("MPI_Session_init");
	sp_entered(t);
	real(info, errhandler, session, error);
	sp_back(t);
	if (*error == 0)
		c_session = sp_f_handle(session, SP_ID_MPI_Session_f2c);
	sp_leave_Session_init(t, *error, c_info, c_errhandler, &c_session);
	if (*error == 0 && t->depth == 0)
		sp_session_opened(c_session, (const int64_t[]){c_info, c_errhandler, (int64_t)(intptr_t)&c_session});
	sp_arrive_end();
}

void sp_f_Session_finalize(const void *site, int form, void *session, void *ierror)
{
	static void *next[SP_F_SLOTS];
	struct sp_thread *t = &sp_self;
	void (*real)(void *, void *);
	*(void **)&real = sp_f_next(next, "mpi_session_finalize", form);
	if (sp_f_is_absent(*(void **)&real, ierror))
		return;
	int open = open_call(t, 1, site, form & SP_F_PMPI);
	if (open) {
		intptr_t c_session = sp_f_handle(session, SP_ID_MPI_Session_f2c);
		sp_enter_Session_finalize(t, site, SP_FORTRAN_FLAG, &c_session);
		sp_entered(t);
		sp_leave_Session_finalize(t, 0, &c_session);
		sp_session_closing();
	}
	if (open)
		sp_push(t);
	real(session, ierror);
	if (open)
		sp_pop(t);
}

/* These two switch recording, so they count as depth even when it is off: the
   C function would switch too, inside of the record. */

void sp_f_Info_set(const void *site, int form, void *info, void *key, void *value, void *ierror, size_t key_length,
	size_t value_length)
{
	static void *next[SP_F_SLOTS];
	struct sp_thread *t = &sp_self;
	struct sp_f_pool pool = {.used = 0};
	void (*real)(void *, void *, void *, void *, size_t, size_t);
	int own = 0;
	*(void **)&real = sp_f_next(next, "mpi_info_set", form);
	if (sp_f_is_absent(*(void **)&real, ierror))
		return;
	int open = open_call(t, SP_HANDLES_MPI_Info_set, site, form & SP_F_PMPI);
	int *error = error_or(ierror, &own);
	intptr_t c_info = open ? sp_f_handle(info, SP_ID_MPI_Info_f2c) : 0;
	char *c_key = sp_f_string(&pool, key, key_length, SP_F_INFO);
	char *c_value = sp_f_string(&pool, value, value_length, SP_F_INFO);
	if (open)
		sp_enter_Info_set(t, site, SP_FORTRAN_FLAG, c_info, c_key, c_value);
	sp_push(t);
	if (open)
		sp_mark(&t->writing, t->shut);
	real(info, key, value, error, key_length, value_length);
	if (open) {
		sp_back(t);
		sp_leave_Info_set(t, *error, c_info, c_key, c_value);
	} else {
		sp_pop(t);
	}
	if (open || t->depth == 0)
		sp_switch_by_info(c_key, c_value);
	sp_f_done(&pool);
}

/* The standard has no ierror here, some modules have: it is passed on, but
   never looked at. */
void sp_f_Pcontrol(const void *site, int form, void *level, void *ierror)
{
	static void *next[SP_F_SLOTS];
	struct sp_thread *t = &sp_self;
	void (*real)(void *, void *);
	*(void **)&real = sp_f_next(next, "mpi_pcontrol", form);
	if (sp_f_is_absent(*(void **)&real, ierror))
		return;
	int n = (int)sp_ld32(level);
	if (n != 0 && t->depth == 0)
		sp_switch(1);
	int open = open_call(t, SP_HANDLES_MPI_Pcontrol, site, form & SP_F_PMPI);
	if (open)
		sp_enter_Pcontrol(t, site, SP_FORTRAN_FLAG, n);
	sp_push(t);
	if (open)
		sp_mark(&t->writing, t->shut);
	real(level, ierror);
	if (open) {
		sp_back(t);
		sp_leave_Pcontrol(t, 0, n);
	} else {
		sp_pop(t);
	}
	if (open || t->depth == 0)
		sp_switch(n != 0);
}
