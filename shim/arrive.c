/*
 * arrive.c: marks of processes in MPI_Init, MPI_Session_init and MPI_Finalize.
 *
 * In the first two there is no process directory yet, in the last none any more, and others may wait there for one that
 * never comes. A mark is a file HOST-PID.in below SPOOR_SCRATCH, as long as the call lasts, with lines of "key value". Containers
 * may have equal hosts and numbers: then it is HOST-PID.1.in, and so on.
 *
 *   spoor-arrival 1
 *   call NAME
 *   host NAME
 *   pid N
 *   namespace N              of process numbers; where it is not the host's, the mark is locked
 *   start NS                 since 1970
 *   rank N                   where it is known, with
 *   ranks N
 *   env NAME=VALUE           what a launcher says of ranks and their number
 */
#include "arrive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lives.h"
#include "ring.h"
#include "runtime.h"

extern char **environ;

static char mark[4096];
static int held = -1; /* its descriptor */
static int ends; /* the folder isn't needed any more */

static int of_launcher(const char *variable)
{
	static const char *const names[] = {"PMI_", "PMIX_", "OMPI_COMM_WORLD_", "MPI_LOCAL", "MV2_COMM_WORLD_", "SLURM_", "FLUX_", "PALS_", "ALPS_", "JSM_"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return strlen(variable) < 200 && !strchr(variable, '\n');
	return 0;
}

static void leave_mark(const char *call)
{
	const char *folder = getenv("SPOOR_SCRATCH");
	char host[256] = "localhost";
	struct timespec now;
	if (!folder || *folder != '/' || *mark)
		return;
	mkdir(folder, 0755);
	gethostname(host, sizeof host - 1);
	int fd = -1;
	for (int i = 0; fd < 0 && i < 100; i++) {
		char number[16] = "";
		if (i > 0)
			snprintf(number, sizeof number, ".%d", i);
		snprintf(mark, sizeof mark, "%.2048s/%s-%d%s.in", folder, host, (int)getpid(), number);
		fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f) {
		if (fd >= 0)
			close(fd);
		*mark = 0;
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	fprintf(f, "spoor-arrival 1\ncall %s\nhost %s\npid %d\nnamespace %" PRIu64 "\nstart %" PRId64 "\n", call, host,
		(int)getpid(), sp_lives_namespace(), now.tv_sec * INT64_C(1000000000) + now.tv_nsec);
	if (sp_run.ranks > 0)
		fprintf(f, "rank %d\nranks %d\n", sp_run.rank, sp_run.ranks);
	for (char **e = environ; e && *e; e++)
		if (of_launcher(*e))
			fprintf(f, "env %s\n", *e);
	fclose(f);
	held = sp_lives_lock(mark, 0);
	ends = sp_run.ranks > 0;
}

void sp_arrive(const char *call)
{
	sp_self.in[SP_BUSY]++; /* these calls of files aren't the program's */
	leave_mark(call);
	sp_self.in[SP_BUSY]--;
}

void sp_arrive_end(void)
{
	if (!*mark)
		return;
	sp_self.in[SP_BUSY]++;
	unlink(mark);
	if (held >= 0)
		close(held);
	held = -1;
	if (ends) /* sp_scratch_remove found the mark there */
		sp_scratch_leave(mark);
	*mark = 0;
	sp_self.in[SP_BUSY]--;
}
