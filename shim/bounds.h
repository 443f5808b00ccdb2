/*
 * bounds.h: where the stack of a process's first thread is.
 *
 * pthread_getattr_np reads all of /proc/self/maps to tell, which takes longer than
 * anything else at the start. The same follows from what the kernel and the loader
 * leave at the top of the stack. Included by the engine's C as well.
 */
#ifndef SPOOR_BOUNDS_H
#define SPOOR_BOUNDS_H

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where main's caller found the stack; the loader's. */
extern void *__libc_stack_end __attribute__((weak));

/* Above this limit something else may have been mapped where the stack could grow. */
#define SP_COMMON_STACK (64ull << 20)

/* What pthread_getattr_np says of the calling thread, if that is the process's first; 0 if it isn't,
   or if this kernel lays out stacks in another way. */
static inline int sp_first_stack(uintptr_t *lo, uintptr_t *hi)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), here = (uintptr_t)__builtin_frame_address(0);
	const char *name = (const char *)getauxval(AT_EXECFN); /* the last thing on the stack but for a word of zeros */
	struct rlimit limit;
	if (!name || !&__libc_stack_end || syscall(SYS_gettid) != getpid())
		return 0;
	uintptr_t top = (uintptr_t)name + strlen(name) + 1 + sizeof(void *);
	if (top % page != 0 || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > SP_COMMON_STACK)
		return 0;
	*hi = ((uintptr_t)__libc_stack_end & -page) + page;
	*lo = *hi - ((limit.rlim_cur - (top - *hi)) & -page);
	return here > *lo && here < *hi && *hi <= top; /* after a fork another thread's stack may be the first's */
}

#endif
