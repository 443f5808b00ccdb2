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
#include "layers.h"
#include "phase.h"
#include "put.h"
#include "resolve.h"
#include "runtime.h"

/* Both names of a function, and what they have in common: the site, whether it is the PMPI_
   name, the parameters. */
#define FUNCTION(name, declared, ...)                                                     \
	SP_API int MPI_##name declared;                                                   \
	SP_PMPI int PMPI_##name declared;                                                 \
	int MPI_##name declared { return call_##name(__builtin_return_address(0), 0, ##__VA_ARGS__); }  \
	int PMPI_##name declared { return call_##name(__builtin_return_address(0), 1, ##__VA_ARGS__); }
#define COMMON static inline __attribute__((always_inline)) int
#define FORWARD(name, ...) (pmpi ? P_MPI_##name(__VA_ARGS__) : N_MPI_##name(__VA_ARGS__))

static inline __attribute__((always_inline)) int open_call(struct sp_thread *t, int handles, const void *site, int pmpi)
{
	return pmpi ? sp_open_pmpi(t, handles, site) : sp_open(t, handles, site);
}

int sp_open_start(struct sp_thread *t, const void *site, int pmpi)
{
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_UNRESOLVED)
		sp_resolve();
	if (pmpi)
		sp_layer_initialises(site);
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_EARLY && t->depth == 0) {
		sp_early_claim(t);
		return 1;
	}
	return open_call(t, 1, site, pmpi);
}

/* These end their record before sp_start and sp_finish, whose time isn't the
   program's. */

COMMON call_Init(const void *site, int pmpi, int *argc, char ***argv)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Init);
	const int64_t params[] = {(int64_t)(intptr_t)argc, (int64_t)(intptr_t)argv};
	if (!sp_open_start(t, site, pmpi)) {
		int rc = FORWARD(Init, argc, argv);
		if (rc == 0 && pmpi)
			sp_start_inside(site, SP_ID_MPI_Init, params);
		return rc;
	}
	sp_enter_Init(t, site, 0, argc, argv);
	sp_arrive("MPI_Init");
	sp_entered(t);
	__atomic_fetch_add(&sp_initialising, 1, __ATOMIC_SEQ_CST);
	int rc = FORWARD(Init, argc, argv);
	sp_back(t);
	sp_leave_Init(t, rc, argc, argv);
	if (rc == 0) {
		sp_start(SP_ID_MPI_Init, params);
		sp_started_inside(SP_ID_MPI_Init, params);
	}
	__atomic_fetch_sub(&sp_initialising, 1, __ATOMIC_SEQ_CST);
	sp_arrive_end();
	return rc;
}
FUNCTION(Init, (int *argc, char ***argv), argc, argv)

COMMON call_Init_thread(const void *site, int pmpi, int *argc, char ***argv, int required, int *provided)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Init_thread);
	const int64_t params[] = {(int64_t)(intptr_t)argc, (int64_t)(intptr_t)argv, required, (int64_t)(intptr_t)provided};
	if (!sp_open_start(t, site, pmpi)) {
		int rc = FORWARD(Init_thread, argc, argv, required, provided);
		if (rc == 0 && pmpi)
			sp_start_inside(site, SP_ID_MPI_Init_thread, params);
		return rc;
	}
	sp_enter_Init_thread(t, site, 0, argc, argv, required, provided);
	sp_arrive("MPI_Init_thread");
	sp_entered(t);
	__atomic_fetch_add(&sp_initialising, 1, __ATOMIC_SEQ_CST);
	int rc = FORWARD(Init_thread, argc, argv, required, provided);
	sp_back(t);
	sp_leave_Init_thread(t, rc, argc, argv, required, provided);
	if (rc == 0) {
		sp_start(SP_ID_MPI_Init_thread, params);
		sp_started_inside(SP_ID_MPI_Init_thread, params);
	}
	__atomic_fetch_sub(&sp_initialising, 1, __ATOMIC_SEQ_CST);
	sp_arrive_end();
	return rc;
}
FUNCTION(Init_thread, (int *argc, char ***argv, int required, int *provided), argc, argv, required, provided)

COMMON call_Finalize(const void *site, int pmpi)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Finalize);
	int open = open_call(t, 1, site, pmpi);
	if (open) {
		sp_enter_Finalize(t, site, 0);
		sp_entered(t);
		sp_leave_Finalize(t, 0);
	}
	int later = open && !pmpi && sp_finish_inside();
	if (open || t->depth == 0 || (pmpi && sp_is_layer(site))) {
		sp_arrive("MPI_Finalize");
		if (!later)
			sp_finish();
	}
	if (later)
		sp_push(t);
	int rc = pmpi ? P_MPI_Finalize() : N_MPI_Finalize();
	if (later) {
		sp_pop(t);
		sp_finish_missed();
	}
	sp_arrive_end();
	return rc;
}
FUNCTION(Finalize, (void))

COMMON call_Session_init(const void *site, int pmpi, intptr_t info, intptr_t errhandler, void *session)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Session_init);
	if (!sp_open_start(t, site, pmpi))
		return FORWARD(Session_init, info, errhandler, session);
	sp_enter_Session_init(t, site, 0, info, errhandler, session);
	sp_arrive("MPI_Session_init");
	sp_entered(t);
	int rc = FORWARD(Session_init, info, errhandler, session);
	sp_back(t);
	sp_leave_Session_init(t, rc, info, errhandler, session);
	if (rc == 0)
		sp_session_opened((intptr_t)sp_ldh(session), (const int64_t[]){info, errhandler, (int64_t)(intptr_t)session});
	sp_arrive_end();
	return rc;
}
FUNCTION(Session_init, (intptr_t info, intptr_t errhandler, void *session), info, errhandler, session)

COMMON call_Session_finalize(const void *site, int pmpi, void *session)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Session_finalize);
	if (!open_call(t, 1, site, pmpi))
		return FORWARD(Session_finalize, session);
	sp_enter_Session_finalize(t, site, 0, session);
	sp_entered(t);
	sp_leave_Session_finalize(t, 0, session);
	sp_session_closing();
	sp_push(t);
	int rc = FORWARD(Session_finalize, session);
	sp_pop(t);
	return rc;
}
FUNCTION(Session_finalize, (void *session), session)

static int is_on(const char *value)
{
	return strcasecmp(value, "on") == 0 || strcmp(value, "1") == 0 || strcasecmp(value, "true") == 0;
}

void sp_switch_by_info(const char *key, const char *value)
{
	if (key && value && (strcmp(key, "SPOOR_TRACING") == 0 || strcmp(key, "PILGRIM_TRACING") == 0))
		sp_switch(is_on(value));
}

COMMON call_Info_set(const void *site, int pmpi, intptr_t info, const char *key, const char *value)
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Info_set);
	int open = open_call(t, SP_HANDLES_MPI_Info_set, site, pmpi);
	if (open) {
		sp_enter_Info_set(t, site, 0, info, key, value);
		sp_entered(t);
	}
	int rc = FORWARD(Info_set, info, key, value);
	if (open) {
		sp_back(t);
		sp_leave_Info_set(t, rc, info, key, value);
	}
	if (open || t->depth == 0)
		sp_switch_by_info(key, value);
	return rc;
}
FUNCTION(Info_set, (intptr_t info, const char *key, const char *value), info, key, value)

/* The MPI's own Pcontrol does nothing; a layer's may look at further arguments, which are handed
   on as far as registers hold them. The calls that switch tracing off and on are recorded both: a
   phase of the program begins with either. */
COMMON call_Pcontrol(const void *site, int pmpi, int level, const int64_t more[5])
{
	struct sp_thread *t = &sp_self;
	sp_require(SP_ID_MPI_Pcontrol);
	if (level != 0 && t->depth == 0) /* else a Fortran wrapper does it */
		sp_switch(1);
	int open = open_call(t, SP_HANDLES_MPI_Pcontrol, site, pmpi);
	if (open) {
		if (level > 0 && (__atomic_load_n(&sp_extra, __ATOMIC_ACQUIRE) & SP_PHASES))
			sp_phase_begins_if_name(t, (const void *)(intptr_t)more[0]);
		sp_enter_Pcontrol(t, site, 0, level);
		sp_entered(t);
	}
	int rc = FORWARD(Pcontrol, level, more[0], more[1], more[2], more[3], more[4]);
	if (open) {
		sp_back(t);
		sp_leave_Pcontrol(t, rc, level);
	}
	if (open || t->depth == 0)
		sp_switch(level != 0);
	return rc;
}

#define PCONTROL(p, pmpi)                                                              \
	int p##MPI_Pcontrol(const int level, ...)                                      \
	{                                                                              \
		va_list list;                                                          \
		int64_t more[5];                                                       \
		va_start(list, level);                                                 \
		for (int i = 0; i < 5; i++)                                            \
			more[i] = va_arg(list, int64_t);                               \
		va_end(list);                                                          \
		return call_Pcontrol(__builtin_return_address(0), pmpi, level, more);  \
	}

SP_API int MPI_Pcontrol(const int level, ...);
SP_PMPI int PMPI_Pcontrol(const int level, ...);
PCONTROL(, 0)
PCONTROL(P, 1)

/* For programs that call MPI for their own ends, too, between 1 and 0: those calls of the thread
   by PMPI_ names aren't recorded. What `spoor proxy` writes is such a program. */
SP_API void spoor_apart(int on);
void spoor_apart(int on)
{
	sp_self.in[SP_HOOKED] += on ? 1 : sp_self.in[SP_HOOKED] > 0 ? -1u : 0;
}
