/* A plugin that attaches what it sees, calls MPI itself, and goes wrong on request. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spoor.h>

static const spoor_api *spoor;
static int32_t tag, calls, results, depth, sizes, moved, gaps, took;
static __thread int inside;
static __thread uint64_t sequence, of[8];
static __thread const void *from[8];

int spoor_init(const spoor_api *api)
{
	const char *wrong = getenv("WRONG");
	int n = -1;
	if (wrong && strcmp(wrong, "crash") == 0)
		*(volatile int *)8 = 1;
	if (wrong && strcmp(wrong, "abort") == 0)
		abort();
	if (wrong && strcmp(wrong, "refuse") == 0)
		return 3;
	if (api->abi != SPOOR_PLUGIN_ABI || api->size < sizeof *api)
		return 1;
	spoor = api;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n != api->ranks || api->value("") != -1)
		return 2;
	tag = api->value("tag");
	calls = api->value("calls");
	results = api->value("result");
	depth = api->value("depth");
	sizes = api->value("received");
	moved = api->value("bytes");
	gaps = api->value("gap");
	took = api->value("took");
	return api->value("tag") == tag ? 0 : 4;
}

#ifndef NO_PRE
void spoor_pre(const spoor_call *call)
{
	int flag, i = spoor->find(call, "tag");
	if (call->returned || call->nparams > 0 && !spoor->kind(call, 0) || spoor->name(call, call->nparams))
		abort();
	if (i >= 0 && strcmp(spoor->kind(call, i), "tag") == 0)
		spoor->attach(call, tag, call->params[i]);
	spoor->attach(call, calls, 1);
	if (sequence && call->sequence != sequence + 1)
		abort();
	of[inside] = sequence = call->sequence;
	from[inside] = call->site;
	if (!call->site)
		abort();
	if (spoor->bytes(call) >= 0)
		spoor->attach(call, moved, spoor->bytes(call));
	spoor->attach(call, gaps, (int64_t)call->elapsed);
	spoor->attach(call, depth, inside++);
	MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE); /* nobody's business */
}

void spoor_post(const spoor_call *call)
{
	if (strncmp(call->name, "MPI_Init", 8) != 0) /* which has no spoor_pre */
		inside--;
	if (strncmp(call->name, "MPI_Init", 8) != 0 && (call->sequence != of[inside] || call->site != from[inside]))
		abort();
	spoor->attach(call, took, (int64_t)call->elapsed);
	if (!call->returned || strncmp(call->name, "MPI_Init_thread", 15) == 0 && call->params[2] != MPI_THREAD_MULTIPLE)
		abort();
	spoor->attach(call, results, call->result);
	int i = spoor->find(call, "recvbuf");
	if (strcmp(call->name, "MPI_Sendrecv") == 0)
		spoor->attach(call, sizes, *(int *)(intptr_t)call->params[i]);
}
#endif
