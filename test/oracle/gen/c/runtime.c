#define _GNU_SOURCE
#include "runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A name and its raw value; the generator writes the list. */
struct o_constant {
	const char *name;
	int64_t value;
};
int o_constants(struct o_constant *list, int max);

/* Per thread: the log, the line being made, and how deep calls are nested. */
struct o_thread {
	int fd;
	int depth;
	int comma;
	int saved_errno;
	uint64_t seq;
	char *line;
	size_t len, cap;
};

static __thread struct o_thread self;
static atomic_int threads;
static atomic_ullong events; /* entries and exits of all threads so far */
static atomic_int initialised;
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

#define REAL(f) ((__typeof__(&P##f))o_next("P" #f))

/* Memory for lines is mapped, so that the program's heap looks as without us. */
static void need(size_t more)
{
	if (self.len + more <= self.cap)
		return;
	size_t cap = self.cap ? self.cap : 1 << 16;
	while (cap < self.len + more)
		cap *= 2;
	void *p = self.cap ? mremap(self.line, self.cap, cap, MREMAP_MAYMOVE)
			   : mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		dprintf(2, "oracle: out of memory\n");
		_exit(99);
	}
	self.line = p;
	self.cap = cap;
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
	char text[256];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	need((size_t)n);
	memcpy(self.line + self.len, text, (size_t)n);
	self.len += (size_t)n;
}

static void quote(const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			put("\\u%04x", c);
		else
			put("%c", c);
	}
}

static void flush(int fd)
{
	size_t done = 0;
	while (done < self.len) {
		ssize_t n = write(fd, self.line + done, self.len - done);
		if (n < 0 && errno != EINTR) {
			dprintf(2, "oracle: write: errno %d\n", errno);
			_exit(99);
		}
		if (n > 0)
			done += (size_t)n;
	}
	self.len = 0;
}

static int create(const char *dir, const char *suffix, int flags)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%d.%s", dir, (int)getpid(), suffix);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
	if (fd < 0) {
		dprintf(2, "oracle: %s: errno %d\n", path, errno);
		_exit(99);
	}
	return fd;
}

static void write_constants(const char *dir)
{
	static struct o_constant list[2048];
	int n = o_constants(list, 2048);
	put("{\"constants\":{");
	for (int i = 0; i < n; i++)
		put("%s\"%s\":%lld", i ? "," : "", list[i].name, (long long)list[i].value);
	put("}}\n");
	int fd = create(dir, "meta", O_TRUNC);
	flush(fd);
	close(fd);
}

static int started(void)
{
	if (self.fd)
		return self.fd > 0;
	const char *dir = getenv("ORACLE_DIR");
	if (!dir) {
		self.fd = -1;
		return 0;
	}
	int n = atomic_fetch_add(&threads, 1);
	if (n == 0)
		write_constants(dir);
	char suffix[16];
	snprintf(suffix, sizeof suffix, "%d", n);
	self.fd = create(dir, suffix, O_TRUNC);
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
	if (!p || self.fd <= 0 || self.depth > 0 || from_inside(caller, &info, &base))
		return;
	self.saved_errno = errno;
	put("{\"free\":\"p:%llx\",\"order\":%llu}\n", (unsigned long long)(uintptr_t)p, (unsigned long long)atomic_fetch_add(&events, 1));
	flush(self.fd);
	errno = self.saved_errno;
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
	self.saved_errno = errno;
	if (!started())
		return 0;
	Dl_info info;
	const char *base;
	int inside = from_inside(caller, &info, &base);
	if (!strncmp(base, "libspoor", 8) || (self.depth > 0 && inside))
		return 0;
	self.seq++;
	self.comma = 0;
	put("{\"enter\":%llu,\"name\":\"%s%s\"", (unsigned long long)self.seq, profiling ? "P" : "", name);
	put(",\"order\":%llu,\"depth\":%d,\"library\":\"", (unsigned long long)atomic_fetch_add(&events, 1), self.depth);
	quote(base);
	put("\",\"caller\":\"");
	quote(info.dli_sname ? info.dli_sname : "");
	put("\"");
	if (atomic_load(&finalised))
		put(",\"finalised\":true");
	put(",\"args\":[");
	return 1;
}

uint64_t o_entered(void)
{
	put("]}\n");
	flush(self.fd);
	errno = self.saved_errno;
	return self.seq;
}

void o_leave(uint64_t seq)
{
	self.saved_errno = errno;
	self.comma = 0;
	put("{\"leave\":%llu,\"order\":%llu", (unsigned long long)seq, (unsigned long long)atomic_fetch_add(&events, 1));
}

void o_returned_int(int64_t rc)
{
	put(",\"ret\":%lld", (long long)rc);
}

void o_returned_double(double value)
{
	put(",\"ret\":%.17g", value);
}

void o_returned_handle(uint64_t raw)
{
	put(",\"ret\":\"h:%llx\"", (unsigned long long)raw);
}

void o_outputs(void)
{
	put(",\"args\":[");
}

void o_outputs_end(void)
{
	put("]");
}

static void put_members(const char *name, MPI_Group group)
{
	MPI_Group world;
	int n, translated;
	REAL(MPI_Comm_group)(MPI_COMM_WORLD, &world);
	REAL(MPI_Group_size)(group, &n);
	put(",\"%s\":[", name);
	for (int i = 0; i < n; i++) {
		REAL(MPI_Group_translate_ranks)(group, 1, &i, world, &translated);
		put("%s%d", i ? "," : "", translated == MPI_UNDEFINED ? -1 : translated);
	}
	put("]");
	REAL(MPI_Group_free)(&world);
}

/* What a new communicator is. */
void o_new_comm(const MPI_Comm *comm)
{
	MPI_Group group;
	int rank, inter;
	if (!atomic_load(&initialised) || *comm == MPI_COMM_NULL)
		return;
	REAL(MPI_Comm_rank)(*comm, &rank);
	REAL(MPI_Comm_test_inter)(*comm, &inter);
	put(",\"comm\":{\"rank\":%d", rank);
	REAL(MPI_Comm_group)(*comm, &group);
	put_members("members", group);
	REAL(MPI_Group_free)(&group);
	if (inter) {
		REAL(MPI_Comm_remote_group)(*comm, &group);
		put_members("remote", group);
		REAL(MPI_Group_free)(&group);
	}
	put("}");
}

/* What a new datatype is. */
void o_new_type(const MPI_Datatype *type)
{
	MPI_Count size, lb, extent, true_lb, true_extent;
	if (!atomic_load(&initialised) || *type == MPI_DATATYPE_NULL)
		return;
	REAL(MPI_Type_size_x)(*type, &size);
	REAL(MPI_Type_get_extent_x)(*type, &lb, &extent);
	REAL(MPI_Type_get_true_extent_x)(*type, &true_lb, &true_extent);
	put(",\"type\":[%lld,%lld,%lld,%lld,%lld]", (long long)size, (long long)lb, (long long)extent,
	    (long long)true_lb, (long long)true_extent);
}

void o_left(void)
{
	put("}\n");
	flush(self.fd);
	errno = self.saved_errno;
}

void o_nest(int by)
{
	self.depth += by;
}

/* Processes that were started together share a job: Open MPI names it, MPICH
   gives each its own parent process. */
void o_initialised(void)
{
	atomic_store(&initialised, 1);
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
	put("{\"rank\":%d,\"size\":%d,\"spawned\":%s,\"job\":\"", rank, size, spawned ? "true" : "false");
	if (job)
		quote(job);
	else
		put("%d", (int)getppid());
	put("\"}\n");
	int fd = create(dir, "meta", O_APPEND);
	flush(fd);
	close(fd);
}

void o_finalised(void)
{
	atomic_store(&initialised, 0);
	atomic_store(&finalised, 1);
}

static void separate(void)
{
	if (self.comma)
		put(",");
	self.comma = 1;
}

void o_null(void)
{
	separate();
	put("null");
}

void o_int(int64_t value)
{
	separate();
	put("%lld", (long long)value);
}

void o_handle(uint64_t raw)
{
	separate();
	put("\"h:%llx\"", (unsigned long long)raw);
}

void o_pointer(const void *p)
{
	separate();
	put("\"p:%llx\"", (unsigned long long)(uintptr_t)p);
}

void o_request(uint64_t raw, const void *address)
{
	separate();
	put("\"r:%llx@%llx\"", (unsigned long long)raw, (unsigned long long)(uintptr_t)address);
}

void o_string(const char *s)
{
	if (!o_readable(s)) {
		o_pointer(s);
		return;
	}
	separate();
	put("\"s:");
	quote(s);
	put("\"");
}

void o_list_begin(void)
{
	separate();
	put("[");
	self.comma = 0;
}

void o_list_end(void)
{
	put("]");
	self.comma = 1;
}

/* n < 0: up to the null pointer. */
void o_strings(char *const *list, int64_t n)
{
	if (!o_readable(list)) {
		o_pointer(list);
		return;
	}
	o_list_begin();
	for (int64_t i = 0; n < 0 ? list[i] != NULL : i < n; i++)
		o_string(list[i]);
	o_list_end();
}

void o_string_lists(char **const *list, int64_t n)
{
	if (!o_readable(list)) {
		o_pointer(list);
		return;
	}
	o_list_begin();
	for (int64_t i = 0; i < n; i++)
		o_strings(list[i], -1);
	o_list_end();
}

void o_status(const MPI_Status *status)
{
	if (!o_readable(status)) {
		o_pointer(status);
		return;
	}
	MPI_Count bytes = -1;
	int cancelled = 0;
	if (atomic_load(&initialised)) {
		REAL(MPI_Get_elements_x)((MPI_Status *)(uintptr_t)status, MPI_BYTE, &bytes);
		REAL(MPI_Test_cancelled)((MPI_Status *)(uintptr_t)status, &cancelled);
	}
	separate();
	put("{\"source\":%d,\"tag\":%d,\"error\":%d,\"bytes\":%lld,\"cancelled\":%d}", status->MPI_SOURCE,
	    status->MPI_TAG, status->MPI_ERROR, (long long)bytes, cancelled);
}

void o_statuses(const MPI_Status *list, int64_t n)
{
	if (!o_readable(list)) {
		o_pointer(list);
		return;
	}
	o_list_begin();
	for (int64_t i = 0; i < n; i++)
		o_status(&list[i]);
	o_list_end();
}

int o_readable(const void *p)
{
	uintptr_t u = (uintptr_t)p;
	return u >= 4096 && u <= UINTPTR_MAX - 4096 && p != (const void *)MPI_UNWEIGHTED &&
	       p != (const void *)MPI_WEIGHTS_EMPTY;
}

int o_success(int rc)
{
	int class = rc;
	if (rc != MPI_SUCCESS && atomic_load(&initialised))
		REAL(MPI_Error_class)(rc, &class);
	return class == MPI_SUCCESS || class == MPI_ERR_IN_STATUS;
}

int64_t o_local_size(MPI_Comm comm)
{
	int n = 0;
	if (comm != MPI_COMM_NULL)
		REAL(MPI_Comm_size)(comm, &n);
	return n;
}

int64_t o_size(MPI_Comm comm)
{
	int n = 0, inter = 0;
	if (comm == MPI_COMM_NULL)
		return 0;
	REAL(MPI_Comm_test_inter)(comm, &inter);
	if (inter)
		REAL(MPI_Comm_remote_size)(comm, &n);
	else
		REAL(MPI_Comm_size)(comm, &n);
	return n;
}

int o_at_root(MPI_Comm comm, int root)
{
	int rank, inter;
	if (comm == MPI_COMM_NULL)
		return 0;
	REAL(MPI_Comm_test_inter)(comm, &inter);
	if (inter)
		return root == MPI_ROOT;
	REAL(MPI_Comm_rank)(comm, &rank);
	return rank == root;
}

int64_t o_degree(MPI_Comm comm, int out)
{
	int kind, n = 0, m = 0, weighted, rank;
	if (comm == MPI_COMM_NULL)
		return 0;
	REAL(MPI_Topo_test)(comm, &kind);
	if (kind == MPI_DIST_GRAPH) {
		REAL(MPI_Dist_graph_neighbors_count)(comm, &n, &m, &weighted);
		return out ? m : n;
	}
	if (kind == MPI_GRAPH) {
		REAL(MPI_Comm_rank)(comm, &rank);
		REAL(MPI_Graph_neighbors_count)(comm, rank, &n);
	}
	return kind == MPI_CART ? 2 * o_cart_dims(comm) : n;
}

int64_t o_cart_dims(MPI_Comm comm)
{
	int kind, n = 0;
	if (comm == MPI_COMM_NULL)
		return 0;
	REAL(MPI_Topo_test)(comm, &kind);
	if (kind == MPI_CART)
		REAL(MPI_Cartdim_get)(comm, &n);
	return n;
}

int64_t o_sum(const int *list, int64_t n)
{
	int64_t sum = 0;
	for (int64_t i = 0; o_readable(list) && i < n; i++)
		sum += list[i];
	return sum;
}
