// Places of many kinds in C.
#include "sites.h"

static int depth;

static inline __attribute__((always_inline)) void innermost(void)
{
	MARK("innermost < inner < outer");
	depth++;
}

static inline __attribute__((always_inline)) void inner(int n)
{
	if (n > 0) {
		innermost();
		depth++;
	}
}

__attribute__((noinline)) void outer(int n)
{
	inner(n);
	depth++;
}

static __attribute__((noinline)) void hidden(void)
{
	MARK("hidden");
	depth++;
}

// The return address is behind the function's end.
__attribute__((noinline)) void last(void)
{
	LAST_MARK("last");
}

int main(int argc, char **argv)
{
	(void)argv;
	MARK("main");
	outer(argc);
	hidden();
	library(argc);
	if (depth)
		last();
	return 0;
}
