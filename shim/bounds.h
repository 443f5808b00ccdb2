/*
 * bounds.h: where a thread's stack is.
 *
 * Of the first thread pthread_getattr_np reads all of /proc/self/maps to tell, which
 * takes longer than anything else at the start. The same follows from what the kernel
 * and the loader leave at the top of the stack.
 * Of others it tells at once, but takes a lock and memory: a signal handler whose
 * call is the first that is recorded of its thread may have come in between. So what
 * it would read is read here. Included by the engine's C as well.
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

/* With a larger stack limit other mappings may lie in the range where the stack could grow. */
#define SP_COMMON_STACK (64ull << 20)

/* The stack bounds of the calling thread as pthread_getattr_np returns them, if it is the process's first thread. 0 if
   it isn't, or if this kernel has another stack layout. */
static inline int sp_first_stack(uintptr_t *lo, uintptr_t *hi)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), here = (uintptr_t)__builtin_frame_address(0);
	const char *name = (const char *)getauxval(AT_EXECFN); /* last on the stack, except for a word of zeros */
	struct rlimit limit;
	if (!name || !&__libc_stack_end || syscall(SYS_gettid) != getpid())
		return 0;
	uintptr_t top = (uintptr_t)name + strlen(name) + 1 + sizeof(void *);
	if (top % page != 0 || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > SP_COMMON_STACK)
		return 0;
	*hi = ((uintptr_t)__libc_stack_end & -page) + page;
	*lo = *hi - ((limit.rlim_cur - (top - *hi)) & -page);
	return here > *lo && here < *hi && *hi <= top; /* after a fork the first thread may run on another thread's stack */
}

/* Where glibc keeps the stack in what it knows of a thread, in words from pthread_self: its lowest
   address, its size, how much of that is a guard. Of the first thread that is no address and, for
   a size, where the loader found the stack. 0 if this is not the first thread, or another C library. */
static inline size_t sp_stack_words(void)
{
	const uintptr_t *known = (const uintptr_t *)pthread_self();
	if (!&__libc_stack_end || syscall(SYS_gettid) != getpid())
		return 0;
	for (size_t i = 0; i < 220; i++) /* all known versions have at least this many words */
		if (known[i] == 0 && known[i + 1] == (uintptr_t)__libc_stack_end && known[i + 2] == 0)
			return i;
	return 0;
}

/* The stack bounds of the calling thread as pthread_getattr_np returns them, if it is not the process's first thread.
   0 if it is, or if the words that sp_stack_words found are unusable. */
static inline int sp_made_stack(size_t words, uintptr_t *lo, uintptr_t *hi)
{
	uintptr_t self = (uintptr_t)pthread_self(); /* the thread structure is at the top of the thread's stack */
	const uintptr_t *known = (const uintptr_t *)self + words;
	if (!words || !known[0] || known[2] >= known[1] || known[1] > UINTPTR_MAX - known[0])
		return 0;
	*lo = known[0] + known[2];
	*hi = known[0] + known[1];
	return self > *lo && self < *hi;
}

#endif
