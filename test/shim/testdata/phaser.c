/* A plugin that begins phases: with a call, and behind one. */
#include <spoor.h>
#include <stddef.h>
#include <string.h>

static const spoor_api *api;

int spoor_init(const spoor_api *a)
{
	api = a;
	return a->size < offsetof(spoor_api, phase) + sizeof a->phase;
}

void spoor_pre(const spoor_call *call)
{
	if (strcmp(call->name, "MPI_Bcast") == 0)
		api->phase(call, "broadcast");
}

void spoor_post(const spoor_call *call)
{
	if (strcmp(call->name, "MPI_Reduce") == 0)
		api->phase(call, "behind");
}
