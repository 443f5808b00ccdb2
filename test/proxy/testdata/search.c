// A breadth-first search of a random graph, as the simple one of Graph 500: vertices that others own go to them in messages, which are
// received from anyone. Ranks test for messages, and whether sends are done, before each vertex and while they wait: most calls are polls.
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 256 }; // vertices of a message

static int rank, size, receiving, done;
static int64_t *out, *in, *seen, *next, nexts;
static size_t *filled;
static MPI_Request *sends, receive;
static char *sending;

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static void reach(int64_t v)
{
	if (!seen[v / size]) {
		seen[v / size] = 1;
		next[nexts++] = v;
	}
}

static void post(void)
{
	if ((receiving = done < size))
		MPI_Irecv(in, ROOM, MPI_INT64_T, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &receive);
}

static void check(void)
{
	int flag, n;
	MPI_Status s;
	while (receiving) {
		MPI_Test(&receive, &flag, &s);
		if (!flag)
			break;
		MPI_Get_count(&s, MPI_INT64_T, &n);
		if (n == 0)
			done++;
		for (int i = 0; i < n; i++)
			reach(in[i]);
		post();
	}
	for (int i = 0; i < size; i++)
		if (sending[i]) {
			MPI_Test(&sends[i], &flag, MPI_STATUS_IGNORE);
			if (flag)
				sending[i] = 0;
		}
}

static void pass(int to)
{
	MPI_Isend(out + to * ROOM, filled[to], MPI_INT64_T, to, 0, MPI_COMM_WORLD, &sends[to]);
	sending[to] = 1;
	filled[to] = 0;
}

int main(int argc, char **argv)
{
	int64_t scale = argc > 1 ? atoi(argv[1]) : 10, roots = argc > 2 ? atoi(argv[2]) : 4, vertices = (int64_t)1 << scale, *now, count, all;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	out = malloc(size * ROOM * sizeof *out);
	in = malloc(ROOM * sizeof *in);
	seen = malloc((vertices / size + 1) * sizeof *seen);
	next = malloc((vertices / size + 1) * sizeof *next);
	now = malloc((vertices / size + 1) * sizeof *now);
	filled = calloc(size, sizeof *filled);
	sends = malloc(size * sizeof *sends);
	sending = calloc(size, 1);
	for (int root = 0; root < roots; root++) {
		memset(seen, 0, (vertices / size + 1) * sizeof *seen);
		int64_t first = mixed(root + 1) % vertices;
		nexts = count = 0;
		if (first % size == rank) {
			seen[first / size] = 1;
			now[count++] = first;
		}
		do {
			done = 1;
			post();
			for (int64_t i = 0; i < count; i++) {
				check();
				for (int e = 0; e < 16; e++) {
					int64_t v = mixed(now[i] * 16 + e) % vertices;
					int to = v % size;
					if (to == rank) {
						reach(v);
						continue;
					}
					while (sending[to])
						check();
					out[to * ROOM + filled[to]++] = v;
					if (filled[to] == ROOM)
						pass(to);
				}
			}
			for (int i = 1; i < size; i++) {
				int to = (rank + i) % size;
				if (filled[to]) {
					while (sending[to])
						check();
					pass(to);
				}
				while (sending[to])
					check();
				pass(to); // empty: there are no more
				while (sending[to])
					check();
			}
			while (done < size)
				check();
			MPI_Allreduce(&nexts, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
			int64_t *swap = now;
			now = next;
			next = swap;
			count = nexts;
			nexts = 0;
		} while (all > 0);
	}
	MPI_Finalize();
	return 0;
}
