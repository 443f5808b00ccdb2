/* Ranks that wait for each other in collectives of an intercommunicator: 0 and 1 are one side, 2 and 3 the other. Four ranks. */
#include "waits.h"

static int value, got[4];

static void round_of_all(void)
{
	MPI_Comm side, both, merged;
	MPI_Request r;
	int left = rank < 2;
	MPI_Comm_split(MPI_COMM_WORLD, left, 0, &side);
	late(3, 20);
	DO("create", MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, left ? 2 : 0, 7, &both));
	MPI_Barrier(MPI_COMM_WORLD);
	/* the left side waits for the right one */
	late(3, 20);
	DO("barrier", MPI_Barrier(both));
	MPI_Barrier(MPI_COMM_WORLD);
	late(1, 20);
	DO("allreduce", MPI_Allreduce(&value, got, 1, MPI_INT, MPI_SUM, both));
	MPI_Barrier(MPI_COMM_WORLD);
	/* from 0 to the right side; 1 has no part in it */
	late(0, 20);
	DO("bcast", MPI_Bcast(&value, 1, MPI_INT, left ? rank ? MPI_PROC_NULL : MPI_ROOT : 0, both));
	MPI_Barrier(MPI_COMM_WORLD);
	/* from the left side to 3 */
	late(1, 20);
	DO("reduce", MPI_Reduce(&value, got, 1, MPI_INT, MPI_SUM, left ? 1 : rank == 3 ? MPI_ROOT : MPI_PROC_NULL, both));
	MPI_Barrier(MPI_COMM_WORLD);
	late(2, 20);
	DO("iallgather", MPI_Iallgather(&value, 1, MPI_INT, got, 1, MPI_INT, both, &r));
	DO("wait", MPI_Wait(&r, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	late(1, 20);
	DO("merge", MPI_Intercomm_merge(both, left, &merged));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&both);
	MPI_Comm_free(&side);
}

int main(int argc, char **argv)
{
	rounds(&argc, &argv, round_of_all);
	return 0;
}
