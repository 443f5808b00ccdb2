// Where a program says what a place in it ought to be called: each mark prints
// its return address beside the function and line that the caller claims to be.
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) void mark(const char *function, const char *file, int line)
{
	printf("mark %p %s %s:%d\n", __builtin_return_address(0), function, file, line);
}

// The same for Fortran, which passes lengths behind the arguments.
__attribute__((noinline)) void mark_(const char *function, const int *line, int length)
{
	printf("mark %p %.*s sites.F90:%d\n", __builtin_return_address(0), length, function, *line);
}

// The address space, for whoever reads the marks.
void maps(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char text[4096];
	while (f && fgets(text, sizeof text, f))
		printf("map %s", text);
	fflush(stdout);
}

// A call that never returns may be a function's last instruction.
__attribute__((noreturn)) void last_mark(const char *function, const char *file, int line)
{
	printf("mark %p %s %s:%d\n", __builtin_return_address(0), function, file, line);
	maps();
	exit(0);
}

void maps_(void)
{
	maps();
}
