/* Calls MPI, and the functions of foreign.c: linked to it (LINKED), or by what dlopen and dlsym return. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

struct pair { double a; long b; };
typedef struct pair (*function)(long, long, long, long, long, long, long, long, double, double, double);

static const char *file(void *f)
{
	Dl_info i;
	if (!dladdr(f, &i))
		return "?";
	const char *slash = strrchr(i.dli_fname, '/');
	return slash ? slash + 1 : i.dli_fname;
}

#ifdef LINKED
void call_directly(const char *how);
int check_foreign(const char *how, const char *name, function f);
#define NAME(name) struct pair name(long, long, long, long, long, long, long, long, double, double, double);
NAME(mpi_comm_rank) NAME(mpi_comm_rank_) NAME(mpi_comm_rank__) NAME(MPI_COMM_RANK) NAME(mpi_init) NAME(mpi_init_) NAME(mpi_free)
NAME(tee) NAME(eaccess)
#endif

int main(int argc, char **argv)
{
	static const char *const names[] = {"mpi_comm_rank", "mpi_comm_rank_", "mpi_comm_rank__", "MPI_COMM_RANK", "mpi_init", "mpi_init_",
		"mpi_free", "mpi_send_"};
	int rank;
	MPI_Init(&argc, &argv);
#ifdef LINKED
#define USE(name) \
	check_foreign("linked", #name, name); \
	if (strncmp(#name, "tee", 3) && strncmp(#name, "eac", 3)) \
		printf("%s is in %s\n", #name, file((void *)name));
	USE(mpi_comm_rank) USE(mpi_comm_rank_) USE(mpi_comm_rank__) USE(MPI_COMM_RANK) USE(mpi_init) USE(mpi_init_) USE(mpi_free)
#ifdef FILES
	USE(tee) USE(eaccess)
#endif
	call_directly("inside");
#else
	void *h = dlopen(argv[1], (argc > 2 && strcmp(argv[2], "now") == 0 ? RTLD_NOW : RTLD_LAZY)
		| (argc > 3 && strcmp(argv[3], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL));
	if (!h)
		printf("%s\n", dlerror());
	int (*check)(const char *, const char *, function) = dlsym(h, "check_foreign");
	void (*inside)(const char *) = dlsym(h, "call_directly");
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
		void *f = dlsym(h, names[i]);
		printf("%s is in %s\n", names[i], file(f));
		check("dlsym", names[i], f);
	}
	inside("inside");
#endif
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
