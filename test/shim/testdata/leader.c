/* Ways for a program to end by other threads than the first, or to go on as another process. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static const char *how;
static int is(const char *name) { return strcmp(how, name) == 0; }
static void said(void) { puts("<atexit>"); }
static void begin(void)
{
	int provided;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
}
static void end(void)
{
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
}
static void *other(void *arg)
{
	usleep(50000); /* main is gone by now, mostly */
	if (is("early"))
		begin();
	if (!is("late"))
		end();
	puts("<thread>"); /* left in the buffer: whoever ends the process flushes it */
	if (is("code"))
		exit(3);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
	how = argv[1];
	atexit(said);
	if (is("child")) { /* as a daemon begins */
		pid_t p = fork();
		if (p) {
			waitpid(p, NULL, 0);
			_exit(0);
		}
	}
	if (!is("early"))
		begin();
	if (is("late") || is("exec") || is("child"))
		end();
	if (is("exec"))
		execl("/bin/echo", "echo", "<another>", NULL);
	if (is("child"))
		return 0;
	pthread_create(&t, NULL, other, NULL);
	puts("<main>"); /* in brackets: what ranks print may end on one line */
	if (is("code"))
		pthread_join(t, NULL);
	pthread_exit(NULL);
}
