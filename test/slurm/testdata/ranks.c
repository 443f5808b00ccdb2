/* Calls that differ between ranks, each in the file log.RANK before it is made. Then, as argv[1] says: "end"; "go": even ranks stay in a
   call, odd ones outside of MPI, once all have the file going.RANK, until somebody ends them; "crash": rank 3 aborts then; "stay": as "go",
   and SIGTERM is ignored; "ring": each waits for a message of the next. */
#include <mpi.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, out, calls;

static void log_call(const char *name)
{
	char line[64] = "";
	snprintf(line, sizeof line, "%-6d %-40s\n", ++calls, name);
	if (pwrite(out, line, strlen(line), 0) < 0)
		abort();
}

static void touch(const char *name, int number)
{
	char path[64];
	snprintf(path, sizeof path, "%s.%d", name, number);
	fclose(fopen(path, "w"));
}

/* An operation that never completes, without a wait inside of MPI, where some spin. */
static void stay(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)in, (void)inout, (void)n, (void)type;
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "end";
	char path[64];
	if (!strcmp(mode, "stay"))
		signal(SIGTERM, SIG_IGN);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	calls = 3;
	snprintf(path, sizeof path, "log.%d", rank);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	for (int i = 0; i < 100 + rank; i++) {
		int version, sub;
		log_call("MPI_Get_version");
		MPI_Get_version(&version, &sub);
	}
	log_call("MPI_Barrier");
	MPI_Barrier(MPI_COMM_WORLD);
	if (strcmp(mode, "end") != 0) {
		int in = 0, out = 0;
		MPI_Op op;
		log_call("MPI_Op_create");
		MPI_Op_create(stay, 1, &op);
		if (rank % 2 == 0)
			log_call("MPI_Reduce_local");
		touch("going", rank);
		if (!strcmp(mode, "ring"))
			MPI_Recv(&in, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (!strcmp(mode, "crash") && rank == 3) {
			for (int i = 0; i < size; i++) {
				snprintf(path, sizeof path, "going.%d", i);
				while (access(path, F_OK) != 0)
					usleep(10000);
			}
			usleep(300000);
			abort();
		}
		if (rank % 2 == 0)
			MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
		for (;;)
			pause();
	}
	printf("rank %d of %d\n", rank, size);
	MPI_Finalize();
	return 0;
}
