/* relocate.c: memory in place of that which the original named by address. */
#include "private.h"

#include <string.h>
#include <sys/mman.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* Where no system puts anything of its own accord. What begins in a region may end
   behind it: each has twice its size. */
#define PLACE_OF(i) (((int64_t)1 << 46) + ((int64_t)(i) << 33))

static const int64_t *region;
static int regions;

void relocate_regions(int n, const int64_t *list)
{
	void *want = (void *)(uintptr_t)PLACE_OF(0);
	size_t size = (size_t)n << 33;
	int64_t *own = private_memory((size_t)n * sizeof *own);
	memcpy(own, list, (size_t)n * sizeof *own);
	region = own;
	regions = n;
	if (mmap(want, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != want)
		fail("no room at the addresses that all ranks have in common", NULL);
}

MPI_Aint relocate(int64_t n)
{
	if (n >> 40 == 0)
		return (MPI_Aint)n; /* on this rank it is no address */
	for (int i = 0; i < regions; i++)
		if (region[i] == n >> 32)
			return (MPI_Aint)(PLACE_OF(i) + (n & 0xffffffff));
	fail("an address in no region that was set aside", NULL);
	return 0;
}

void *relocate_all(int n, const int64_t *list)
{
	int64_t *to = room((size_t)n * sizeof *to);
	for (int i = 0; i < n; i++)
		to[i] = relocate(list[i]);
	return to;
}

/* Nobody is to see it. */
void attach_relocated(MPI_Win w)
{
	APART(PMPI_Win_attach(w, (void *)(uintptr_t)PLACE_OF(0), (MPI_Aint)regions << 33));
}
