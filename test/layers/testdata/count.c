/* A profiler: counts calls, calls more of the MPI than it is asked for, and says so at the end. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
static int sendrecvs, reductions, sizes, dups, level;
static const char *name = "";
int MPI_Init(int *argc, char ***argv)
{
	int rank, rc = PMPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* by the MPI_ name: a layer's call all the same */
	return rc;
}
int MPI_Sendrecv(const void *a, int n, MPI_Datatype t, int to, int tag, void *b, int m, MPI_Datatype u, int from, int g, MPI_Comm c, MPI_Status *s)
{
	sendrecvs++;
	return PMPI_Sendrecv(a, n, t, to, tag, b, m, u, from, g, c, s);
}
int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
	reductions++;
	PMPI_Barrier(c);
	return PMPI_Allreduce(a, b, n, t, o, c);
}
int MPI_Comm_size(MPI_Comm c, int *n)
{
	sizes++;
	return PMPI_Comm_size(c, n);
}
int MPI_Comm_dup(MPI_Comm c, MPI_Comm *d)
{
	dups++;
	return PMPI_Comm_dup(c, d);
}
int MPI_Pcontrol(const int l, ...)
{
	va_list more;
	va_start(more, l);
	level = l;
	name = va_arg(more, const char *);
	level += va_arg(more, int);
	va_end(more);
	return 0;
}
int MPI_Finalize(void)
{
	int rank, sum;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Reduce(&sendrecvs, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	printf("layer %d: %d %d %d %d %s %d\n", rank, sendrecvs, reductions, sizes, dups, name, level);
	if (rank == 0)
		printf("layer: %d\n", sum);
	return PMPI_Finalize();
}
