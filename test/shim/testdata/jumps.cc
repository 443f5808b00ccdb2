/* jumps WAY [N]: leaves MPI calls in many ways other than by their return, N times. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static int rank, buffer[4];

static void jumps(MPI_Comm *, int *, ...)
{
	siglongjmp(back, 1);
}

static void throws(MPI_Comm *, int *, ...)
{
	throw 7;
}

static void asks_and_jumps(MPI_Comm *, int *code, ...)
{
	int kind;
	MPI_Error_class(*code, &kind);
	siglongjmp(back, 1);
}

static void handle(void (*f)(MPI_Comm *, int *, ...))
{
	MPI_Errhandler handler;
	MPI_Comm_create_errhandler(f, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
}

static void fail()
{
	MPI_Send(buffer, 1, MPI_INT, 7, 0, MPI_COMM_SELF);
}

static long resident()
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%*d %ld", &pages) != 1)
		exit(3);
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

/* In one frame, again and again; says how much memory that took. */
static void loop(int n)
{
	long kb = 0;
	handle(jumps);
	for (volatile int i = 0; i < n; i++) {
		if (i == n / 10)
			kb = resident();
		if (sigsetjmp(back, 0) == 0)
			fail();
		else
			MPI_Barrier(MPI_COMM_SELF);
	}
	printf("%ld\n", resident() - kb);
}

/* All calls afterwards are made from deeper frames than the one that was left. */
static __attribute__((noinline)) int deeper(int n)
{
	volatile char room[256];
	memset((char *)room, n, sizeof room);
	if (n > 0)
		return deeper(n - 1) + room[7];
	MPI_Reduce_local(buffer, buffer + 1, 1, MPI_INT, MPI_SUM);
	MPI_Barrier(MPI_COMM_SELF);
	return room[3];
}

static void deep(int n)
{
	handle(jumps);
	if (sigsetjmp(back, 0) == 0)
		fail();
	for (int i = 0; i < n; i++)
		deeper(20);
}

static void exceptions(int n)
{
	handle(throws);
	for (int i = 0; i < n; i++)
		try {
			fail();
		} catch (int) {
			MPI_Barrier(MPI_COMM_SELF);
		}
}

static void inside(int n)
{
	handle(asks_and_jumps);
	for (volatile int i = 0; i < n; i++)
		if (sigsetjmp(back, 0) == 0)
			fail();
}

/* ---- out of callbacks ---- */

static void op_jumps(void *, void *, int *, MPI_Datatype *)
{
	siglongjmp(back, 1);
}

static int copy_throws(MPI_Comm, int, void *, void *, void *, int *)
{
	throw 8;
}

/* Once: it is still there in MPI_Finalize. */
static int delete_jumps(MPI_Comm, int, void *, void *)
{
	static int left;
	if (left++ == 0)
		siglongjmp(back, 1);
	return MPI_SUCCESS;
}

static int query_jumps(void *, MPI_Status *)
{
	siglongjmp(back, 1);
}

static int nothing(void *)
{
	return MPI_SUCCESS;
}

static int cancel_nothing(void *, int)
{
	return MPI_SUCCESS;
}

static void callbacks()
{
	MPI_Op op;
	MPI_Comm comm;
	MPI_Request request;
	int key;
	MPI_Op_create(op_jumps, 1, &op);
	if (sigsetjmp(back, 0) == 0)
		MPI_Reduce_local(buffer, buffer + 1, 1, MPI_INT, op);
	MPI_Comm_create_keyval(copy_throws, delete_jumps, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, buffer);
	try {
		MPI_Comm_dup(MPI_COMM_SELF, &comm);
	} catch (int) {
		MPI_Barrier(MPI_COMM_SELF);
	}
	if (sigsetjmp(back, 0) == 0)
		MPI_Comm_delete_attr(MPI_COMM_SELF, key);
	MPI_Grequest_start(query_jumps, nothing, cancel_nothing, NULL, &request);
	MPI_Grequest_complete(request);
	if (sigsetjmp(back, 0) == 0)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_SELF);
	fflush(stdout);
}

/* ---- into callbacks, and elsewhere ---- */

static void op_recovers(void *, void *, int *, MPI_Datatype *)
{
	if (sigsetjmp(back, 0) == 0)
		fail();
}

static void nested()
{
	MPI_Op op;
	handle(jumps);
	MPI_Op_create(op_recovers, 1, &op);
	for (int i = 0; i < 3; i++)
		MPI_Reduce_local(buffer, buffer + 1, 1, MPI_INT, op);
}

static ucontext_t first, second;
static char stacks[2][256 << 10];

static void other()
{
	for (;;) {
		MPI_Barrier(MPI_COMM_SELF);
		swapcontext(&second, &first);
	}
}

static void op_switches(void *, void *, int *, MPI_Datatype *)
{
	swapcontext(&first, &second);
}

/* Calls of a coroutine while another is inside of a call. */
static void coroutine()
{
	MPI_Op op;
	getcontext(&second);
	second.uc_stack.ss_sp = stacks[0];
	second.uc_stack.ss_size = sizeof stacks[0];
	makecontext(&second, other, 0);
	MPI_Op_create(op_switches, 1, &op);
	for (int i = 0; i < 3; i++)
		MPI_Reduce_local(buffer, buffer + 1, 1, MPI_INT, op);
}

/* ---- out of signal handlers ---- */

static void alarmed(int)
{
	siglongjmp(back, 1);
}

/* Prints how many calls came to their end, and how often one may have been left. */
static void signals(int n, int flags)
{
	static volatile long made;
	static volatile int left;
	struct sigaction action;
	/* for this thread alone: libraries have others */
	struct itimerspec every = {{0, 0}, {0, 100000}};
	struct sigevent event;
	timer_t timer;
	stack_t stack;
	memset(&action, 0, sizeof action);
	memset(&stack, 0, sizeof stack);
	stack.ss_sp = stacks[1];
	stack.ss_size = sizeof stacks[1];
	sigaltstack(&stack, NULL);
	action.sa_handler = alarmed;
	action.sa_flags = flags;
	sigaction(SIGALRM, &action, NULL);
	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGALRM;
	event._sigev_un._tid = (int)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	if (sigsetjmp(back, 1) != 0)
		left = left + 1;
	while (left < n) {
		timer_settime(timer, 0, &every, NULL);
		for (;;) {
			MPI_Comm_rank(MPI_COMM_SELF, &rank);
			made = made + 1;
		}
	}
	for (int i = 0; i < 100; i++)
		MPI_Barrier(MPI_COMM_SELF);
	printf("%ld %d\n", made, left);
}

/* ---- threads that end inside of a call ---- */

static void exits(MPI_Comm *, int *, ...)
{
	pthread_exit(NULL);
}

static void *failing(void *)
{
	fail();
	return NULL;
}

static void ends(int n)
{
	handle(exits);
	for (int i = 0; i < n; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, failing, NULL);
		pthread_join(thread, NULL);
	}
}

int main(int argc, char **argv)
{
	int provided, n = argc > 2 ? atoi(argv[2]) : 1;
	const char *way = argc > 1 ? argv[1] : "";
	MPI_Init_thread(NULL, NULL, strcmp(way, "ends") == 0 ? MPI_THREAD_SERIALIZED : MPI_THREAD_SINGLE, &provided);
	if (strcmp(way, "loop") == 0)
		loop(n);
	else if (strcmp(way, "deep") == 0)
		deep(n);
	else if (strcmp(way, "exceptions") == 0)
		exceptions(n);
	else if (strcmp(way, "inside") == 0)
		inside(n);
	else if (strcmp(way, "callbacks") == 0)
		callbacks();
	else if (strcmp(way, "nested") == 0)
		nested();
	else if (strcmp(way, "coroutine") == 0)
		coroutine();
	else if (strcmp(way, "signals") == 0)
		signals(n, 0);
	else if (strcmp(way, "aside") == 0)
		signals(n, SA_ONSTACK);
	else if (strcmp(way, "ends") == 0)
		ends(n);
	else
		return 2;
	MPI_Finalize();
	return 0;
}
