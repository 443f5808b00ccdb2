/* A program with fopen and open of its own, as programs have them that open compressed files. The MPI gets them too. What the
   program itself opens counts, inside of a callback of MPI's not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

static void *next(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

FILE *fopen(const char *path, const char *mode)
{
	static FILE *(*real)(const char *, const char *);
	if (!real)
		real = (FILE *(*)(const char *, const char *))next("fopen");
	return real(path, mode);
}

int open(const char *path, int flags, ...)
{
	static int (*real)(const char *, int, ...);
	va_list rest;
	va_start(rest, flags);
	int mode = va_arg(rest, int);
	va_end(rest);
	if (!real)
		real = (int (*)(const char *, int, ...))next("open");
	return real(path, flags, mode);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	FILE *f = fopen("own", "w");
	fclose(f);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
