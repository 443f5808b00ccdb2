/* What a process holds, in KB: while it runs, when its calls are through, at the highest
   in MPI_Finalize; and the processor time of MPI_Finalize. The arguments are what it calls,
   and how many calls. Private pages are anonymous ones and what no other process has mapped,
   code of spoor included where there is one rank; anonymous_KB and shared_KB, which is
   where records wait, are what nobody can drop.

   loop: an Allreduce, two Sendrecv and a Barrier again and again
   distinct: Sendrecv to itself, no two alike
   random: the same at random out of 4096
   types: datatypes, no two alike
   comms: communicators that are kept */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char text[1 << 16];

/* A line of /proc/self/status. */
static long status(const char *name)
{
	int f = open("/proc/self/status", O_RDONLY);
	long n = read(f, text, sizeof text - 1);
	close(f);
	text[n > 0 ? n : 0] = 0;
	char *at = strstr(text, name);
	return at ? strtol(at + strlen(name) + 1, NULL, 10) : 0;
}

/* Private pages: what the process would give back if it ended. */
static long private(void)
{
	int f = open("/proc/self/smaps_rollup", O_RDONLY);
	long n = read(f, text, sizeof text - 1), sum = 0;
	close(f);
	text[n > 0 ? n : 0] = 0;
	for (const char **name = (const char *[]){"Private_Clean:", "Private_Dirty:", NULL}; *name; name++) {
		char *at = strstr(text, *name);
		sum += at ? strtol(at + strlen(*name), NULL, 10) : 0;
	}
	return sum;
}

static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static unsigned long long seed = 1;

static int any(int below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (int)((seed >> 33) % (unsigned)below);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "loop";
	int n = argc > 2 ? atoi(argv[2]) : 1000;
	static char a[4096], b[4096];
	MPI_Init(&argc, &argv);
	for (int i = 0; i < n; i++) {
		double x = i, y;
		if (!strcmp(what, "distinct")) {
			int tag = any(1 << 20);
			MPI_Sendrecv(a, any(4096), MPI_CHAR, 0, tag, b, 4096, MPI_CHAR, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		} else if (!strcmp(what, "random")) {
			MPI_Sendrecv(a, any(4096), MPI_CHAR, 0, 1, b, 4096, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		} else if (!strcmp(what, "types")) {
			MPI_Datatype t;
			MPI_Type_vector(any(1 << 20), any(1 << 10), 1 << 10, MPI_CHAR, &t);
			MPI_Type_free(&t);
		} else if (!strcmp(what, "comms")) {
			MPI_Comm c;
			MPI_Comm_dup(MPI_COMM_SELF, &c);
		} else {
			MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
			MPI_Sendrecv(a, 100, MPI_CHAR, 0, 1, b, 100, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
			MPI_Sendrecv(a, 8, MPI_CHAR, 0, 2, b, 8, MPI_CHAR, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
	printf("private_KB %ld\n", private());
	printf("anonymous_KB %ld\n", status("RssAnon"));
	printf("shared_KB %ld\n", status("RssShmem"));
	printf("resident_KB %ld\n", status("VmRSS"));
	int f = open("/proc/self/clear_refs", O_WRONLY); /* the highest so far is forgotten */
	if (f < 0 || write(f, "5", 1) != 1)
		fprintf(stderr, "memory: clear_refs can't be written\n");
	close(f);
	double begin = cpu();
	MPI_Finalize();
	begin = cpu() - begin;
	printf("finalize_cpu_us %.0f\n", begin);
	if (strcmp(what, "loop"))
		printf("finalize_ns_a_call %.0f\n", begin * 1e3 / n);
	printf("highest_KB %ld\n", status("VmHWM"));
	printf("left_KB %ld\n", status("VmRSS"));
	return 0;
}
