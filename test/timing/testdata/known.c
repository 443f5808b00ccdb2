// All calls of this program are known: for each of them, log.RANK has the place in the program,
// the function, when the program called, when that came by below the recorder and went
// back there (below.c), and when it returned, in ns. So as the recorder sees it, a call
// began between the first two times and ended between the last two, whatever else the machine did.
//
// Calls of one site take and follow different times at different places, and ranks compute
// unequally: a call alone, many short ones in a loop, one alone again; a warm-up and a
// main loop; a loop that is entered after more work than its rounds begin with; ranks that
// are late at a barrier, and with a message.
//
// With an argument, it dies in its last call, half a second after that began; what it can't know of it is 0.
#include "below.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static struct {
	const char *place, *name;
	double from, in, out, to;
} calls[1024];
static int ncalls, rank, ranks;
static double slow = 1;

static void work(double ms)
{
	struct timespec t = {0, (long)(ms * slow * 1e6)};
	nanosleep(&t, NULL);
}

static void before(const char *place, const char *name, double ms)
{
	below_call.name = name;
	below_call.sleep = (long)(ms * 1e6);
	calls[ncalls].place = place;
	calls[ncalls].name = name;
	calls[ncalls].from = below_now();
}

static void after(void)
{
	calls[ncalls].to = below_now();
	calls[ncalls].in = below_call.from;
	calls[ncalls++].out = below_call.to;
}

// A call that lasts so many ms longer than it would.
#define CALL(place, ms, name, ...) (before(place, #name, ms), MPI_##name(__VA_ARGS__), after())

static void step(const char *place, double ms)
{
	int one = 1, all;
	CALL(place, ms, Allreduce, &one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void shift(const char *place, double ms)
{
	int in, out = 1;
	CALL(place, ms, Sendrecv, &out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void message(const char *place)
{
	int in, out = 1;
	MPI_Request request;
	CALL(place, 0, Irecv, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, &request);
	work(rank == 0 ? 12 : 2);
	CALL(place, 0, Send, &out, 1, MPI_INT, (rank + 1) % ranks, 2, MPI_COMM_WORLD);
	CALL(place, 0, Wait, &request, MPI_STATUS_IGNORE);
}

// Each fence is a call site of its own.
#define FENCE() CALL("fence", 0, Comm_size, MPI_COMM_WORLD, &ranks)

static int tell(void)
{
	char path[64], draft[64];
	snprintf(path, sizeof path, "log.%d", rank);
	snprintf(draft, sizeof draft, "draft.%d", rank);
	FILE *f = fopen(draft, "w");
	for (int i = 0; i < ncalls; i++)
		fprintf(f, "%s MPI_%s %.0f %.0f %.0f %.0f\n", calls[i].place, calls[i].name, calls[i].from, calls[i].in, calls[i].out, calls[i].to);
	return fclose(f) || rename(draft, path); // whole, whenever another rank's end is this one's
}

static const struct itimerval half = {{0, 0}, {0, 500000}};

static void over(int number)
{
	if (below_call.name) { // not even there
		setitimer(ITIMER_REAL, &half, NULL);
		return;
	}
	calls[ncalls - 1].in = below_call.from;
	calls[ncalls - 1].out = below_now();
	tell();
	signal(number, SIG_DFL);
	raise(number); // when this returns
}

static void die(void)
{
	signal(SIGALRM, over);
	before("open", "Comm_rank", 60000);
	ncalls++;
	tell();
	setitimer(ITIMER_REAL, &half, NULL);
	MPI_Comm_rank(MPI_COMM_SELF, &rank);
}

int main(int argc, char **argv)
{
	CALL("start", 0, Init, &argc, &argv);
	CALL("start", 0, Comm_rank, MPI_COMM_WORLD, &rank);
	slow = 1 + 0.5 * rank;
	FENCE();
	work(20), step("first", 8);
	FENCE();
	for (int i = 0; i < 20; i++)
		work(1), step("loop", 0.5);
	FENCE();
	work(20), step("last", 8);
	FENCE();
	for (int i = 0; i < 8; i++)
		work(3), step("warm-up", 2), shift("warm-up", 0.1);
	FENCE();
	for (int i = 0; i < 40; i++)
		work(0.5), step("main", 0.2), shift("main", 0.1);
	FENCE();
	for (int i = 0; i < 5; i++) {
		work(8), shift("nested", 0.3);
		for (int k = 0; k < 7; k++)
			work(0.5), shift("nested", 0.3);
		CALL("nested", 0, Comm_rank, MPI_COMM_SELF, &(int){0});
	}
	FENCE();
	for (int i = 0; i < 4; i++) {
		work(rank == 1 ? 1 : 10);
		CALL("exchange", 0, Barrier, MPI_COMM_WORLD);
		message("exchange");
	}
	FENCE();
	if (argc > 1)
		die();
	CALL("end", 0, Finalize);
	return tell();
}
