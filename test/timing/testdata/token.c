/* A token goes around for a second and a quarter, in synchronous sends. With
   HOSTS=N each rank is on one of N hosts as far as its host name goes, if the system
   lets it have one of its own; "hosts" is printed by those that do. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void move(int hosts)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *size = getenv("OMPI_COMM_WORLD_SIZE");
	char name[32];
	if (!rank) {
		rank = getenv("PMI_RANK");
		size = getenv("PMI_SIZE");
	}
	if (!rank || !size || unshare(CLONE_NEWUTS) != 0)
		return;
	int n = snprintf(name, sizeof name, "node%d", atoi(rank) * hosts / atoi(size));
	if (sethostname(name, (size_t)n) == 0)
		printf("hosts\n");
}

int main(int argc, char **argv)
{
	int rank, size, token = 0;
	if (getenv("HOSTS"))
		move(atoi(getenv("HOSTS")));
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	for (int i = 0; i < 50; i++) {
		if (rank == 0) {
			usleep(25000);
			MPI_Ssend(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
		}
		MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank != 0)
			MPI_Ssend(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
