/*
 * gpuask.c: memory that a statically linked runtime allocates on a device. No
 * allocation is seen, but the driver below it, which is always a shared library,
 * tells of an address what it belongs to. It is asked when a call uses an address
 * that nobody knows, and what it says becomes a segment.
 *
 * That such memory is freed isn't seen either: what is allocated there later
 * passes for the same, unless it begins elsewhere.
 */
#include "gpuask.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "shim.h"

/* CUpointer_attribute and CUmemorytype of CUDA's driver. */
enum { CU_MEMORY_TYPE = 2, CU_DEVICE_ORDINAL = 9, CU_RANGE_START = 11, CU_RANGE_SIZE = 12, CU_TYPE_HOST = 1 };

/* The driver of AMD: hsa_amd_pointer_info_t, and what an agent is asked. */
enum { HSA_TYPE_HSA = 1, HSA_AGENT_DEVICE = 17, HSA_DEVICE_GPU = 1 };

struct hsa_info {
	uint32_t size, type;
	void *agent_base, *host_base;
	size_t bytes;
	void *user;
	uint64_t owner;
	uint32_t flags;
};

#define MAX_AGENTS 64

static struct {
	int there;
	unsigned long long loads; /* how many libraries had been loaded when they were looked for */
	int (*cu)(void *, int, uintptr_t);
	int (*hsa)(const void *, struct hsa_info *, void *, uint32_t *, void *);
	int (*hsa_agent)(uint64_t, int, void *);
} driver;

/* Where no driver is there, so many addresses lead to a look for one at once, and then each
   so manieth. */
#define OFTEN 64

static int lock;
static unsigned asked;
static uint64_t agents[MAX_AGENTS]; /* GPUs in the order in which they were met */
static unsigned nagents;

static int count_loads(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	*(unsigned long long *)data = info->dlpi_adds;
	return 1;
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *file = slash ? slash + 1 : info->dlpi_name;
	int cuda = strncmp(file, "libcuda.so", 10) == 0;
	if (!cuda && strncmp(file, "libhsa-runtime64.so", 19) != 0)
		return 0;
	void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return 0;
	if (cuda) {
		*(void **)&driver.cu = dlsym(handle, "cuPointerGetAttribute");
	} else {
		*(void **)&driver.hsa_agent = dlsym(handle, "hsa_agent_get_info");
		if (driver.hsa_agent)
			*(void **)&driver.hsa = dlsym(handle, "hsa_amd_pointer_info");
	}
	dlclose(handle);
	return 0;
}

static int ask_cuda(uint64_t addr, struct sp_gpu_range *out)
{
	unsigned type = 0;
	int device = 0;
	uintptr_t base = 0;
	size_t size = 0;
	if (driver.cu(&type, CU_MEMORY_TYPE, addr) || type == CU_TYPE_HOST || driver.cu(&base, CU_RANGE_START, addr) ||
	    driver.cu(&size, CU_RANGE_SIZE, addr) || driver.cu(&device, CU_DEVICE_ORDINAL, addr))
		return 0;
	*out = (struct sp_gpu_range){base, size, (unsigned)device + 1};
	return 1;
}

/* 1 + the number of a GPU; 0 if there are too many. */
static unsigned number_of(uint64_t agent)
{
	unsigned n = 0;
	while (n < nagents && agents[n] != agent)
		n++;
	if (n == MAX_AGENTS)
		return 0;
	if (n == nagents)
		agents[nagents++] = agent;
	return n + 1;
}

static int ask_hsa(uint64_t addr, struct sp_gpu_range *out)
{
	struct hsa_info info = {.size = sizeof info};
	int device = 0;
	if (driver.hsa((const void *)(uintptr_t)addr, &info, NULL, NULL, NULL) || info.type != HSA_TYPE_HSA ||
	    driver.hsa_agent(info.owner, HSA_AGENT_DEVICE, &device) || device != HSA_DEVICE_GPU)
		return 0;
	*out = (struct sp_gpu_range){(uint64_t)(uintptr_t)info.agent_base, info.bytes, number_of(info.owner)};
	return out->device > 0;
}

int sp_gpu_ask(uint64_t addr, struct sp_gpu_range *out)
{
	struct sp_tables *tables = sp_tables(&sp_self);
	if (!tables)
		return 0;
	uint64_t *page = &tables->host[addr >> 12 & (SP_HOST_PAGES - 1)];
	if (*page == (addr >> 12) + 1)
		return 0;
	*page = (addr >> 12) + 1;
	unsigned n = __atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED);
	if (!__atomic_load_n(&driver.there, __ATOMIC_RELAXED) && n > OFTEN && n % OFTEN)
		return 0;
	int before = errno, found = 0;
	unsigned long long loads = 0;
	dl_iterate_phdr(count_loads, &loads);
	/* Not where this interrupted the same, or another thread is at it. */
	if (!__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
		if (loads != driver.loads) {
			driver.loads = loads;
			dl_iterate_phdr(look, NULL);
			__atomic_store_n(&driver.there, driver.cu || driver.hsa, __ATOMIC_RELAXED);
		}
		found = (driver.cu && ask_cuda(addr, out)) || (driver.hsa && ask_hsa(addr, out));
		found = found && addr - out->base < out->size;
		__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	} else {
		*page = 0;
	}
	if (found)
		*page = 0;
	errno = before;
	return found;
}
