// Rounds of messages whose requests finish as it comes: by MPI_Testany, MPI_Waitsome and MPI_Test,
// with work of random length between the sends, so that no two rounds are polled alike on an idle machine either.
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { N = 8 };

// work keeps the processor for some nanoseconds.
static void work(long ns)
{
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec < ns);
}

int main(int argc, char **argv)
{
	int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 500;
	int in[N], out[N] = {0}, index[2 * N], at, flag, n;
	MPI_Request r[2 * N];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	srand(rank);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < N; i++)
			MPI_Irecv(&in[i], 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, &r[i]);
		for (int i = N - 1; i >= 0; i--) {
			work(rand() % 4 * 2000);
			MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &r[2 * N - 1 - i]);
		}
		switch (round % 3) {
		case 0:
			for (int left = 2 * N; left > 0; left -= flag)
				MPI_Testany(2 * N, r, &at, &flag, MPI_STATUS_IGNORE);
			break;
		case 1:
			for (int left = 2 * N; left > 0; left -= n)
				MPI_Waitsome(2 * N, r, &n, index, MPI_STATUSES_IGNORE);
			break;
		case 2:
			for (int i = 0; i < 2 * N; i++)
				for (flag = 0; !flag;)
					MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
		}
	}
	MPI_Finalize();
	return 0;
}
