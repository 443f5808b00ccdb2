// Places in a shared library.
#include "sites.h"

static __attribute__((noinline)) void inside(int n)
{
	for (int i = 0; i < n; i++)
		MARK("inside");
	__asm__ volatile("");
}

__attribute__((noinline)) void library(int n)
{
	inside(n);
	MARK("library");
	__asm__ volatile("");
}
