// Compares where the first thread's stack is said to be with what the C library says.
#include "bounds.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

static int found(uintptr_t *lo, uintptr_t *hi)
{
	return sp_first_stack(lo, hi);
}

static void *elsewhere(void *arg)
{
	uintptr_t lo, hi;
	(void)arg;
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
	void *start;
	size_t size;
	if (found(&lo, &hi)) {
		pthread_getattr_np(pthread_self(), &attr);
		pthread_attr_getstack(&attr, &start, &size);
		if ((uintptr_t)start != lo || (uintptr_t)start + size != hi)
			printf("%lx to %lx, not %lx to %lx\n", (unsigned long)lo, (unsigned long)hi, (unsigned long)(uintptr_t)start,
			       (unsigned long)((uintptr_t)start + size));
		printf("found\n");
	} else {
		printf("not found\n");
	}
	pthread_create(&thread, NULL, elsewhere, NULL);
	pthread_join(thread, NULL);
	return 0;
}
