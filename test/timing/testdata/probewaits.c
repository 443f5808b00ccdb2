/* Ranks that wait for messages in probes. Four ranks. */
#include "waits.h"

static int value;

static void round_of_all(void)
{
	MPI_Message message;
	MPI_Status status;
	MPI_Request r;
	int found = 0;
	/* a probe, and the receive of what it found */
	late(1, 20);
	if (rank == 1)
		DO("send", MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
	if (rank == 0) {
		DO("probe", MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
		DO("recv", MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	MPI_Barrier(MPI_COMM_WORLD);
	/* a probe for the second message of a sender, the first of which is awaited by a receive with a request */
	late(2, 10);
	if (rank == 2) {
		DO("first", MPI_Send(&value, 1, MPI_INT, 3, 2, MPI_COMM_WORLD));
		DO("sleep", usleep(20000));
		DO("second", MPI_Send(&value, 1, MPI_INT, 3, 2, MPI_COMM_WORLD));
	}
	if (rank == 3) {
		MPI_Irecv(&value, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &r);
		DO("probe second", MPI_Probe(2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		MPI_Recv(&value, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	/* a probe that takes the message; another one of the same kind is received before it */
	late(3, 20);
	if (rank == 3) {
		DO("matched", MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
		DO("sleep", usleep(15000));
		DO("later", MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD));
	}
	if (rank == 1) {
		DO("mprobe", MPI_Mprobe(3, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
		DO("recv later", MPI_Recv(&value, 1, MPI_INT, 3, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	/* asking again and again waits in no call */
	late(0, 10);
	if (rank == 0)
		MPI_Send(&value, 1, MPI_INT, 2, 4, MPI_COMM_WORLD);
	if (rank == 2) {
		while (!found)
			MPI_Iprobe(0, 4, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
		MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	rounds(&argc, &argv, round_of_all);
	return 0;
}
