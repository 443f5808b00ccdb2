/*
 * filter.c: which calls are recorded: whose they are, and of which files.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#undef MAP_FAILED
#undef MAP_ANONYMOUS
#include "io.h"

#include "object.h"
#include "resolve.h"

uint8_t sp_io_states[SP_IO_DESCRIPTORS];

void *sp_io_find(int index, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);
	if (!p) { /* nobody else has it, so nobody can have been linked to it */
		sp_warn("no function %s after this library", name);
		abort();
	}
	__atomic_store_n(&sp_io_functions[index], p, __ATOMIC_RELAXED);
	return p;
}

int sp_io_fileno(const void *stream)
{
	return stream ? ((const FILE *)stream)->_fileno : -1;
}

int sp_io_dirfd(void *dir)
{
	return dir ? dirfd(dir) : -1;
}

uint64_t sp_io_stream_word(const void *stream)
{
	return stream == stdin ? 1 : stream == stdout ? 2 : stream == stderr ? 3 : (uint64_t)(uintptr_t)stream;
}

/* ---- what the user wants ---- */

/* Patterns of names, as SPOOR_IO_INCLUDE and SPOOR_IO_EXCLUDE have them, joined by ':'.
   One that ends with '/' stands for what is in that folder. */
static int matches(const char *list, const char *path)
{
	char pattern[4096];
	while (*list) {
		size_t n = strcspn(list, ":");
		if (n && n < sizeof pattern) {
			memcpy(pattern, list, n);
			pattern[n] = 0;
			if (pattern[n - 1] == '/' ? strncmp(path, pattern, n) == 0 : fnmatch(pattern, path, 0) == 0)
				return 1;
		}
		list += n + (list[n] == ':');
	}
	return 0;
}

static int starts(const char *path, const char *with)
{
	return strncmp(path, with, strlen(with)) == 0;
}

enum wish { INCLUDE, EXCLUDE, SPECIAL, WISHES };

/* NULL for none. They are those of the start: getenv takes as long as half an open. */
static const char *wish(enum wish which)
{
	static const char *const names[] = {"SPOOR_IO_INCLUDE", "SPOOR_IO_EXCLUDE", "SPOOR_IO_SPECIAL"};
	static const char *known[WISHES];
	static const char none[] = "";
	const char *v = __atomic_load_n(&known[which], __ATOMIC_RELAXED);
	if (sp_unlikely(!v)) {
		v = environ ? getenv(names[which]) : NULL;
		v = v && *v ? v : none;
		if (environ) /* there is one */
			__atomic_store_n(&known[which], v, __ATOMIC_RELAXED);
	}
	return *v ? v : NULL;
}

/* Of an absolute name. */
static int wanted(const char *path)
{
	const char *in = wish(INCLUDE), *out = wish(EXCLUDE);
	if (out && matches(out, path))
		return 0;
	if (in)
		return matches(in, path);
	if (wish(SPECIAL))
		return 1;
	return *path != '/' || !(starts(path, "/proc/") || starts(path, "/sys/") || (starts(path, "/dev/") && !starts(path, "/dev/shm/")));
}

#define PAGE 4096

/* Whether n bytes can be read there: what the kernel refuses with EFAULT must not crash
   here. Of all system calls that read memory, one that wants a set of signals and is not told
   what to do with it takes least. */
static int readable(const void *at, size_t n)
{
	for (uintptr_t p = (uintptr_t)at & ~(uintptr_t)7; p < (uintptr_t)at + n; p = (p | (PAGE - 1)) + 1)
		if (syscall(SYS_rt_sigprocmask, -1L, p, 0L, 8L) < 0 && errno == EFAULT)
			return 0;
	return 1;
}

/* Whether there is a name, page by page: what follows it may be none of ours. */
static int is_name(const char *path)
{
	for (size_t i = 0; i < PATH_MAX;) {
		size_t n = PAGE - ((uintptr_t)(path + i) & (PAGE - 1));
		if (!readable(path + i, n))
			return 0;
		if (memchr(path + i, 0, n))
			return 1;
		i += n;
	}
	return 1;
}

/* Of a name that can be read. */
static int wanted_from_here(const char *path)
{
	char whole[2 * 4096];
	if (*path != '/' && (wish(INCLUDE) || wish(EXCLUDE))) {
		size_t n = strnlen(path, 4096);
		if (syscall(SYS_getcwd, whole, 4096) <= 0)
			*whole = 0;
		size_t at = strlen(whole);
		whole[at++] = '/';
		memcpy(whole + at, path, n);
		whole[at + n] = 0;
		path = whole;
	}
	return wanted(path);
}

int sp_io_path(const char *path)
{
	if (!path)
		return 1;
	int saved = errno, yes = is_name(path) && wanted_from_here(path);
	errno = saved;
	return yes;
}

/* Whether it is a file or a folder, as far as that matters. */
static int is_file(int fd)
{
	struct stat s;
	if (wish(SPECIAL))
		return 1;
	return syscall(SYS_fstat, fd, &s) != 0 || S_ISREG(s.st_mode) || S_ISDIR(s.st_mode);
}

static void keep(int fd, enum sp_io_state state)
{
	if ((unsigned)fd < SP_IO_DESCRIPTORS && !sp_self.in[SP_HOOKED]) /* what a child does between vfork and exec is its own */
		__atomic_store_n(&sp_io_states[fd], state, __ATOMIC_RELAXED);
}

/* A descriptor that nobody was seen to open. */
int sp_io_look(int fd)
{
	char link[64], path[4096];
	struct stat s;
	int saved = errno, yes = 1;
	if (fd != AT_FDCWD && syscall(SYS_fstat, fd, &s) == 0) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		long n = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
		path[n > 0 ? n : 0] = 0;
		yes = is_file(fd) && wanted(path);
		keep(fd, yes ? SP_IO_COUNTS : SP_IO_LEFT_OUT);
	}
	errno = saved;
	return yes;
}

void sp_io_opened(int fd, const char *path)
{
	int saved = errno;
	if (fd >= 0 && path) /* which the kernel could read */
		keep(fd, wanted_from_here(path) && is_file(fd) ? SP_IO_COUNTS : SP_IO_LEFT_OUT);
	else if (fd >= 0)
		keep(fd, SP_IO_UNKNOWN);
	errno = saved;
}

void sp_io_same(int fd, int as)
{
	if (fd >= 0 && fd != as)
		keep(fd, (unsigned)as < SP_IO_DESCRIPTORS ? __atomic_load_n(&sp_io_states[as], __ATOMIC_RELAXED) : SP_IO_UNKNOWN);
}

void sp_io_closed(int fd)
{
	if (fd >= 0)
		keep(fd, SP_IO_UNKNOWN);
}

/* ---- mappings of files that count ---- */

#define MAPPINGS 4096

static const void *mappings[MAPPINGS];

static int find_mapping(const void *at)
{
	size_t h = ((uintptr_t)at >> 12) * 0x9e3779b97f4a7c15ull >> 52;
	for (int i = 0; i < 16; i++) {
		int slot = (int)((h + (size_t)i) % MAPPINGS);
		if (__atomic_load_n(&mappings[slot], __ATOMIC_RELAXED) == at)
			return slot;
	}
	return -1;
}

int sp_io_mapping(const void *at)
{
	return at && find_mapping(at) >= 0;
}

void sp_io_mapped(const void *at)
{
	size_t h = ((uintptr_t)at >> 12) * 0x9e3779b97f4a7c15ull >> 52;
	for (int i = 0; i < 16; i++) {
		const void *none = NULL;
		if (__atomic_compare_exchange_n(&mappings[(h + (size_t)i) % MAPPINGS], &none, at, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
	}
}

void sp_io_unmapped(const void *at)
{
	int slot = at ? find_mapping(at) : -1;
	if (slot >= 0)
		__atomic_store_n(&mappings[slot], NULL, __ATOMIC_RELAXED);
}

/* ---- whose call it is ---- */

/* Where the program itself is, and whether it has functions with names of files' functions: what the MPI calls by such a name
   leads to the program first, which hands it on. */
static uintptr_t program_lo, program_hi;
static int program_interposes;

static int interposes(struct dl_phdr_info *info)
{
	struct sp_object o;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			sp_object_read(&o, info->dlpi_addr, (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
			for (const char *const *name = sp_io_names; *name; name++)
				if (sp_object_function(&o, *name))
					return 1;
		}
	return 0;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	uintptr_t hi = 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD) {
			uintptr_t lo = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			if (!hi)
				program_lo = lo;
			hi = lo + info->dlpi_phdr[i].p_memsz;
		}
	program_interposes = interposes(info);
	__atomic_store_n(&program_hi, hi, __ATOMIC_RELEASE);
	return 1;
}

/* Whether a call inside of one of MPI is that of a callback. */
static int is_callback(const void *site)
{
	if (!__atomic_load_n(&program_hi, __ATOMIC_ACQUIRE))
		dl_iterate_phdr(first_object, NULL);
	return (uintptr_t)site >= program_lo && (uintptr_t)site < program_hi && !program_interposes;
}

/* Whether what the MPI does for itself counts too. */
static int all_count(void)
{
	static int answer; /* 1 no, 2 yes */
	if (!__atomic_load_n(&answer, __ATOMIC_RELAXED)) {
		const char *v = getenv("SPOOR_IO");
		__atomic_store_n(&answer, v && strcmp(v, "all") == 0 ? 2 : 1, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&answer, __ATOMIC_RELAXED) == 2;
}

/* Libraries that MPIs bring with them, which read settings when they are loaded. */
static int is_brought(const void *site)
{
	static const char *const prefixes[] = {
		"libuc", "libfabric", "libpmix", "libprrte", "libhwloc", "libevent", "libnuma", "libibverbs", "librdmacm", "libpsm", "libnl-",
	};
	Dl_info info;
	if (!dladdr(site, &info) || !info.dli_fname)
		return 0;
	const char *slash = strrchr(info.dli_fname, '/'), *name = slash ? slash + 1 : info.dli_fname;
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (starts(name, prefixes[i]))
			return 1;
	return 0;
}

/* Whether a call of MPI is under way. */
static int inside_mpi(const struct sp_thread *t)
{
	uint32_t depth = t->depth < 32 ? t->depth : 32;
	return depth && (t->files & (uint32_t)((1ull << depth) - 1)) != (uint32_t)((1ull << depth) - 1);
}

int sp_io_open_slow(struct sp_thread *t, int handles, const void *site, uint64_t cfa)
{
	int mode = __atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE);
	if (mode == SP_OFF || t->in[SP_BUSY] || t->in[SP_ALLOCATING] || t->in[SP_HOOKED])
		return 0;
	int saved = errno, early = mode == SP_EARLY || mode == SP_UNRESOLVED;
	if (mode == SP_UNRESOLVED)
		sp_loaded();
	if (t->depth || t->writing)
		sp_close_left(t, cfa);
	int yes = 0;
	if (mode == SP_MUTED && !handles)
		;
	else if (inside_mpi(t) && !is_callback(site) && (early || !all_count()))
		;
	else if (t->writing || t->depth >= SP_MAX_OPEN)
		sp_drop(2);
	else if (!early)
		yes = 1;
	else if (!sp_is_below(site) && !is_brought(site) && !(yes = sp_early_files(t) || sp_serial_now(t)))
		sp_drop(2);
	errno = saved;
	return yes;
}

uint64_t *sp_put_iovec(struct sp_thread *t, uint64_t *w, const struct iovec *v, int n)
{
	int64_t sizes[1024]; /* IOV_MAX */
	int saved = errno;
	if (!v || n < 0 || n > 1024 || !readable(v, (size_t)n * sizeof *v))
		n = 0;
	errno = saved;
	for (int i = 0; i < n; i++)
		sizes[i] = (int64_t)v[i].iov_len;
	return sp_put_64s(t, w, sizes, n);
}

/* ---- vfork ----

   The child has the parent's memory until it calls exec, so nothing may be recorded
   or remembered of what it does. The function it returns from, twice, must not have a
   frame: the child would use it up. */

void sp_io_vfork_begin(void);
int sp_io_vfork_end(long result);

__attribute__((used)) void sp_io_vfork_begin(void)
{
	sp_mark(&sp_self.in[SP_HOOKED], sp_self.in[SP_HOOKED] + 1);
}

__attribute__((used)) int sp_io_vfork_end(long result)
{
	sp_mark(&sp_self.in[SP_HOOKED], sp_self.in[SP_HOOKED] - 1);
	if (result < 0) {
		errno = (int)-result;
		return -1;
	}
	return (int)result;
}

#ifdef SP_VFORK
SP_VFORK;
#endif
