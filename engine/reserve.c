// reserve.c: what the Go runtime asks of the C library at its start, and gets for less.
// The linker puts these functions in place of the library's (Makefile).
//
// The runtime reserves 1.5 GB of addresses at its start, of which it will use a
// few MB. Where a limit is set on them (ulimit -v, as batch systems do), that
// would be the program's loss, so there nothing is mapped for a reservation: the
// runtime gets addresses that the kernel doesn't give out by itself before
// terabytes of others are used up, and maps what it needs of them later.
//
// It also wants to know the bounds of the stack that it is called on: see bounds.h.

#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../shim/bounds.h"

static uintptr_t next_free = 0x7000000000;

static int limited(void)
{
	struct rlimit as;
	return getrlimit(RLIMIT_AS, &as) == 0 && as.rlim_cur != RLIM_INFINITY;
}

// Where the first mapping ends that has addresses in [lo, hi), 0 if there is none,
// 1 if that isn't known.
static uintptr_t taken(uintptr_t lo, uintptr_t hi)
{
	char line[512];
	uintptr_t end = 0;
	FILE *f = fopen("/proc/self/maps", "re");
	if (!f)
		return 1;
	while (!end && fgets(line, sizeof line, f)) {
		unsigned long long from, to;
		if (sscanf(line, "%llx-%llx", &from, &to) == 2 && from < hi && to > lo)
			end = to;
	}
	fclose(f);
	return end;
}

// Where the runtime would like to have it doesn't matter: that may be near what
// the kernel gives out next.
static void *reserve(size_t length)
{
	uintptr_t at = next_free, end;
	while ((end = taken(at, at + length)) > 1)
		at = (end + 0xffff) & ~(uintptr_t)0xffff;
	if (end)
		return MAP_FAILED;
	next_free = at + ((length + 0xffff) & ~(uintptr_t)0xffff);
	return (void *)at;
}

void *__wrap_mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
{
	if (prot == PROT_NONE && flags == (MAP_PRIVATE | MAP_ANONYMOUS) && limited()) {
		void *p = reserve(length);
		if (p != MAP_FAILED)
			return p;
	}
	return mmap64(addr, length, prot, flags, fd, offset);
}

static size_t stack_words;

// The first thread mostly loads the engine.
__attribute__((constructor)) static void look(void)
{
	stack_words = sp_stack_words();
}

// Tests are linked without the replacements, and so without this.
__attribute__((weak)) int __real_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);

int __wrap_pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
	uintptr_t lo, hi;
	if (!pthread_equal(thread, pthread_self()) || !(sp_first_stack(&lo, &hi) || sp_made_stack(stack_words, &lo, &hi)))
		return __real_pthread_getattr_np(thread, attr);
	int rc = pthread_attr_init(attr);
	return rc ? rc : pthread_attr_setstack(attr, (void *)lo, hi - lo);
}
