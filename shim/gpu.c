/*
 * gpu.c: device memory is a segment too. The allocation functions of the CUDA
 * and HIP runtimes are forwarded to the library that the program loaded; where
 * there is none, they fail as a missing device would.
 *
 * A runtime linked statically into the program can't be seen from here.
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

#define FAMILY(prefix, library) \
	static unsigned prefix##_device(void) \
	{ \
		static void *slot; \
		return device_of(library, #prefix "GetDevice", &slot); \
	}

/* An allocation function: out is its first parameter, `bytes` what it gave. */
#define ALLOC(prefix, library, name, params, args, types, bytes, class, device) \
	SP_API int prefix##name params; \
	SP_API int prefix##name params \
	{ \
		static void *slot; \
		int (*f) types = runtime_symbol(&slot, library, #prefix #name); \
		int rc = f ? f args : NO_DEVICE; \
		if (rc == 0 && out) \
			sp_segment_add(*out, bytes, bytes, class, device); \
		return rc; \
	}

#define FREE(prefix, library, name, params, args, types) \
	SP_API int prefix##name params; \
	SP_API int prefix##name params \
	{ \
		static void *slot; \
		int (*f) types = runtime_symbol(&slot, library, #prefix #name); \
		sp_segment_remove(mem, 0); \
		return f ? f args : NO_DEVICE; \
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
	ALLOC(p, lib, HostAlloc, (void **out, size_t n, unsigned flags), (out, n, flags), (void **, size_t, unsigned), n, \
	      SP_HEAP, 0) \
	FREE(p, lib, Free, (void *mem), (mem), (void *)) \
	FREE(p, lib, FreeAsync, (void *mem, void *stream), (mem, stream), (void *, void *))

COMMON(cuda, "libcudart.so")
ALLOC(cuda, "libcudart.so", MallocHost, (void **out, size_t n), (out, n), (void **, size_t), n, SP_HEAP, 0)
FREE(cuda, "libcudart.so", FreeHost, (void *mem), (mem), (void *))

COMMON(hip, "libamdhip64.so")
ALLOC(hip, "libamdhip64.so", HostMalloc, (void **out, size_t n, unsigned flags), (out, n, flags), (void **, size_t, unsigned), n, \
      SP_HEAP, 0)
FREE(hip, "libamdhip64.so", HostFree, (void *mem), (mem), (void *))
