/* A library that has functions of its own under names of MPI's for Fortran, in all manglings, and of the C library's
   for files. They take more than the MPI's do, in integer and vector registers and on the stack, and return structures. */
#include <stdio.h>
#include <string.h>

struct pair { double a; long b; };

#define ALL(D) \
	D(mpi_comm_rank) D(mpi_comm_rank_) D(mpi_comm_rank__) D(MPI_COMM_RANK) \
	D(mpi_init) D(mpi_init_) D(mpi_free) D(mpi_barrier__) D(MPI_SEND) D(mpi_send_) OF_FILES(D)
#ifdef FILES /* what is loaded later comes behind the C library */
#define OF_FILES(D) D(tee) D(eaccess) D(sync_file_range)
#else
#define OF_FILES(D)
#endif

#define DEFINE(name) \
	struct pair name(long a, long b, long c, long d, long e, long f, long g, long h, double x, double y, double z) \
	{ \
		return (struct pair){x + 10 * y + 100 * z, a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h}; \
	}
ALL(DEFINE)

typedef struct pair (*function)(long, long, long, long, long, long, long, long, double, double, double);

/* As glue of interpreters registers itself. */
#define ROW(name) {#name, name},
static const struct { const char *name; function f; } table[] = {ALL(ROW) {NULL, NULL}};

static int check(const char *how, const char *name, function f)
{
	struct pair p = f(1, 2, 3, 4, 5, 6, 7, 8, 0.5, 2, 3);
	int right = p.a == 320.5 && p.b == 1 + 4 + 9 + 20 + 35 + 66 + 91 + 136;
	printf("%s %s: %s\n", how, name, right ? "right" : "WRONG");
	return right;
}

void call_directly(const char *how)
{
#define CALL(name) check(how, #name, name);
	ALL(CALL)
	for (int i = 0; table[i].name; i++)
		check("table", table[i].name, table[i].f);
}

/* Of an address, which program and library must have in common. */
int check_foreign(const char *how, const char *name, function f)
{
	return check(how, name, f);
}

__attribute__((constructor)) static void loaded(void)
{
	call_directly("constructor");
}
