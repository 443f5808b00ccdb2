/* Programs of which each rank writes when it came to an operation and when that returned, in ns of the machine's clock,
 * and how long it had no core in between: truth.R has lines "operation from to starved". */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static FILE *truth;
static int rank;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * t.tv_sec + t.tv_nsec;
}

/* For how many ns this process had something to do, and no core, so far; 0 where the kernel doesn't count that. */
static double starved(void)
{
	double running, waiting;
	FILE *f = fopen("/proc/self/schedstat", "r");
	int n = f ? fscanf(f, "%lf %lf", &running, &waiting) : 0;
	if (f)
		fclose(f);
	return n == 2 ? waiting : 0;
}

#define DO(name, call) do { \
	double before = starved(), from = now(); \
	call; \
	double to = now(); \
	fprintf(truth, "%s %.0f %.0f %.0f\n", name, from, to, starved() - before); \
} while (0)

static void late(int who, int ms)
{
	if (rank == who)
		DO("sleep", usleep(1000 * ms));
}

/* Makes the program's rounds, with files to write the truth to. A compiler that knew how many would make a call site of each. */
static void rounds(int *argc, char ***argv, void (*round_of_all)(void))
{
	volatile int n = 5;
	char name[32];
	MPI_Init(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof name, "truth.%d", rank);
	truth = fopen(name, "w");
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < n; i++)
		round_of_all();
	MPI_Barrier(MPI_COMM_WORLD);
	fclose(truth);
	MPI_Finalize();
}
