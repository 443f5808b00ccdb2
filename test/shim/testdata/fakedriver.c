/* Stands in for libcuda, or with -DHSA for AMD's libhsa-runtime64: it knows what the
   program's own "runtime" took by way of fake_take, of which nobody else hears. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

static struct {
	char *base;
	size_t size;
	int device; /* -1: the host's, pinned */
} taken[64];
static int n;

void *fake_take(size_t size, int device)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	taken[n].base = p;
	taken[n].size = size;
	taken[n++].device = device;
	return p;
}

static int find(uintptr_t p)
{
	for (int i = 0; i < n; i++)
		if (p - (uintptr_t)taken[i].base < taken[i].size)
			return i;
	return -1;
}

#ifdef HSA
struct info {
	uint32_t size, type;
	void *agent_base, *host_base;
	size_t bytes;
	void *user;
	uint64_t owner;
	uint32_t flags;
};

int hsa_amd_pointer_info(const void *p, struct info *out, void *alloc, uint32_t *agents, void *list)
{
	int i = find((uintptr_t)p);
	(void)alloc, (void)agents, (void)list;
	if (out->size != sizeof *out)
		return 1;
	out->type = i >= 0;
	if (i >= 0) {
		out->agent_base = taken[i].base;
		out->bytes = taken[i].size;
		out->owner = 1000 + (uint64_t)taken[i].device;
	}
	return 0;
}

int hsa_agent_get_info(uint64_t agent, int what, void *out)
{
	*(int *)out = agent >= 1000; /* a GPU; the host is 999 */
	return what != 17;
}
#else
int cuPointerGetAttribute(void *out, int what, uintptr_t p)
{
	int i = find(p);
	if (i < 0)
		return 1;
	switch (what) {
	case 2:
		*(unsigned *)out = taken[i].device < 0 ? 1 : 2;
		return 0;
	case 9:
		*(int *)out = taken[i].device;
		return 0;
	case 11:
		*(uintptr_t *)out = (uintptr_t)taken[i].base;
		return 0;
	case 12:
		*(size_t *)out = taken[i].size;
		return 0;
	}
	return 1;
}

int cuCtxGetDevice(int *d) { *d = 2; return 0; }

int cuMemAlloc_v2(uintptr_t *out, size_t size)
{
	*out = (uintptr_t)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return 0;
}

int cuMemFree_v2(uintptr_t p) { return p == 0; }
#endif
