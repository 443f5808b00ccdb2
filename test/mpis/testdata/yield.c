// MPICH over UCX never leaves its core while it waits: with more ranks than cores, a barrier takes as many slices of
// the scheduler as there are ranks. Preloaded, this gives the core away each time when there was nothing to do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker)
{
	static unsigned (*real)(void *);
	if (!real) // RTLD_NEXT does not reach what a program loads for itself alone
		real = (unsigned (*)(void *))dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
	unsigned done = real(worker);
	if (!done)
		sched_yield();
	return done;
}
