// Ring neighbours send each other messages of random sizes at random times. By mode they are found with MPI_Iprobe or MPI_Probe and then
// received,
// or finished by MPI_Testsome, MPI_Testany, MPI_Test or MPI_Waitany, whereupon the next receive is posted.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EACH = 4, NEAR = 3, ROOM = 64 };

static int rank, size, in[NEAR][ROOM], out[NEAR][ROOM], sent[NEAR], got[NEAR];
static MPI_Request receives[NEAR], sends[NEAR];

static void work(long ns)
{
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec < ns);
}

static void post(int i)
{
	MPI_Irecv(in[i], ROOM, MPI_INT, (rank + size - 1 - i) % size, i, MPI_COMM_WORLD, &receives[i]);
}

static void pass(int i)
{
	MPI_Isend(out[i], 1 + rand() % ROOM, MPI_INT, (rank + 1 + i) % size, i, MPI_COMM_WORLD, &sends[i]);
	sent[i]++;
}

static void sending(void)
{
	int flag;
	for (int i = 0; i < NEAR; i++) {
		if (sends[i] != MPI_REQUEST_NULL) {
			MPI_Test(&sends[i], &flag, MPI_STATUS_IGNORE);
			if (!flag)
				continue;
		}
		if (sent[i] < EACH) {
			work(rand() % 4 * 1000);
			pass(i);
		}
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "iprobe";
	int rounds = argc > 2 ? atoi(argv[2]) : 100, flag, n, at, done[NEAR];
	MPI_Status s;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	srand(rank + 1);
	for (int i = 0; i < NEAR; i++)
		sends[i] = receives[i] = MPI_REQUEST_NULL;
	for (int round = 0; round < rounds; round++) {
		int left = EACH * NEAR;
		if (!strcmp(mode, "waitany")) { // receives whose requests do not stand in a row
			for (int i = 0; i < NEAR; i++) {
				post(i);
				work(rand() % 4 * 1000);
				MPI_Isend(out[i], ROOM, MPI_INT, (rank + 1 + i) % size, i, MPI_COMM_WORLD, &sends[i]);
			}
			for (int i = 0; i < NEAR; i++)
				MPI_Waitany(NEAR, receives, &at, MPI_STATUS_IGNORE);
			MPI_Waitall(NEAR, sends, MPI_STATUSES_IGNORE);
			continue;
		}
		if (!strcmp(mode, "pool")) { // as one comes the next is received, between sends that are waited for
			memset(got, 0, sizeof got);
			for (int i = 0; i < NEAR; i++)
				post(i);
			for (int k = 0; left > 0; k++, left--) {
				if (k < EACH) {
					for (int i = 0; i < NEAR; i++)
						pass(i);
					MPI_Waitall(NEAR, sends, MPI_STATUSES_IGNORE);
				}
				work(rand() % 4 * 1000);
				MPI_Waitany(NEAR, receives, &at, MPI_STATUS_IGNORE);
				if (++got[at] < EACH)
					post(at);
			}
			MPI_Barrier(MPI_COMM_WORLD);
			continue;
		}
		memset(sent, 0, sizeof sent);
		memset(got, 0, sizeof got);
		if (strstr(mode, "probe")) {
			while (left > 0) {
				sending();
				if (!strcmp(mode, "iprobe")) {
					MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s);
					if (!flag)
						continue;
				} else
					MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
				MPI_Get_count(&s, MPI_INT, &n);
				MPI_Recv(in[0], n, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
				left--;
			}
		} else {
			for (int i = 0; i < NEAR; i++)
				post(i);
			while (left > 0) {
				sending();
				n = 0;
				if (!strcmp(mode, "testsome")) {
					MPI_Testsome(NEAR, receives, &n, done, MPI_STATUSES_IGNORE);
				} else if (!strcmp(mode, "testany")) {
					MPI_Testany(NEAR, receives, done, &n, MPI_STATUS_IGNORE);
				} else
					for (at = 0; at < NEAR; at++)
						if (receives[at] != MPI_REQUEST_NULL) {
							MPI_Test(&receives[at], &flag, MPI_STATUS_IGNORE);
							if (flag)
								done[n++] = at;
						}
				for (int i = 0; i < n; i++, left--)
					if (++got[done[i]] < EACH)
						post(done[i]);
			}
		}
		for (left = 1; left;) {
			sending();
			left = 0;
			for (int i = 0; i < NEAR; i++)
				left += sends[i] != MPI_REQUEST_NULL || sent[i] < EACH;
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
