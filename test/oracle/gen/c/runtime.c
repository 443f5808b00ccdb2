/* runtime.c: when calls are logged, and what else there is to tell of them. */
#define _GNU_SOURCE
#include "log.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A name and its raw value; the generator writes the list. */
struct o_constant {
	const char *name;
	int64_t value;
};
int o_constants(struct o_constant *list, int max);

static atomic_int threads;
static atomic_ullong events; /* entries and exits of all threads so far */
atomic_int o_in_mpi;
static atomic_int finalised;

/* The functions behind this library are the shim's or the MPI's own. */
void *o_next(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);
	if (!f) {
		dprintf(2, "oracle: no %s behind me\n", name);
		_exit(99);
	}
	return f;
}

static void *(*find)(void *, const char *);
static void *behind_shim; /* the object whose scope has the MPI's functions */

/* Before there is a log: the loader allocates and frees. */
__attribute__((constructor)) static void find_mpi(void)
{
	Dl_info info;
	struct link_map *l = NULL;
	void *c = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), *init = dlsym(RTLD_NEXT, "PMPI_Init");
	*(void **)&find = c ? dlsym(c, "dlsym") : NULL;
	if (!find || !init || !dladdr1(init, &info, (void **)&l, RTLD_DL_LINKMAP) || !strstr(info.dli_fname, "libspoor"))
		return;
	while (!behind_shim && (l = l->l_next)) {
		void *h = dlopen(l->l_name, RTLD_LAZY | RTLD_NOLOAD);
		if (h && find(h, "PMPI_Init"))
			behind_shim = h;
	}
}

/* The MPI's own function, for what the oracle itself wants to know: the shim takes a PMPI_
   call for the program's, and so what its dlsym leads to. */
void *o_mpi(const char *name)
{
	void *f = behind_shim ? find(behind_shim, name) : NULL;
	return f ? f : o_next(name);
}

static void write_constants(const char *dir)
{
	static struct o_constant list[2048];
	int n = o_constants(list, 2048);
	o_put("{\"constants\":{");
	for (int i = 0; i < n; i++)
		o_put("%s\"%s\":%lld", i ? "," : "", list[i].name, (long long)list[i].value);
	o_put("}}\n");
	int fd = o_create(dir, "meta", O_TRUNC);
	o_flush(fd);
	close(fd);
}

static int started(void)
{
	if (o_self.fd)
		return o_self.fd > 0;
	const char *dir = getenv("ORACLE_DIR");
	if (!dir) {
		o_self.fd = -1;
		return 0;
	}
	int n = atomic_fetch_add(&threads, 1);
	if (n == 0)
		write_constants(dir);
	char suffix[16];
	snprintf(suffix, sizeof suffix, "%d", n);
	o_self.fd = o_create(dir, suffix, O_TRUNC);
	return 1;
}

/* Libraries that implement MPI: what they call among themselves while a call
   is under way is no call of the program. The Fortran bindings are none of
   these: a callback written in Fortran calls MPI through them. */
static int inner_library(const char *base)
{
	static const char *const names[] = {
		"libmpi.so", "libmpich.so", "libmpi_abi.so", "libopen-", "libmca_", "mca_", "libspoor",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return 1;
	return 0;
}

static int from_inside(void *caller, Dl_info *info, const char **base)
{
	*info = (Dl_info){0};
	dladdr(caller, info);
	*base = info->dli_fname ? info->dli_fname : "";
	const char *slash = strrchr(*base, '/');
	if (slash)
		*base = slash + 1;
	return inner_library(*base);
}

/* What the program frees is logged, as one segment may then follow another
   under the same name. */
static void log_free(void *p, void *caller)
{
	Dl_info info;
	const char *base;
	if (!p || o_self.fd <= 0 || o_self.depth > 0 || from_inside(caller, &info, &base))
		return;
	o_self.saved_errno = errno;
	o_put("{\"free\":\"p:%llx\",\"order\":%llu}\n", (unsigned long long)(uintptr_t)p, (unsigned long long)atomic_fetch_add(&events, 1));
	o_flush(o_self.fd);
	errno = o_self.saved_errno;
}

static void (*next_free)(void *);
static void *(*next_realloc)(void *, size_t);
static __thread int resolving;

/* dlsym may itself free; that little memory is lost. */
void free(void *p)
{
	if (!next_free) {
		if (resolving)
			return;
		resolving = 1;
		next_free = (__typeof__(next_free))o_next("free");
		resolving = 0;
	}
	log_free(p, __builtin_return_address(0));
	next_free(p);
}

void *realloc(void *p, size_t size)
{
	if (!next_realloc) {
		if (resolving)
			return NULL;
		resolving = 1;
		next_realloc = (__typeof__(next_realloc))o_next("realloc");
		resolving = 0;
	}
	log_free(p, __builtin_return_address(0));
	return next_realloc(p, size);
}

int o_enter(const char *name, int profiling, void *caller)
{
	o_self.saved_errno = errno;
	if (!started())
		return 0;
	Dl_info info;
	const char *base;
	int inside = from_inside(caller, &info, &base);
	if (!strncmp(base, "libspoor", 8) || (o_self.depth > 0 && inside))
		return 0;
	o_self.seq++;
	o_self.comma = 0;
	o_put("{\"enter\":%llu,\"name\":\"%s%s\"", (unsigned long long)o_self.seq, profiling ? "P" : "", name);
	o_put(",\"order\":%llu,\"depth\":%d,\"library\":\"", (unsigned long long)atomic_fetch_add(&events, 1), o_self.depth);
	o_quote(base);
	o_put("\",\"caller\":\"");
	o_quote(info.dli_sname ? info.dli_sname : "");
	o_put("\"");
	if (atomic_load(&finalised))
		o_put(",\"finalised\":true");
	o_put(",\"args\":[");
	return 1;
}

uint64_t o_entered(void)
{
	o_put("]}\n");
	o_flush(o_self.fd);
	errno = o_self.saved_errno;
	return o_self.seq;
}

void o_leave(uint64_t seq)
{
	o_self.saved_errno = errno;
	o_self.comma = 0;
	o_put("{\"leave\":%llu,\"order\":%llu", (unsigned long long)seq, (unsigned long long)atomic_fetch_add(&events, 1));
}

void o_returned_int(int64_t rc)
{
	o_put(",\"ret\":%lld", (long long)rc);
}

void o_returned_double(double value)
{
	o_put(",\"ret\":%.17g", value);
}

void o_returned_handle(uint64_t raw)
{
	o_put(",\"ret\":\"h:%llx\"", (unsigned long long)raw);
}

void o_outputs(void)
{
	o_put(",\"args\":[");
}

void o_outputs_end(void)
{
	o_put("]");
}

static void put_members(const char *name, MPI_Group group)
{
	MPI_Group world;
	int n, translated;
	REAL(MPI_Comm_group)(MPI_COMM_WORLD, &world);
	REAL(MPI_Group_size)(group, &n);
	o_put(",\"%s\":[", name);
	for (int i = 0; i < n; i++) {
		REAL(MPI_Group_translate_ranks)(group, 1, &i, world, &translated);
		o_put("%s%d", i ? "," : "", translated == MPI_UNDEFINED ? -1 : translated);
	}
	o_put("]");
	REAL(MPI_Group_free)(&world);
}

/* What a new communicator is. */
void o_new_comm(const MPI_Comm *comm)
{
	MPI_Group group;
	int rank, inter;
	if (!atomic_load(&o_in_mpi) || *comm == MPI_COMM_NULL)
		return;
	REAL(MPI_Comm_rank)(*comm, &rank);
	REAL(MPI_Comm_test_inter)(*comm, &inter);
	o_put(",\"comm\":{\"rank\":%d", rank);
	REAL(MPI_Comm_group)(*comm, &group);
	put_members("members", group);
	REAL(MPI_Group_free)(&group);
	if (inter) {
		REAL(MPI_Comm_remote_group)(*comm, &group);
		put_members("remote", group);
		REAL(MPI_Group_free)(&group);
	}
	o_put("}");
}

/* What a new datatype is. */
void o_new_type(const MPI_Datatype *type)
{
	MPI_Count size, lb, extent, true_lb, true_extent;
	if (!atomic_load(&o_in_mpi) || *type == MPI_DATATYPE_NULL)
		return;
	REAL(MPI_Type_size_x)(*type, &size);
	REAL(MPI_Type_get_extent_x)(*type, &lb, &extent);
	REAL(MPI_Type_get_true_extent_x)(*type, &true_lb, &true_extent);
	o_put(",\"type\":[%lld,%lld,%lld,%lld,%lld]", (long long)size, (long long)lb, (long long)extent,
	    (long long)true_lb, (long long)true_extent);
}

void o_left(void)
{
	o_put("}\n");
	o_flush(o_self.fd);
	errno = o_self.saved_errno;
}

void o_nest(int by)
{
	o_self.depth += by;
}

/* Processes that were started together share a job: Open MPI names it, by another
   variable since 5.0, MPICH gives each its own parent process. */
void o_initialised(void)
{
	atomic_store(&o_in_mpi, 1);
	const char *dir = getenv("ORACLE_DIR");
	if (!dir)
		return;
	int rank, size, spawned;
	MPI_Comm parent;
	REAL(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
	REAL(MPI_Comm_size)(MPI_COMM_WORLD, &size);
	REAL(MPI_Comm_get_parent)(&parent);
	spawned = parent != MPI_COMM_NULL;
	const char *job = getenv("OMPI_MCA_ess_base_jobid");
	if (!job)
		job = getenv("PMIX_NAMESPACE");
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	o_put("{\"rank\":%d,\"size\":%d,\"spawned\":%s,\"started\":%lld,\"job\":\"", rank, size, spawned ? "true" : "false",
	      now.tv_sec * 1000000000LL + now.tv_nsec);
	if (job)
		o_quote(job);
	else
		o_put("%d", (int)getppid());
	o_put("\"}\n");
	int fd = o_create(dir, "meta", O_APPEND);
	o_flush(fd);
	close(fd);
}

void o_finalised(void)
{
	atomic_store(&o_in_mpi, 0);
	atomic_store(&finalised, 1);
}

int o_success(int rc)
{
	int class = rc;
	if (rc != MPI_SUCCESS && atomic_load(&o_in_mpi))
		REAL(MPI_Error_class)(rc, &class);
	return class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
}
