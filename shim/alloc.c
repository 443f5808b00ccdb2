/*
 * alloc.c: the C library's allocation functions, forwarded, with large
 * allocations entered in the table of segments.
 *
 * A program may call these before any constructor ran, and dlsym itself
 * allocates; until the real functions are known a small static area serves.
 *
 * A sanitizer's runtime tells of blocks itself. There all is handed on by a jump,
 * so that the stacks in its reports are the program's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "segments.h"
#include "shim.h"

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	size_t (*usable)(void *);
} real;

static size_t least = SP_SEGMENT_MIN;
static int state; /* 0 unresolved, 1 being resolved, 2 ready, 3 ready and not to follow calls */

static _Alignas(64) char area[64 * 1024];
static size_t area_used;

static int in_area(const void *p)
{
	return (const char *)p >= area && (const char *)p < area + sizeof area;
}

/* Each block is preceded by its size; blocks are never given back. */
static void *area_alloc(size_t align, size_t size)
{
	if (align < 16)
		align = 16;
	size_t at = __atomic_load_n(&area_used, __ATOMIC_RELAXED), start;
	do {
		start = (at + 16 + align - 1) & ~(align - 1);
		if (start + size > sizeof area || size > sizeof area) {
			errno = ENOMEM;
			return NULL;
		}
	} while (!__atomic_compare_exchange_n(&area_used, &at, start + size, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	memcpy(area + start - 8, &size, sizeof size);
	return area + start;
}

static size_t area_size(const void *p)
{
	size_t size;
	memcpy(&size, (const char *)p - 8, sizeof size);
	return size;
}

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* Whether what this thread allocates may be the program's: not what the recorder does, nor what an
   MPI takes for itself while it starts, thousands of blocks that no call will ever name. */
static inline int is_programs(void)
{
	return !sp_self.in[SP_BUSY] && !(sp_self.depth && __atomic_load_n(&sp_mode, __ATOMIC_RELAXED) == SP_EARLY);
}

/* ---- sanitizers ---- */

static size_t (*told_size)(const volatile void *);

static void told_born(const volatile void *p, size_t size)
{
	if (size >= least && p && is_programs())
		sp_segment_add((const void *)p, size, size, SP_HEAP, 0);
}

static void told_gone(const volatile void *p)
{
	if (p && told_size(p) >= least && !sp_self.in[SP_BUSY])
		sp_segment_remove((const void *)p, told_size(p));
}

/* Whether there is a runtime that tells of blocks. */
static int is_told(void)
{
	int (*install)(void (*)(const volatile void *, size_t), void (*)(const volatile void *));
	*(void **)&install = dlsym(RTLD_DEFAULT, "__sanitizer_install_malloc_and_free_hooks");
	*(void **)&told_size = dlsym(RTLD_DEFAULT, "__sanitizer_get_allocated_size");
	return install && told_size && install(told_born, told_gone);
}

/* AddressSanitizer refuses to start behind another library, unless it is told not
   to mind. The program's own definition comes before this one. */
SP_API const char *__asan_default_options(void);
SP_API const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/* ---- resolving ---- */

static int resolve(void)
{
	int unresolved = 0;
	if (!__atomic_compare_exchange_n(&state, &unresolved, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
		return unresolved == 2;
	real.malloc = next("malloc");
	real.calloc = next("calloc");
	real.realloc = next("realloc");
	real.free = next("free");
	real.posix_memalign = next("posix_memalign");
	real.aligned_alloc = next("aligned_alloc");
	real.memalign = next("memalign");
	real.valloc = next("valloc");
	real.pvalloc = next("pvalloc");
	real.usable = next("malloc_usable_size");
	const char *min = getenv("SPOOR_ALLOC_MIN");
	if (min && *min)
		least = strcmp(min, "off") == 0 ? (size_t)-1 : strtoull(min, NULL, 0);
	int now = is_told() ? 3 : 2;
	__atomic_store_n(&state, now, __ATOMIC_RELEASE);
	return now == 2;
}

/* Whether the real functions may be used, and blocks be followed. */
static inline int ready(void)
{
	return sp_likely(__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2) || resolve();
}

/* If not ready: whether they may be used all the same. Only the thread that
   resolves them, and others at the same moment, get 0. */
static inline int direct(void)
{
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) >= 2;
}

/* A handler that interrupts the allocator must be known: its calls of MPI may not
   allocate. */
#define INSIDE(call) \
	({ \
		sp_mark(&sp_self.in[SP_ALLOCATING], sp_self.in[SP_ALLOCATING] + 1); \
		__auto_type result_ = (call); \
		sp_mark(&sp_self.in[SP_ALLOCATING], sp_self.in[SP_ALLOCATING] - 1); \
		result_; \
	})

/* The allocator's own size decides whether a block is tracked, since that is
   all that free can ask for. */
static void *born(void *p, size_t size)
{
	if (size >= least && p && real.usable && is_programs()) {
		int saved = errno;
		sp_segment_add(p, size, real.usable(p), SP_HEAP, 0);
		errno = saved;
	}
	return p;
}

static void gone(void *p)
{
	size_t room = p && real.usable ? real.usable(p) : 0;
	if (room >= least && !sp_self.in[SP_BUSY]) {
		int saved = errno;
		sp_segment_remove(p, room);
		errno = saved;
	}
}

void sp_alloc_open(void)
{
	ready(); /* a sanitizer in the program itself is never forwarded a call from here */
}

SP_API void *malloc(size_t size)
{
	if (ready())
		return born(INSIDE(real.malloc(size)), size);
	return direct() ? real.malloc(size) : area_alloc(16, size);
}

SP_API void *calloc(size_t n, size_t size)
{
	if (ready())
		return born(INSIDE(real.calloc(n, size)), n * size);
	if (direct())
		return real.calloc(n, size);
	return size && n > sizeof area / size ? NULL : area_alloc(16, n * size);
}

SP_API void free(void *p)
{
	if (in_area(p))
		return;
	if (ready()) {
		gone(p);
		sp_mark(&sp_self.in[SP_ALLOCATING], sp_self.in[SP_ALLOCATING] + 1);
		real.free(p);
		sp_mark(&sp_self.in[SP_ALLOCATING], sp_self.in[SP_ALLOCATING] - 1);
	} else if (direct()) {
		real.free(p);
	}
}

SP_API void *realloc(void *p, size_t size)
{
	int follow = ready();
	if (in_area(p) || (!follow && !direct())) {
		void *q = malloc(size);
		if (q && p)
			memcpy(q, p, area_size(p) < size ? area_size(p) : size);
		return q;
	}
	if (!follow)
		return real.realloc(p, size);
	/* Forget the old block first: once realloc returned, another thread may own it. */
	size_t old = p && real.usable ? real.usable(p) : 0;
	gone(p);
	void *q = INSIDE(real.realloc(p, size));
	if (!q && size)
		born(p, old);
	return born(q, size);
}

SP_API void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, bytes);
}

SP_API int posix_memalign(void **out, size_t align, size_t size)
{
	int follow = ready();
	if ((!follow && !direct()) || !real.posix_memalign) {
		*out = area_alloc(align, size);
		return *out ? 0 : ENOMEM;
	}
	if (!follow)
		return real.posix_memalign(out, align, size);
	int rc = INSIDE(real.posix_memalign(out, align, size));
	if (rc == 0)
		born(*out, size);
	return rc;
}

/* f may be missing in the C library. */
#define ALIGNED(f, align, ...)                                     \
	do {                                                       \
		if (ready() && real.f)                             \
			return born(INSIDE(real.f(__VA_ARGS__)), size); \
		if (direct() && real.f)                            \
			return real.f(__VA_ARGS__);                \
		return area_alloc(align, size);                    \
	} while (0)

SP_API void *aligned_alloc(size_t align, size_t size)
{
	ALIGNED(aligned_alloc, align, align, size);
}

SP_API void *memalign(size_t align, size_t size)
{
	ALIGNED(memalign, align, align, size);
}

SP_API void *valloc(size_t size)
{
	ALIGNED(valloc, 4096, size);
}

SP_API void *pvalloc(size_t size)
{
	if (!real.pvalloc || !direct())
		size = (size + 4095) & ~(size_t)4095;
	ALIGNED(pvalloc, 4096, size);
}
