/*
 * mpimem.c: memory that MPI gives out: MPI_Alloc_mem and allocated windows.
 *
 * Where the MPI took it from malloc it is a heap segment already. Else, as with
 * windows in shared mappings, it becomes a segment of its own here.
 */
#include "mpimem.h"

#include <pthread.h>

#include "segments.h"
#include "shim.h"

#define WINDOWS 1024 /* allocated windows alive at once whose memory is followed */

static struct {
	uint64_t win;
	void *base;
} windows[WINDOWS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int known(const void *base)
{
	uint64_t place[2];
	sp_locate(base, place);
	return place[0] >> 56 != SP_RAW;
}

int sp_memory_new(void *base, int64_t size)
{
	if (!base || size <= 0 || known(base))
		return 0;
	sp_segment_add(base, (size_t)size, (size_t)size, SP_MPIMEM, 0);
	return 1;
}

void sp_memory_window(uint64_t win, void *base, int64_t size)
{
	if (!sp_memory_new(base, size))
		return;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < WINDOWS; i++) {
		if (windows[i].base)
			continue;
		windows[i].win = win;
		windows[i].base = base;
		break;
	}
	pthread_mutex_unlock(&lock);
}

void sp_memory_free(const void *base)
{
	sp_segment_remove(base, 0);
}

void sp_memory_free_window(uint64_t win)
{
	void *base = NULL;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < WINDOWS; i++) {
		if (!windows[i].base || windows[i].win != win)
			continue;
		base = windows[i].base;
		windows[i].base = NULL;
		break;
	}
	pthread_mutex_unlock(&lock);
	if (base)
		sp_memory_free(base);
}
