/* turns.c: loops of which the order of calls doesn't tell which went round; it says itself how often each of them did. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#define LOOPS 16
static struct {
	int line;
	long entered, rounds;
} loops[LOOPS];

#define ENTER(n) (loops[n].line = __LINE__ + 1, loops[n].entered++)
#define ROUND(n) (loops[n].rounds++)

#define FN __attribute__((noinline)) static void

/* What the compiler can't see through. */
__attribute__((noinline)) static long opaque(long x)
{
	__asm__ volatile("" : "+r"(x) : : "memory");
	return x;
}

FN barrier(void)
{
	MPI_Barrier(MPI_COMM_SELF);
	__asm__ volatile("" : : : "memory"); /* no jump */
}

/* One call in three loops. */
FN nest(long a, long b, long c)
{
	ENTER(0);
	for (long i = 0; i < a; i++) {
		ROUND(0);
		ENTER(1);
		for (long j = 0; j < b; j++) {
			ROUND(1);
			ENTER(2);
			for (long k = 0; k < c; k++) {
				ROUND(2);
				MPI_Barrier(MPI_COMM_SELF);
			}
		}
	}
}

/* A loop in a function that a loop calls, and a call behind the loop in some rounds. */
FN inner(long n)
{
	ENTER(4);
	for (long i = n; i > 0; i -= 2) {
		ROUND(4);
		barrier();
	}
}

FN outer(long n)
{
	ENTER(3);
	for (int i = 0; i < n; i++) {
		ROUND(3);
		inner(opaque(2 + i % 3 * 2));
		if (opaque(i) % 4 == 3)
			barrier();
	}
}

/* Either call of a round may be left out. */
FN either(long n)
{
	ENTER(5);
	for (long i = 0; i < n; i++) { /* silent */
		ROUND(5);
		ENTER(6);
		for (long j = 0; j < 3; j++) { /* silent */
			ROUND(6);
			if (opaque(i + j) % 2 == 0)
				MPI_Barrier(MPI_COMM_SELF);
			if (opaque(j) % 2 == 0)
				MPI_Barrier(MPI_COMM_SELF);
		}
	}
}

/* The counter that calls keep is a pointer. */
FN pointers(const int *p, const int *end)
{
	ENTER(7);
	for (; p < end; p += 2) {
		ROUND(7);
		ENTER(8);
		for (const int *q = p; q < end; q++) {
			ROUND(8);
			barrier();
		}
	}
}

static void *thread(void *unused)
{
	nest(opaque(2), opaque(2), opaque(2));
	return unused;
}

int main(int argc, char **argv)
{
	static const int list[12];
	int provided;
	pthread_t other;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	nest(1, 2, 2);
	nest(opaque(3), opaque(1), opaque(4));
	nest(opaque(2), opaque(3), opaque(1));
	outer(opaque(9));
	either(opaque(5));
	pointers(list, list + opaque(12));
	ENTER(9);
	for (long i = 0; i < opaque(3); i++) {
		ROUND(9);
		ENTER(10);
		for (long j = 0; j < opaque(2); j++) {
			ROUND(10);
			MPI_Barrier(MPI_COMM_SELF);
		}
	}
	if (pthread_create(&other, NULL, thread, NULL) == 0)
		pthread_join(other, NULL);
	MPI_Finalize();
	for (int i = 0; i < LOOPS; i++)
		if (loops[i].entered)
			printf("loop %d %ld %ld\n", loops[i].line, loops[i].entered, loops[i].rounds);
	return 0;
}
