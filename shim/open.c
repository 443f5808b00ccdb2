/*
 * open.c: whether a call is recorded, where that isn't plain: other modes than the usual
 * one, calls within calls, calls by PMPI_ names.
 */
#include "calls.h"
#include "layers.h"
#include "resolve.h"
#include "ring.h"
#include "runtime.h"

/* No call of the program's is under way. */
static int may_record(struct sp_thread *t, int mode, int handles)
{
	if (t->in[SP_HOOKED])
		return 0;
	if (mode == SP_MUTED && !handles)
		return 0;
	if (t->writing || t->depth >= SP_MAX_OPEN) {
		sp_drop(2);
		return 0;
	}
	if (mode == SP_EARLY)
		return sp_early_open(t);
	return 1;
}

static int mode_now(void)
{
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) == SP_UNRESOLVED)
		sp_resolve();
	return __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE);
}

int sp_open_slow(struct sp_thread *t, int handles, const void *site, uint64_t cfa)
{
	int mode = mode_now();
	if (mode == SP_OFF)
		return 0;
	if (t->depth || t->writing) {
		if (sp_is_below(site))
			return 0;
		sp_close_left(t, cfa);
	}
	return may_record(t, mode, handles);
}

int sp_open_pmpi_slow(struct sp_thread *t, int handles, const void *site, uint64_t cfa)
{
	int mode = mode_now();
	if (mode == SP_OFF)
		return 0;
	if (mode == SP_EARLY)
		sp_layer_calls(site, handles);
	if (sp_is_below(site))
		return 0;
	if (t->depth || t->writing)
		sp_close_left(t, cfa);
	return !t->depth && may_record(t, mode, handles);
}
