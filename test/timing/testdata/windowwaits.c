/* Ranks that wait for each other with one-sided communication. Four ranks. */
#include "waits.h"

static int value, *memory;
static MPI_Win w;
static MPI_Group first, others;

/* 0 opens its memory late, and closes it when the last of the others has completed. */
static void groups(void)
{
	late(0, 20);
	if (rank == 0) {
		DO("post", MPI_Win_post(others, 0, w));
		DO("win wait", MPI_Win_wait(w));
	} else {
		DO("start", MPI_Win_start(first, 0, w));
		DO("put", MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, w));
		if (rank == 2)
			DO("sleep", usleep(15000));
		DO("complete", MPI_Win_complete(w));
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* 1 has the memory of 0 for 20 ms, meanwhile 2 wants it; 0 is in MPI all the time. */
static void locks(int type)
{
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
		MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
		MPI_Win_flush(0, w);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	late(1, 20);
	if (rank == 1)
		DO("unlock", MPI_Win_unlock(0, w));
	if (rank == 2) {
		DO("lock", MPI_Win_lock(type, 0, 0, w));
		DO("get", MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
		DO("flush", MPI_Win_flush(0, w));
		MPI_Win_unlock(0, w);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* The same, where 2 and 3 want the memory of all. */
static void locks_of_all(void)
{
	if (rank == 1) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w);
		MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
		MPI_Win_flush(0, w);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	late(1, 20);
	if (rank == 1)
		DO("unlock all", MPI_Win_unlock(0, w));
	if (rank > 1) {
		DO("lock all", MPI_Win_lock_all(0, w));
		DO("get all", MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
		DO("flush all", MPI_Win_flush_all(w));
		MPI_Win_unlock_all(w);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* 0 computes, and doesn't look whether others want something of it. */
static void progress(void)
{
	late(0, 20);
	if (rank == 2) {
		DO("lock busy", MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
		DO("get busy", MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, w));
		DO("flush busy", MPI_Win_flush(0, w));
		DO("unlock busy", MPI_Win_unlock(0, w));
	}
	DO("barrier", MPI_Barrier(MPI_COMM_WORLD));
}

static void round_of_all(void)
{
	const int zero = 0;
	MPI_Group all;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &zero, &first);
	MPI_Group_excl(all, 1, &zero, &others);
	MPI_Win_allocate(4 * sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	groups();
	locks(MPI_LOCK_EXCLUSIVE);
	locks(MPI_LOCK_SHARED);
	locks_of_all();
	progress();
	late(3, 20);
	DO("fence", MPI_Win_fence(0, w));
	DO("free", MPI_Win_free(&w));
	MPI_Group_free(&all);
	MPI_Group_free(&first);
	MPI_Group_free(&others);
}

int main(int argc, char **argv)
{
	rounds(&argc, &argv, round_of_all);
	return 0;
}
