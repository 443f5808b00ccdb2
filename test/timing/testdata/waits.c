/* Ranks that wait for each other by messages and collectives. Four ranks. */
#include "waits.h"

static int value, all[4];

static void round_of_all(void)
{
	MPI_Request r[2];
	MPI_Comm half;
	/* late sender */
	late(1, 20);
	if (rank == 1)
		DO("send", MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
	if (rank == 0)
		DO("recv", MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	/* late receiver */
	late(3, 20);
	if (rank == 2)
		DO("ssend", MPI_Ssend(&value, 1, MPI_INT, 3, 2, MPI_COMM_WORLD));
	if (rank == 3)
		DO("posted", MPI_Recv(&value, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	/* two senders, one later than the other, and a wildcard */
	late(1, 10);
	late(2, 20);
	if (rank == 1 || rank == 2) {
		DO(rank == 1 ? "isend1" : "isend2", MPI_Isend(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, r));
		MPI_Wait(r, MPI_STATUS_IGNORE);
	}
	if (rank == 0) {
		MPI_Irecv(&all[0], 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &r[0]);
		MPI_Irecv(&all[1], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &r[1]);
		DO("waitall", MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	/* wrong order */
	late(1, 20);
	if (rank == 1 || rank == 2)
		DO(rank == 1 ? "second" : "first", MPI_Send(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD));
	if (rank == 0) {
		DO("wrong", MPI_Recv(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		MPI_Recv(&value, 1, MPI_INT, 2, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	/* a persistent send that its receiver is late for */
	late(0, 15);
	if (rank == 3) {
		MPI_Ssend_init(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, r);
		MPI_Start(r);
		DO("wait", MPI_Wait(r, MPI_STATUS_IGNORE));
		MPI_Request_free(r);
	}
	if (rank == 0)
		DO("sendrecv", MPI_Sendrecv(&value, 1, MPI_INT, 0, 6, all, 1, MPI_INT, 3, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	if (rank == 0)
		MPI_Recv(all, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	/* collectives */
	late(2, 20);
	DO("allreduce", MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	late(1, 20);
	DO("bcast", MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD));
	MPI_Barrier(MPI_COMM_WORLD);
	late(3, 20);
	DO("reduce", MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
	MPI_Barrier(MPI_COMM_WORLD);
	late(1, 20);
	DO("scan", MPI_Scan(&rank, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	MPI_Barrier(MPI_COMM_WORLD);
	late(0, 20);
	DO("ibarrier", MPI_Ibarrier(MPI_COMM_WORLD, r));
	DO("wait for ibarrier", MPI_Wait(r, MPI_STATUS_IGNORE));
	late(3, 10);
	DO("split", MPI_Comm_split(MPI_COMM_WORLD, rank & 1, 0, &half));
	late(2, 10);
	DO("allgather of half", MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, half));
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	rounds(&argc, &argv, round_of_all);
	return 0;
}
