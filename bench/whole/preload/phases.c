// Preloaded in front of spoor: when a process enters and leaves MPI_Init and MPI_Finalize, and the processor time it has
// used by then. Appends a line to the file that PHASES_OUT names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct moment {
	long long wall, cpu; // ns
};

static struct moment at[4]; // MPI_Init entered and left, MPI_Finalize entered and left

static long long ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void look(struct moment *m)
{
	m->wall = ns(CLOCK_REALTIME);
	m->cpu = ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void tell(void)
{
	const char *path = getenv("PHASES_OUT");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	char line[512];
	int n = 0;
	if (fd < 0)
		return;
	for (int i = 0; i < 4; i++)
		n += snprintf(line + n, sizeof line - (size_t)n, "%lld %lld%c", at[i].wall, at[i].cpu, i < 3 ? ' ' : '\n');
	if (write(fd, line, (size_t)n) < 0)
		_exit(3);
	close(fd);
}

// A Fortran layer calls the C function in turn: only the outermost counts.
static int depth;

static void enter(int end)
{
	if (depth++ == 0)
		look(&at[2 * end]);
}

static void leave(int end)
{
	if (--depth > 0)
		return;
	look(&at[2 * end + 1]);
	if (end)
		tell();
}

#define AROUND(end, name, result, params, args, keep, give) \
	result name params \
	{ \
		result(*next) params = (result(*) params)dlsym(RTLD_NEXT, #name); \
		enter(end); \
		keep next args; \
		leave(end); \
		give; \
	}

AROUND(0, MPI_Init, int, (int *argc, char ***argv), (argc, argv), int err =, return err)
AROUND(0, MPI_Init_thread, int, (int *argc, char ***argv, int want, int *got), (argc, argv, want, got), int err =, return err)
AROUND(1, MPI_Finalize, int, (void), (), int err =, return err)
AROUND(0, mpi_init_, void, (int *err), (err), , )
AROUND(0, mpi_init_f08_, void, (int *err), (err), , )
AROUND(0, mpi_init_thread_, void, (int *want, int *got, int *err), (want, got, err), , )
AROUND(0, mpi_init_thread_f08_, void, (int *want, int *got, int *err), (want, got, err), , )
AROUND(1, mpi_finalize_, void, (int *err), (err), , )
AROUND(1, mpi_finalize_f08_, void, (int *err), (err), , )
