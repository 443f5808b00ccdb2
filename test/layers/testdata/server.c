/* An I/O server: rank 0 never returns from MPI_Init, and the program's MPI_COMM_WORLD is without it. With TURNED none is kept, but ranks count backwards. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static MPI_Comm world = MPI_COMM_NULL;
static MPI_Comm seen(MPI_Comm c) { return c == MPI_COMM_WORLD ? world : c; }
static int start(int rc)
{
	int rank, size;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
#ifdef TURNED
	PMPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &world);
#else
	PMPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &world);
	if (rank == 0) {
		int sum = 0;
		for (int i = 1, x; i < size; i++, sum += x)
			PMPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("server: %d\n", sum);
		PMPI_Finalize();
		exit(0);
	}
#endif
	return rc;
}
int MPI_Init(int *argc, char ***argv) { return start(PMPI_Init(argc, argv)); }
int MPI_Init_thread(int *argc, char ***argv, int r, int *p) { return start(PMPI_Init_thread(argc, argv, r, p)); }
int MPI_Comm_rank(MPI_Comm c, int *r) { return PMPI_Comm_rank(seen(c), r); }
int MPI_Comm_size(MPI_Comm c, int *n) { return PMPI_Comm_size(seen(c), n); }
int MPI_Comm_dup(MPI_Comm c, MPI_Comm *d) { return PMPI_Comm_dup(seen(c), d); }
int MPI_Barrier(MPI_Comm c) { return PMPI_Barrier(seen(c)); }
int MPI_Sendrecv(const void *a, int n, MPI_Datatype t, int to, int tag, void *b, int m, MPI_Datatype u, int from, int g, MPI_Comm c, MPI_Status *s)
{
	return PMPI_Sendrecv(a, n, t, to, tag, b, m, u, from, g, seen(c), s);
}
int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) { return PMPI_Allreduce(a, b, n, t, o, seen(c)); }
int MPI_Alltoall(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
	return PMPI_Alltoall(a, n, t, b, m, u, seen(c));
}
int MPI_Finalize(void)
{
#ifndef TURNED
	int rank;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Send(&rank, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
#endif
	return PMPI_Finalize();
}
