/*
 * gpu.c: device memory is a segment too. The allocation functions of the CUDA
 * and HIP runtimes and of CUDA's driver are forwarded to the library that the
 * program loaded; where there is none, they fail as a missing device would.
 *
 * Calls of a runtime that is linked statically into the program can't be seen
 * from here: see gpuask.c.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "segments.h"
#include "shim.h"

#define NO_DEVICE 100 /* cudaErrorNoDevice, hipErrorNoDevice */

struct search {
	const char *library, *symbol;
	void *found;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	struct search *s = data;
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *file = slash ? slash + 1 : info->dlpi_name;
	if (strncmp(file, s->library, strlen(s->library)) != 0)
		return 0;
	void *handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		s->found = dlsym(handle, s->symbol);
		dlclose(handle);
	}
	return s->found != NULL;
}

/* The next definition in search order, else the one of a library that was
   loaded with local scope. */
static void *runtime_symbol(void **slot, const char *library, const char *symbol)
{
	void *f = __atomic_load_n(slot, __ATOMIC_RELAXED);
	if (f)
		return f;
	f = dlsym(RTLD_NEXT, symbol);
	if (!f) {
		struct search s = {library, symbol, NULL};
		dl_iterate_phdr(visit, &s);
		f = s.found;
	}
	__atomic_store_n(slot, f, __ATOMIC_RELAXED);
	return f;
}

/* Where new memory goes: 1 + number of the thread's current device. */
static unsigned device_of(const char *library, const char *symbol, void **slot)
{
	int (*get)(int *) = runtime_symbol(slot, library, symbol);
	int device = 0;
	return get && get(&device) == 0 ? (unsigned)device + 1 : 1;
}

/* A runtime may call itself, or the driver, by these names: the outermost call tells. */
static __thread int inside __attribute__((tls_model("initial-exec")));

struct extent {
	size_t width, height, depth;
};

struct pitched {
	void *ptr;
	size_t pitch, xsize, ysize;
};

#define FAMILY(prefix, library) \
	static unsigned prefix##_device(void) \
	{ \
		static void *slot; \
		return device_of(library, #prefix "GetDevice", &slot); \
	}

/* An allocation function: it gave `bytes` at `memory` if it has an `out`. */
#define ALLOCATES(prefix, library, name, params, args, types, memory, bytes, class, device) \
	SP_API int prefix##name params; \
	SP_API int prefix##name params \
	{ \
		static void *slot; \
		int (*f) types = runtime_symbol(&slot, library, #prefix #name); \
		inside++; \
		int rc = f ? f args : NO_DEVICE; \
		if (--inside == 0 && rc == 0 && out) \
			sp_segment_add((void *)(memory), bytes, bytes, class, device); \
		return rc; \
	}

#define ALLOC(prefix, library, name, params, args, types, bytes, class, device) \
	ALLOCATES(prefix, library, name, params, args, types, *out, bytes, class, device)

#define FREE(prefix, library, name, params, args, types) FREES(prefix, library, name, params, args, types, mem)

#define FREES(prefix, library, name, params, args, types, memory) \
	SP_API int prefix##name params; \
	SP_API int prefix##name params \
	{ \
		static void *slot; \
		int (*f) types = runtime_symbol(&slot, library, #prefix #name); \
		if (inside == 0) \
			sp_segment_remove((void *)(memory), 0); \
		inside++; \
		int rc = f ? f args : NO_DEVICE; \
		inside--; \
		return rc; \
	}

#define COMMON(p, lib) \
	FAMILY(p, lib) \
	ALLOC(p, lib, Malloc, (void **out, size_t n), (out, n), (void **, size_t), n, SP_DEVICE, p##_device()) \
	ALLOC(p, lib, MallocManaged, (void **out, size_t n, unsigned flags), (out, n, flags), (void **, size_t, unsigned), n, \
	      SP_DEVICE, p##_device()) \
	ALLOC(p, lib, MallocAsync, (void **out, size_t n, void *stream), (out, n, stream), (void **, size_t, void *), n, \
	      SP_DEVICE, p##_device()) \
	ALLOC(p, lib, MallocPitch, (void **out, size_t *pitch, size_t w, size_t h), (out, pitch, w, h), \
	      (void **, size_t *, size_t, size_t), *pitch *h, SP_DEVICE, p##_device()) \
	ALLOC(p, lib, MallocFromPoolAsync, (void **out, size_t n, void *pool, void *stream), (out, n, pool, stream), \
	      (void **, size_t, void *, void *), n, SP_DEVICE, p##_device()) \
	ALLOCATES(p, lib, Malloc3D, (struct pitched * out, struct extent n), (out, n), (struct pitched *, struct extent), \
		  out->ptr, out->pitch *n.height *n.depth, SP_DEVICE, p##_device()) \
	ALLOC(p, lib, HostAlloc, (void **out, size_t n, unsigned flags), (out, n, flags), (void **, size_t, unsigned), n, \
	      SP_HEAP, 0) \
	FREE(p, lib, Free, (void *mem), (mem), (void *)) \
	FREE(p, lib, FreeAsync, (void *mem, void *stream), (mem, stream), (void *, void *))

#define MALLOC_HOST(p, lib) \
	ALLOC(p, lib, MallocHost, (void **out, size_t n), (out, n), (void **, size_t), n, SP_HEAP, 0)

COMMON(cuda, "libcudart.so")
MALLOC_HOST(cuda, "libcudart.so")
FREE(cuda, "libcudart.so", FreeHost, (void *mem), (mem), (void *))

COMMON(hip, "libamdhip64.so")
MALLOC_HOST(hip, "libamdhip64.so")
ALLOC(hip, "libamdhip64.so", ExtMallocWithFlags, (void **out, size_t n, unsigned flags), (out, n, flags), (void **, size_t, unsigned), n, \
      SP_DEVICE, hip_device())
ALLOC(hip, "libamdhip64.so", HostMalloc, (void **out, size_t n, unsigned flags), (out, n, flags), (void **, size_t, unsigned), n, \
      SP_HEAP, 0)
FREE(hip, "libamdhip64.so", HostFree, (void *mem), (mem), (void *))

/* CUDA's driver: addresses on the device are integers. */
static unsigned cu_device(void)
{
	static void *slot;
	return device_of("libcuda.so", "cuCtxGetDevice", &slot);
}

#define CU(name, params, args, types, bytes) ALLOC(cu, "libcuda.so", name, params, args, types, bytes, SP_DEVICE, cu_device())

CU(MemAlloc_v2, (uintptr_t *out, size_t n), (out, n), (uintptr_t *, size_t), n)
CU(MemAllocManaged, (uintptr_t *out, size_t n, unsigned flags), (out, n, flags), (uintptr_t *, size_t, unsigned), n)
CU(MemAllocPitch_v2, (uintptr_t *out, size_t *pitch, size_t w, size_t h, unsigned element), (out, pitch, w, h, element), \
   (uintptr_t *, size_t *, size_t, size_t, unsigned), *pitch *h)
CU(MemAllocAsync, (uintptr_t *out, size_t n, void *stream), (out, n, stream), (uintptr_t *, size_t, void *), n)
CU(MemAllocFromPoolAsync, (uintptr_t *out, size_t n, void *pool, void *stream), (out, n, pool, stream), \
   (uintptr_t *, size_t, void *, void *), n)
ALLOC(cu, "libcuda.so", MemAllocHost_v2, (void **out, size_t n), (out, n), (void **, size_t), n, SP_HEAP, 0)
ALLOC(cu, "libcuda.so", MemHostAlloc, (void **out, size_t n, unsigned flags), (out, n, flags), (void **, size_t, unsigned), n, SP_HEAP, 0)
FREES(cu, "libcuda.so", MemFree_v2, (uintptr_t mem), (mem), (uintptr_t), mem)
FREES(cu, "libcuda.so", MemFreeAsync, (uintptr_t mem, void *stream), (mem, stream), (uintptr_t, void *), mem)
FREE(cu, "libcuda.so", MemFreeHost, (void *mem), (mem), (void *))
