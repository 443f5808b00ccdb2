/* scratch.c: the scratch folder that calls on files are made in, and the memory they use. */
#include "scratch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char root[PATH_MAX];
static int rank_here;
static failing *failed;

_Noreturn void again_fail(const char *what, int error)
{
	failed(what, strerror(error));
	_exit(1);
}

static int make_folder(int dir, const char *path)
{
	return (int)syscall(SYS_mkdirat, dir, path, 0777);
}

static int make_file(int dir, const char *path)
{
	int fd = (int)syscall(SYS_openat, dir, path, O_CREAT | O_RDWR | O_CLOEXEC | O_NONBLOCK, 0777);
	if (fd >= 0)
		syscall(SYS_close, fd);
	return fd < 0 ? -1 : 0;
}

/* Where the program began. */
static const char *const here = "/here";

void again_root(const char *folder, int rank, failing *fail)
{
	failed = fail;
	rank_here = rank;
	if (make_folder(AT_FDCWD, folder) && errno != EEXIST)
		again_fail(folder, errno);
	if (!realpath(folder, root) || strlen(root) > PATH_MAX / 2)
		again_fail(folder, errno ? errno : ENAMETOOLONG);
}

void again_begin(const char *folder, int rank, failing *fail)
{
	char at[PATH_MAX];
	again_root(folder, rank, fail);
	snprintf(at, sizeof at, "%.2048s%s", root, here);
	if ((make_folder(AT_FDCWD, at) && errno != EEXIST) || syscall(SYS_chdir, at))
		again_fail(at, errno);
}

/* ---- names ---- */

static _Thread_local char names[4][2 * PATH_MAX];
static _Thread_local int turn;

static int climbs(const char *path)
{
	for (const char *p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (p[2] == 0 || p[2] == '/'))
			return 1;
	return 0;
}

/* Adds the parts of a name to one that begins with the root, ".." never above that. */
static int add(char *to, const char *path)
{
	size_t low = strlen(root), at = strlen(to);
	while (*path) {
		size_t n = strcspn(path, "/");
		if (n == 2 && path[0] == '.' && path[1] == '.') {
			while (at > low && to[at - 1] != '/')
				at--;
			at -= at > low;
		} else if (n > 0 && !(n == 1 && path[0] == '.')) {
			if (at + n + 2 > 2 * PATH_MAX)
				return -1;
			to[at++] = '/';
			memcpy(to + at, path, n);
			at += n;
		}
		path += n;
		if (*path == '/' && !*++path && at + 1 < 2 * PATH_MAX) /* "x/" is a folder */
			to[at++] = '/';
		to[at] = 0;
	}
	return 0;
}

/* What a relative name begins with: where dir is, which is below the root. */
static void base(char *to, int dir)
{
	char link[64];
	long n;
	if (dir == AT_FDCWD) {
		n = syscall(SYS_getcwd, to, PATH_MAX) > 0 ? (long)strlen(to) : 0;
	} else {
		snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
		n = syscall(SYS_readlinkat, AT_FDCWD, link, to, PATH_MAX - 1);
	}
	to[n > 0 ? n : 0] = 0;
	size_t low = strlen(root);
	if (strncmp(to, root, low) != 0 || (to[low] && to[low] != '/'))
		strcat(strcpy(to, root), here); /* it was removed */
}

static const char *below(int dir, const char *path)
{
	char *to = names[turn = (turn + 1) % 4];
	if (*path == '/')
		strcpy(to, root);
	else
		base(to, dir);
	if (add(to, path)) {
		memset(to, 'x', 2 * PATH_MAX - 1); /* too long here as there */
		to[2 * PATH_MAX - 1] = 0;
	}
	return to;
}

/* A relative name that does not climb stays as it is. */
const char *again_name(int *dir, const char *path)
{
	return !path || (*path != '/' && !climbs(path)) ? path : below(*dir, path);
}

/* One that lacks what was to be there when the call failed. */
static const char *missing(const char *path)
{
	char *to = names[turn = (turn + 1) % 4];
	const char *last = strrchr(path, '/');
	snprintf(to, 2 * PATH_MAX, "%s/missing/%.255s", root, last && last[1] ? last + 1 : "file");
	return to;
}

const char *again_target(const char *target, int dir, const char *path)
{
	char from[2 * PATH_MAX];
	if (!target || !path || (*target != '/' && !climbs(target)))
		return target;
	if (*target == '/')
		return below(dir, target);
	strcpy(from, below(dir, path));
	from[strrchr(from, '/') - from] = 0;
	return add(from, target) ? "x" : strcpy(names[turn = (turn + 1) % 4], from);
}

const char *again_place(const char *name)
{
	int dir = AT_FDCWD;
	const char *colon = strchr(name, ':');
	if (colon && colon > name && !memchr(name, '/', (size_t)(colon - name)))
		name = colon + 1; /* the prefix chooses a file system */
	return again_ready(&dir, below(AT_FDCWD, name) + strlen(root), NOTHING, 0);
}

/* ---- what is there ---- */

static int look(int dir, const char *path, struct stat *s)
{
	return (int)syscall(SYS_newfstatat, dir, path, s, AT_SYMLINK_NOFOLLOW);
}

/* What a name is when it is a symbolic link: what that points to, which is below the root. */
static const char *behind(int dir, const char *path, char *to)
{
	struct stat s;
	char target[PATH_MAX];
	for (int hops = 0; hops < 8 && look(dir, path, &s) == 0 && S_ISLNK(s.st_mode); hops++) {
		long n = syscall(SYS_readlinkat, dir, path, target, sizeof target - 1);
		if (n <= 0)
			break;
		target[n] = 0;
		const char *slash = strrchr(path, '/');
		size_t folder = *target == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
		if (folder + (size_t)n >= PATH_MAX)
			break;
		memmove(to, path, folder);
		memcpy(to + folder, target, (size_t)n + 1);
		path = to;
	}
	return path;
}

/* The folder of a name. A file that was only said to be there, and is empty, may be one. */
static void parents(int dir, const char *path)
{
	struct stat s;
	char part[2 * PATH_MAX];
	size_t from = *path == '/' ? strlen(root) : 0;
	for (const char *p = path + from; (p = strchr(p + 1, '/')) && p[1];) {
		memcpy(part, path, (size_t)(p - path));
		part[p - path] = 0;
		if (look(dir, part, &s) == 0) {
			char to[PATH_MAX];
			const char *folder = part;
			if (S_ISLNK(s.st_mode) && look(dir, folder = behind(dir, part, to), &s)) {
				parents(dir, folder);
				make_folder(dir, folder);
			}
			if (!S_ISREG(s.st_mode) || s.st_size)
				continue;
			syscall(SYS_unlinkat, dir, part, 0);
		}
		make_folder(dir, part);
	}
}

static void found(int dir, const char *path, enum need need)
{
	struct stat s;
	char to[PATH_MAX];
	path = behind(dir, path, to);
	size_t n = strlen(path);
	parents(dir, path);
	if (n == 0 || need == NOTHING)
		return;
	if (path[n - 1] == '/')
		need = SOME_FOLDER;
	int there = look(dir, path, &s) == 0;
	if (there && need == SOME_FOLDER && S_ISREG(s.st_mode) && s.st_size == 0) {
		syscall(SYS_unlinkat, dir, path, 0);
		there = 0;
	}
	if (!there && need == SOME_FOLDER)
		make_folder(dir, path);
	else if (!there)
		make_file(dir, path);
}

const char *again_ready(int *dir, const char *path, enum need need, int err)
{
	struct stat s;
	int was = errno;
	path = again_name(dir, path);
	if (!path)
		return path;
	switch (err) {
	case EEXIST:
		need = need == NOTHING ? SOME_FILE : need; /* FALLTHROUGH */
	case 0:
		found(*dir, path, need);
		break;
	case EISDIR:
		found(*dir, path, SOME_FOLDER);
		break;
	case ENOENT:
		if (*path && look(*dir, path, &s) == 0)
			path = missing(path);
		break;
	case EBADF: case EFAULT: case EINVAL: case ELOOP: case ENAMETOOLONG: case ENOTDIR: case ENOTEMPTY:
		break; /* by themselves */
	default:
		path = missing(path);
	}
	errno = was;
	return path;
}

void again_gone(int dir, const char *path)
{
	struct stat s;
	if (path && look(dir, path, &s) == 0)
		syscall(SYS_unlinkat, dir, path, S_ISDIR(s.st_mode) ? AT_REMOVEDIR : 0);
}

void again_aim(int dir, const char *path, int64_t length)
{
	struct stat s;
	if (!path || look(dir, path, &s) == 0 || length < 1 || length >= PATH_MAX)
		return;
	parents(dir, path);
	syscall(SYS_symlinkat, again_text(length), dir, path);
}

void again_reach(int fd, int64_t end)
{
	struct stat s;
	int was = errno;
	char link[64];
	if (end > 0 && syscall(SYS_fstat, fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size < end && syscall(SYS_ftruncate, fd, end)) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd); /* it is open to be read */
		int again = (int)syscall(SYS_openat, AT_FDCWD, link, O_WRONLY | O_CLOEXEC, 0);
		if (again >= 0) {
			syscall(SYS_ftruncate, again, end);
			syscall(SYS_close, again);
		}
	}
	errno = was;
}

void again_size(const char *path, int64_t bytes)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
	if (fd < 0)
		again_fail(path, errno);
	again_reach(fd, bytes);
	syscall(SYS_close, fd);
}

/* Others see it when it has its size. */
const char *again_file(const char *name, int64_t found)
{
	const char *path = again_place(name);
	struct stat s;
	if (look(AT_FDCWD, path, &s) == 0)
		return path; /* if the call failed, that was not since it is missing */
	if (found == NOT_THERE)
		return missing(path);
	if (found >= 0) {
		char link[64];
		int fd = again_nameless();
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		syscall(SYS_fchmod, fd, 0666);
		again_reach(fd, found);
		if (syscall(SYS_linkat, AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW) && errno != EEXIST)
			again_size(path, found);
		syscall(SYS_close, fd);
	}
	return path;
}

int64_t again_at(int fd)
{
	int was = errno;
	int64_t at = syscall(SYS_lseek, fd, 0L, SEEK_CUR);
	errno = was;
	return at < 0 ? 0 : at;
}

int again_nameless(void)
{
	char name[2 * PATH_MAX];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, root, O_TMPFILE | O_RDWR, 0600);
	if (fd >= 0)
		return fd;
	snprintf(name, sizeof name, "%s/nameless.%d.%ld", root, rank_here, syscall(SYS_gettid));
	fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_EXCL | O_RDWR, 0600);
	syscall(SYS_unlinkat, AT_FDCWD, name, 0);
	return fd;
}

void again_standard(int fd)
{
	static int done[3];
	struct stat s;
	char name[2 * PATH_MAX];
	if (fd < 0 || fd > 2 || __atomic_exchange_n(&done[fd], 1, __ATOMIC_RELAXED))
		return;
	int was = errno;
	snprintf(name, sizeof name, "%s/standard.%d.%d", root, fd, rank_here);
	int file = (int)syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_RDWR | O_CLOEXEC, 0666);
	if (file < 0)
		again_fail(name, errno);
	if (syscall(SYS_fstat, fd, &s) == 0 && !S_ISREG(s.st_mode))
		close(fd); /* a recorder forgets that it was none of its files, and records nothing */
	syscall(SYS_dup3, file, fd, 0);
	syscall(SYS_close, file);
	errno = was;
}

/* ---- memory ---- */

static _Thread_local struct {
	char *at;
	int64_t size, filled;
} memory;

/* No call moves more. */
#define MOST ((int64_t)1 << 36)

char *again_room(int64_t n)
{
	n = n < 1 ? 1 : n > MOST ? MOST : n;
	if (n > memory.size) {
		if (memory.at)
			syscall(SYS_munmap, memory.at, memory.size);
		memory.size = (n + 0xffff) & ~(int64_t)0xffff;
		memory.filled = 0;
		memory.at = (char *)syscall(SYS_mmap, NULL, memory.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
		if (memory.at == MAP_FAILED)
			again_fail("memory for calls on files", errno);
	}
	return memory.at;
}

/* What was read since may stand there too: what is written means nothing. */
char *again_bytes(int64_t n)
{
	char *at = again_room(n);
	n = n > memory.size ? memory.size : n;
	if (n > memory.filled) {
		memset(at + memory.filled, 'x', (size_t)(n - memory.filled));
		memory.filled = n;
	}
	return at;
}

const char *again_text(int64_t n)
{
	if (n < 0)
		return NULL;
	char *at = again_room(n + 1);
	memset(at, 'x', (size_t)n);
	at[n] = 0;
	if (memory.filled > n)
		memory.filled = n;
	return at;
}
