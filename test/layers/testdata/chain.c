/* A layer that hands on to the next one by the MPI_ name, as the loader finds it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int reductions;
static void *next(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);
	if (!p)
		abort();
	return p;
}
int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
	reductions++;
	return ((int (*)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm))next("MPI_Allreduce"))(a, b, n, t, o, c);
}
int MPI_Alltoall(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
	return ((int (*)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm))next("PMPI_Alltoall"))(a, n, t, b, m, u, c);
}
int MPI_Finalize(void)
{
	printf("chain: %d\n", reductions);
	fflush(stdout);
	return ((int (*)(void))next("MPI_Finalize"))();
}
