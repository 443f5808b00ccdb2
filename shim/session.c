/*
 * session.c: programs that use MPI through sessions alone.
 *
 * They have no MPI_COMM_WORLD and no call that all processes make together at
 * the end, so nothing is merged here: the process directory stays, marked as
 * finished, for `spoor run` to merge.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "context.h"
#include "flavour.h"
#include "host.h"
#include "ring.h"
#include "runtime.h"

static int open_sessions;

static void find_world(intptr_t session)
{
	intptr_t group = 0;
	if (P_MPI_Group_from_session_pset(session, "mpi://WORLD", &group) != 0)
		return;
	sp_run.world_group = group;
	P_MPI_Group_rank(group, &sp_run.rank);
	P_MPI_Group_size(group, &sp_run.ranks);
}

void sp_session_opened(intptr_t session, const int64_t *params)
{
	__atomic_fetch_add(&open_sessions, 1, __ATOMIC_SEQ_CST);
	int early = __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_EARLY;
	if (!early && !sp_run.alone)
		return;
	if (!sp_run.world_group)
		find_world(session);
	if (early) {
		sp_run.alone = 1;
		sp_start_alone(SP_ID_MPI_Session_init, params);
	} else {
		sp_context_finished(0);
	}
}

void sp_session_closing(void)
{
	if (__atomic_sub_fetch(&open_sessions, 1, __ATOMIC_SEQ_CST) == 0 && !sp_run.late)
		sp_finish_alone();
}

void sp_finish_alone(void)
{
	if (!sp_run.alone || __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) > SP_MUTED)
		return;
	if (sp_run.world_group)
		P_MPI_Group_free(&sp_run.world_group);
	sp_run.world_group = 0;
	sp_late(&sp_self, sp_ticks());
	if (sp_host_drain()) {
		sp_context_finished(1);
		/* `spoor run` isn't there to do it where the launcher started it */
		const char *link = getenv("SPOOR_LINK"), *slash = link ? strrchr(link, '/') : NULL;
		if (slash && sp_run.rank == 0)
			sp_warn("rank 0 is recorded; make a trace of all ranks: spoor recover %.*s", (int)(slash - link), link);
	}
}
