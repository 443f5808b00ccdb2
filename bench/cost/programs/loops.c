/* Time loops of MPI calls on one rank; prints "name ns-per-iteration" lines and
   the process's memory. Start-up and MPI_Finalize are timed by the caller. */

/* MPICH declares parameters that take MPI_STATUSES_IGNORE as arrays, and gcc takes its
   (MPI_Status *)1 for an overflow. What ignoring statuses costs is part of what is measured. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"

#include <mpi.h>

#include "loop.h"

/* Memory that no other process shares, and all of it. */
static void print_memory(const char *when)
{
	long all = 0, files = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	while (f && fgets(line, sizeof line, f)) {
		sscanf(line, "VmRSS: %ld", &all);
		sscanf(line, "RssFile: %ld", &files);
	}
	if (f)
		fclose(f);
	printf("own_kb_%s %ld\nresident_kb_%s %ld\n", when, all - files, when, all);
}

static int loops(int argc, char **argv);

/* The loops run this many functions below main. */
static __attribute__((noinline)) int below(int depth, int argc, char **argv)
{
	char frame[48];
	__asm__ volatile("" : : "r"(frame) : "memory");
	int rc = depth > 0 ? below(depth - 1, argc, argv) : loops(argc, argv);
	__asm__ volatile("" : : "r"(frame) : "memory"); /* no jump instead of a call */
	return rc;
}

int main(int argc, char **argv)
{
	loop_options(argc, argv);
	return below(argc > 2 ? atoi(argv[2]) : 0, argc, argv);
}

static int loops(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 300000, rank, flag, in = 1, out = 0;
	char a[8] = "", b[8] = "";
	double *heap = malloc(1 << 20);
	MPI_Init(&argc, &argv);
	MPI_Request r[2];
	MPI_Comm self = MPI_COMM_SELF;
	LOOP("comm_rank", n, MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	LOOP("iprobe", n, MPI_Iprobe(MPI_ANY_SOURCE, 1, self, &flag, MPI_STATUS_IGNORE));
	LOOP("isend+irecv+waitall", n,
	     (MPI_Irecv(b, 8, MPI_CHAR, 0, 2, self, &r[0]), MPI_Isend(a, 8, MPI_CHAR, 0, 2, self, &r[1]),
	      MPI_Waitall(2, r, MPI_STATUSES_IGNORE)));
	LOOP("sendrecv", n, MPI_Sendrecv(a, 8, MPI_CHAR, 0, 3, b, 8, MPI_CHAR, 0, 3, self, MPI_STATUS_IGNORE));
	LOOP("heap_sendrecv", n,
	     MPI_Sendrecv(heap + 100, 1, MPI_DOUBLE, 0, 3, heap + 200, 1, MPI_DOUBLE, 0, 3, self, MPI_STATUS_IGNORE));
	LOOP("allreduce", n, MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, self));
	LOOP("cycle_of_64", n, MPI_Iprobe(MPI_ANY_SOURCE, i % 64, self, &flag, MPI_STATUS_IGNORE));
	print_memory("regular");
	unsigned seed = 1;
	LOOP("random_of_64", n,
	     (seed = seed * 1103515245u + 12345u, MPI_Iprobe(MPI_ANY_SOURCE, (int)(seed >> 16 & 63), self, &flag, MPI_STATUS_IGNORE)));
	void *volatile p;
	LOOP("malloc+free_64", n, (p = malloc(64), free(p)));
	LOOP("malloc+free_4096", n, (p = malloc(4096), free(p)));
	print_memory("random");
	double t = now();
	MPI_Finalize();
	printf("finalize_us %.1f\n", (now() - t) / 1e3);
	free(heap);
	return 0;
}
