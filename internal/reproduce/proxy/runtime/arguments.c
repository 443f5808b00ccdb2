/* arguments.c: arrays and texts that calls are given, until the call is over. */
#include "private.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

_Thread_local int flag, number[8];
_Thread_local MPI_Aint aint[4];
_Thread_local MPI_Count count64[4];
_Thread_local MPI_Offset offset[4];
_Thread_local MPI_Status status;
_Thread_local void *pointer;

void *private_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		fail("no memory", strerror(errno));
	return p;
}

static _Thread_local struct {
	char *at, *end;
	char *block[64];
	int blocks;
} scrap;

void *room(size_t bytes)
{
	bytes = (bytes + 63) & ~(size_t)63;
	if ((size_t)(scrap.end - scrap.at) < bytes) {
		size_t size = bytes > 1 << 20 ? bytes : 1 << 20;
		if (scrap.blocks == 64)
			fail("too many arguments", NULL);
		scrap.at = scrap.block[scrap.blocks++] = private_memory(size);
		scrap.end = scrap.at + size;
	}
	void *p = scrap.at;
	scrap.at += bytes;
	return p;
}

char *text(size_t bytes)
{
	char *p = room(bytes + 1);
	p[0] = 0;
	return p;
}

void *ramp32(int runs, const int64_t *run)
{
	size_t n = 0, at = 0;
	for (int i = 0; i < runs; i++)
		n += (size_t)run[3 * i + 2];
	int32_t *a = room(n * sizeof *a);
	for (int i = 0; i < runs; i++, run += 3)
		for (int64_t k = 0; k < run[2]; k++)
			a[at++] = (int32_t)(run[0] + run[1] * k);
	return a;
}

void *ramp64(int runs, const int64_t *run)
{
	size_t n = 0, at = 0;
	for (int i = 0; i < runs; i++)
		n += (size_t)run[3 * i + 2];
	int64_t *a = room(n * sizeof *a);
	for (int i = 0; i < runs; i++, run += 3)
		for (int64_t k = 0; k < run[2]; k++)
			a[at++] = run[0] + run[1] * k;
	return a;
}

void *row32(const int64_t *table, int n)
{
	int32_t *a = room((size_t)n * sizeof *a);
	for (int i = 0; i < n; i++)
		a[i] = (int32_t)table[(size_t)member * (size_t)n + (size_t)i];
	return a;
}

void *row64(const int64_t *table, int n)
{
	int64_t *a = room((size_t)n * sizeof *a);
	memcpy(a, table + (size_t)member * (size_t)n, (size_t)n * sizeof *a);
	return a;
}

void *no_types(void *array, int n)
{
	for (int i = 0; i < n; i++)
		((MPI_Datatype *)array)[i] = MPI_DATATYPE_NULL;
	return array;
}

MPI_Status *statuses(int64_t n)
{
	return room((size_t)(n > 0 ? n : 1) * sizeof(MPI_Status));
}

MPI_Status *status_of(int source, int tag, int64_t bytes, int cancelled)
{
	MPI_Status *s = room(sizeof *s);
	memset(s, 0, sizeof *s);
	APART(PMPI_Status_set_cancelled(s, cancelled));
	if (bytes >= 0)
		APART(PMPI_Status_set_elements_x(s, MPI_BYTE, bytes));
	s->MPI_SOURCE = source;
	s->MPI_TAG = tag;
	return s;
}

MPI_Status *status_empty(void)
{
	return status_of(MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
}

MPI_Fint *fstatus_of(MPI_Status *s)
{
	MPI_Fint *f = room(sizeof(MPI_Status) * 2);
	APART(PMPI_Status_c2f(s, f));
	return f;
}

void arguments_over(void)
{
	while (scrap.blocks > 1)
		munmap(scrap.block[--scrap.blocks], 1 << 20);
	if (scrap.blocks)
		scrap.at = scrap.block[0], scrap.end = scrap.at + (1 << 20);
}

int64_t mod(int64_t a, int64_t m)
{
	a %= m;
	return a < 0 ? a + m : a;
}
