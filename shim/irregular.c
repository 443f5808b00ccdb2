/*
 * irregular.c: functions that do more than pass through: they start, finish or
 * switch the recording. genshim's list `handwritten` names them.
 */
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "arrive.h"
#include "calls.h"
#include "context.h"
#include "phase.h"
#include "put.h"
#include "resolve.h"
#include "runtime.h"

SP_API int MPI_Init(int *argc, char ***argv);
SP_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
SP_API int MPI_Finalize(void);
SP_API int MPI_Session_init(intptr_t info, intptr_t errhandler, void *session);
SP_API int MPI_Session_finalize(void *session);
SP_API int MPI_Info_set(intptr_t info, const char *key, const char *value);
SP_API int MPI_Pcontrol(const int level, ...);

int sp_open_start(struct sp_thread *t, const void *site)
{
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_UNRESOLVED)
		sp_resolve();
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_EARLY && t->depth == 0) {
		sp_early_claim(t);
		return 1;
	}
	return sp_open(t, 1, site);
}

/* These end their record before sp_start and sp_finish, whose time isn't the
   program's. */

int MPI_Init(int *argc, char ***argv)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Init);
	if (!sp_open_start(t, __builtin_return_address(0)))
		return P_MPI_Init(argc, argv);
	sp_enter_Init(t, __builtin_return_address(0), 0, argc, argv);
	sp_arrive("MPI_Init");
	sp_entered(t);
	int rc = P_MPI_Init(argc, argv);
	sp_back(t);
	sp_leave_Init(t, rc, argc, argv);
	if (rc == 0)
		sp_start(SP_ID_MPI_Init, (const int64_t[]){(int64_t)(intptr_t)argc, (int64_t)(intptr_t)argv});
	sp_arrive_end();
	return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Init_thread);
	if (!sp_open_start(t, __builtin_return_address(0)))
		return P_MPI_Init_thread(argc, argv, required, provided);
	sp_enter_Init_thread(t, __builtin_return_address(0), 0, argc, argv, required, provided);
	sp_arrive("MPI_Init_thread");
	sp_entered(t);
	int rc = P_MPI_Init_thread(argc, argv, required, provided);
	sp_back(t);
	sp_leave_Init_thread(t, rc, argc, argv, required, provided);
	if (rc == 0)
		sp_start(SP_ID_MPI_Init_thread,
			(const int64_t[]){(int64_t)(intptr_t)argc, (int64_t)(intptr_t)argv, required, (int64_t)(intptr_t)provided});
	sp_arrive_end();
	return rc;
}

int MPI_Finalize(void)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Finalize);
	int open = sp_open(t, 1, __builtin_return_address(0));
	if (open) {
		sp_enter_Finalize(t, __builtin_return_address(0), 0);
		sp_entered(t);
		sp_leave_Finalize(t, 0);
	}
	if (open || t->depth == 0) {
		sp_arrive("MPI_Finalize");
		sp_finish();
	}
	int rc = P_MPI_Finalize();
	sp_arrive_end();
	return rc;
}

int MPI_Session_init(intptr_t info, intptr_t errhandler, void *session)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Session_init);
	if (!sp_open_start(t, __builtin_return_address(0)))
		return P_MPI_Session_init(info, errhandler, session);
	sp_enter_Session_init(t, __builtin_return_address(0), 0, info, errhandler, session);
	sp_arrive("MPI_Session_init");
	sp_entered(t);
	int rc = P_MPI_Session_init(info, errhandler, session);
	sp_back(t);
	sp_leave_Session_init(t, rc, info, errhandler, session);
	if (rc == 0)
		sp_session_opened((intptr_t)sp_ldh(session), (const int64_t[]){info, errhandler, (int64_t)(intptr_t)session});
	sp_arrive_end();
	return rc;
}

int MPI_Session_finalize(void *session)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Session_finalize);
	if (!sp_open(t, 1, __builtin_return_address(0)))
		return P_MPI_Session_finalize(session);
	sp_enter_Session_finalize(t, __builtin_return_address(0), 0, session);
	sp_entered(t);
	sp_leave_Session_finalize(t, 0, session);
	sp_session_closing();
	sp_push(t);
	int rc = P_MPI_Session_finalize(session);
	sp_pop(t);
	return rc;
}

static int is_on(const char *value)
{
	return strcasecmp(value, "on") == 0 || strcmp(value, "1") == 0 || strcasecmp(value, "true") == 0;
}

void sp_switch_by_info(const char *key, const char *value)
{
	if (key && value && (strcmp(key, "SPOOR_TRACING") == 0 || strcmp(key, "PILGRIM_TRACING") == 0))
		sp_switch(is_on(value));
}

int MPI_Info_set(intptr_t info, const char *key, const char *value)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Info_set);
	int open = sp_open(t, SP_HANDLES_MPI_Info_set, __builtin_return_address(0));
	if (open) {
		sp_enter_Info_set(t, __builtin_return_address(0), 0, info, key, value);
		sp_entered(t);
	}
	int rc = P_MPI_Info_set(info, key, value);
	if (open) {
		sp_back(t);
		sp_leave_Info_set(t, rc, info, key, value);
	}
	if (open || t->depth == 0)
		sp_switch_by_info(key, value);
	return rc;
}

/* The further arguments mean something to other tools only; a real PMPI_Pcontrol
   does nothing at all. The calls that switch tracing off and on are recorded both:
   a phase of the program begins with either. */
int MPI_Pcontrol(const int level, ...)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Pcontrol);
	if (level != 0 && t->depth == 0) /* else a Fortran wrapper does it */
		sp_switch(1);
	int open = sp_open(t, SP_HANDLES_MPI_Pcontrol, __builtin_return_address(0));
	if (open) {
		if (level > 0 && (__atomic_load_n(&sp_extra, __ATOMIC_ACQUIRE) & SP_PHASES)) {
			va_list more;
			va_start(more, level);
			sp_phase_begins_if_name(t, va_arg(more, const void *));
			va_end(more);
		}
		sp_enter_Pcontrol(t, __builtin_return_address(0), 0, level);
		sp_entered(t);
	}
	int rc = P_MPI_Pcontrol(level);
	if (open) {
		sp_back(t);
		sp_leave_Pcontrol(t, rc, level);
	}
	if (open || t->depth == 0)
		sp_switch(level != 0);
	return rc;
}
