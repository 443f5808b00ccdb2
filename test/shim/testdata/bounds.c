// Compares where threads' stacks are said to be with what the C library says.
#include "bounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static int found(uintptr_t *lo, uintptr_t *hi)
{
	return sp_first_stack(lo, hi);
}

static void check(uintptr_t lo, uintptr_t hi)
{
	pthread_attr_t attr;
	void *start;
	size_t size;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &start, &size);
	pthread_attr_destroy(&attr);
	if ((uintptr_t)start != lo || (uintptr_t)start + size != hi)
		printf("%lx to %lx, not %lx to %lx\n", (unsigned long)lo, (unsigned long)hi, (unsigned long)(uintptr_t)start,
		       (unsigned long)((uintptr_t)start + size));
}

static size_t words;

static void *elsewhere(void *arg)
{
	uintptr_t lo, hi;
	(void)arg;
	if (sp_made_stack(words, &lo, &hi))
		check(lo, hi);
	else
		printf("a thread's stack is not found\n");
	if (sp_stack_words())
		printf("another thread is taken for the first\n");
	if (found(&lo, &hi))
		printf("another thread's stack is taken for the first's\n");
	fflush(stdout);
	pid_t child = fork(); /* this thread is the child's first */
	if (child == 0) {
		if (found(&lo, &hi))
			printf("after a fork another thread's stack is taken for the first's\n");
		exit(0);
	}
	waitpid(child, NULL, 0);
	return NULL;
}

int main(void)
{
	uintptr_t lo = 0, hi = 0;
	pthread_attr_t attr;
	pthread_t thread;
	static _Alignas(4096) char own[256 << 10];
	words = sp_stack_words();
	if (sp_made_stack(words, &lo, &hi))
		printf("the first thread's stack is taken for another's\n");
	if (found(&lo, &hi)) {
		check(lo, hi);
		printf("found\n");
	} else {
		printf("not found\n");
	}
	/* As the library makes them, with another guard, on memory of the program's. */
	for (int how = 0; how < 3; how++) {
		pthread_attr_init(&attr);
		if (how == 1)
			pthread_attr_setguardsize(&attr, 5 << 12);
		if (how == 2)
			pthread_attr_setstack(&attr, own, sizeof own);
		if (pthread_create(&thread, &attr, elsewhere, NULL) != 0)
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}
