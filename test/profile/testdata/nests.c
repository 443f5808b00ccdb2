/* Loops whose rounds are known, for the tree of the program's own loops: each has a name, and code_test.go its numbers. */
#include <mpi.h>
#include <stdlib.h>

#define APART __attribute__((noinline, noclone))

static volatile int zero;

APART static void even(void)
{
	int n;
	MPI_Comm_rank(MPI_COMM_WORLD, &n);
	zero = 0;
}

APART static void odd(void)
{
	int n;
	for (int i = 0; i < 3 + zero; i++) /* loop odd */
		MPI_Comm_size(MPI_COMM_WORLD, &n);
	zero = 0;
}

static void (*const hooks[])(void) = {even, odd};

APART static void down(int n)
{
	MPI_Wtime();
	if (n > 0)
		down(n - 1);
	for (int i = 0; i < 2 + zero; i++) /* loop down */
		MPI_Wtick();
	zero = 0;
}

/* From -O2 on, both end in jumps. */
APART static int last(void)
{
	return MPI_Barrier(MPI_COMM_WORLD);
}

APART static int middle(void)
{
	zero = 0;
	return last();
}

/* Which of the three goes round can't be told. */
APART static void nest(int x, int y, int z)
{
	for (int i = 0; i < x; i++) /* loop first */
		for (int j = 0; j < y; j++) /* loop second */
			for (int k = 0; k < z; k++) /* loop third */
				MPI_Wtick();
	zero = 0;
}

static int compare(const void *a, const void *b)
{
	MPI_Wtime();
	return *(const int *)a - *(const int *)b;
}

int main(int argc, char **argv)
{
	int flag, list[] = {3, 1, 2};
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 7 + zero; i++) { /* loop triangle */
		MPI_Barrier(MPI_COMM_WORLD);
		for (int j = 0; j <= i; j++) /* loop side */
			MPI_Wtime();
	}
	for (int i = 0; i < 5 + zero; i++) { /* loop pointers */
		hooks[i % 2]();
		MPI_Initialized(&flag);
	}
	for (int i = 0; i < 10 + zero; i++) /* loop silent */
		if (i % 3 == zero)
			MPI_Finalized(&flag);
	MPI_Initialized(&flag);
	for (int i = 1; i <= 3 + zero; i++) { /* loop calls */
		down(i);
		MPI_Initialized(&flag);
	}
	for (int i = 0; i < 4 + zero; i++) /* loop tails */
		middle();
	nest(1 + zero, 2 + zero, 2 + zero);
	qsort(list, 3, sizeof *list, compare);
	for (;;) { /* loop endless */
		switch (list[0]++) {
		case 3:
			MPI_Wtime();
			continue;
		case 6:
			MPI_Finalized(&flag);
			break;
		default:
			MPI_Wtick();
			continue;
		}
		break;
	}
	MPI_Finalize();
	return 0;
}
