/* posix.c: calls on descriptors, names and folders, made again. See posix.h. */
#include "scratch.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Flags in traces are those of x86-64. */
static int here(int flags)
{
#if defined(__aarch64__)
	static const int there[] = {0200000, 0400000, 040000, 0100000}, own[] = {040000, 0100000, 0200000, 0400000};
	int out = flags & ~0740000;
	for (int i = 0; i < 4; i++) /* O_DIRECTORY, O_NOFOLLOW, O_DIRECT, O_LARGEFILE */
		out |= flags & there[i] ? own[i] : 0;
	return out;
#endif
	return flags;
}

/* A descriptor that the program was given, but none that it was not. */
static int64_t given(int fd, int err, const char *what)
{
	if (fd < 0 && !err)
		again_fail(what ? what : "a descriptor", errno);
	if (fd >= 0 && err) {
		syscall(SYS_close, fd);
		errno = 0;
		return -1;
	}
	return fd;
}

static int fd_of(int fd)
{
	again_standard(fd);
	return fd;
}

/* ---- opening and closing ---- */

static const char *to_open(int *dir, const char *path, int flags, int err)
{
	enum need need = flags & O_CREAT ? NOTHING : SOME_FILE;
	if (flags & O_DIRECTORY) /* O_TMPFILE too */
		need = SOME_FOLDER;
	path = again_ready(dir, path, need, err);
	if (!err && (flags & O_CREAT) && (flags & O_EXCL))
		again_gone(*dir, path); /* of an earlier run */
	return path;
}

int64_t again_open(const char *path, int flags, unsigned mode, int64_t got, int err)
{
	int dir = AT_FDCWD;
	flags = here(flags);
	path = to_open(&dir, path, flags, err);
	int fd = open(path, flags, mode);
	if (fd < 0 && !err && (flags & O_DIRECT))
		fd = open(path, flags & ~O_DIRECT, mode); /* this file system has none */
	return given(fd, err, path);
}

int64_t again_openat(int dir, const char *path, int flags, unsigned mode, int64_t got, int err)
{
	flags = here(flags);
	path = to_open(&dir, path, flags, err);
	return given(openat(dir, path, flags, mode), err, path);
}

int64_t again_creat(const char *path, unsigned mode, int64_t got, int err)
{
	int dir = AT_FDCWD;
	path = again_ready(&dir, path, NOTHING, err);
	return given(creat(path, mode), err, path);
}

int64_t again_mkstemp(const char *name, int64_t got, int err)
{
	char copy[2 * PATH_MAX];
	int dir = AT_FDCWD;
	name = again_ready(&dir, name, NOTHING, err);
	snprintf(copy, sizeof copy, "%s", name ? name : "");
	return given(mkstemp(copy), err, name);
}

int64_t again_close(int fd, int64_t got, int err)
{
	return close(fd_of(fd));
}

int64_t again_dup(int fd, int64_t got, int err)
{
	return given(dup(fd_of(fd)), err, NULL);
}

/* A number that the program used for nothing else. */
static int number(int newfd, int err)
{
	if (newfd >= 0 || err)
		return newfd;
	newfd = (int)syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
	int high = (int)syscall(SYS_fcntl, newfd, F_DUPFD_CLOEXEC, 128L);
	syscall(SYS_close, newfd);
	syscall(SYS_close, high);
	return high;
}

int64_t again_dup2(int fd, int newfd, int64_t got, int err)
{
	return given(dup2(fd_of(fd), number(newfd, err)), err, NULL);
}

int64_t again_dup3(int fd, int newfd, int flags, int64_t got, int err)
{
	return given(dup3(fd_of(fd), number(newfd, err), flags), err, NULL);
}

int64_t again_fcntl(int fd, int command, int64_t argument, int64_t got, int err)
{
	return given(fcntl(fd_of(fd), command, argument), err, NULL);
}

/* ---- reading and writing ---- */

/* What a program could not write for want of room is not written here either. */
static size_t part(int64_t count, int64_t got, int err)
{
	if (err == ENOSPC || err == EDQUOT || err == EFBIG || err == EIO)
		return 0;
	return (size_t)(got > 0 && got < count ? got : count);
}

int64_t again_read(int fd, int64_t count, int64_t got, int err)
{
	again_reach(fd, got > 0 ? again_at(fd) + got : 0);
	return read(fd_of(fd), again_room(count), (size_t)count);
}

int64_t again_write(int fd, int64_t count, int64_t got, int err)
{
	return write(fd_of(fd), again_bytes(count), part(count, got, err));
}

int64_t again_pread(int fd, int64_t count, int64_t offset, int64_t got, int err)
{
	again_reach(fd, got > 0 ? offset + got : 0);
	return pread(fd_of(fd), again_room(count), (size_t)count, offset);
}

int64_t again_pwrite(int fd, int64_t count, int64_t offset, int64_t got, int err)
{
	return pwrite(fd_of(fd), again_bytes(count), part(count, got, err), offset);
}

/* Pieces that lie on each other. Beyond what is there the kernel may not read the list. */
static struct iovec *pieces(struct iovec *v, const int64_t *lengths, int n)
{
	int64_t most = 0;
	if (!lengths || n < 0 || n > IOV_MAX)
		return NULL;
	for (int i = 0; i < n; i++)
		most = lengths[i] > most ? lengths[i] : most;
	for (int i = 0; i < n; i++)
		v[i] = (struct iovec){again_bytes(most), (size_t)lengths[i]};
	return v;
}

int64_t again_readv(int fd, const int64_t *lengths, int n, int64_t got, int err)
{
	struct iovec v[IOV_MAX];
	again_reach(fd, got > 0 ? again_at(fd) + got : 0);
	return readv(fd_of(fd), pieces(v, lengths, n), n);
}

int64_t again_writev(int fd, const int64_t *lengths, int n, int64_t got, int err)
{
	struct iovec v[IOV_MAX];
	return writev(fd_of(fd), pieces(v, lengths, n), n);
}

int64_t again_preadv(int fd, const int64_t *lengths, int n, int64_t offset, int64_t got, int err)
{
	struct iovec v[IOV_MAX];
	again_reach(fd, got > 0 ? offset + got : 0);
	return preadv(fd_of(fd), pieces(v, lengths, n), n, offset);
}

int64_t again_pwritev(int fd, const int64_t *lengths, int n, int64_t offset, int64_t got, int err)
{
	struct iovec v[IOV_MAX];
	return pwritev(fd_of(fd), pieces(v, lengths, n), n, offset);
}

int64_t again_preadv2(int fd, const int64_t *lengths, int n, int64_t offset, int flags, int64_t got, int err)
{
	struct iovec v[IOV_MAX];
	again_reach(fd, got > 0 ? (offset < 0 ? again_at(fd) : offset) + got : 0);
	return preadv2(fd_of(fd), pieces(v, lengths, n), n, offset, flags);
}

int64_t again_pwritev2(int fd, const int64_t *lengths, int n, int64_t offset, int flags, int64_t got, int err)
{
	struct iovec v[IOV_MAX];
	return pwritev2(fd_of(fd), pieces(v, lengths, n), n, offset, flags);
}

int64_t again_lseek(int fd, int64_t offset, int whence, int64_t got, int err)
{
	if (whence == SEEK_END)
		again_reach(fd, got - offset);
	return lseek(fd_of(fd), offset, whence);
}

int64_t again_copy_file_range(int in, int64_t inoff, int out, int64_t outoff, int64_t size, int flags, int64_t got, int err)
{
	again_reach(in, got > 0 ? (inoff < 0 ? again_at(in) : inoff) + got : 0);
	return copy_file_range(in, inoff < 0 ? NULL : &inoff, out, outoff < 0 ? NULL : &outoff, (size_t)size, (unsigned)flags);
}

int64_t again_sendfile(int out, int in, int64_t offset, int64_t count, int64_t got, int err)
{
	again_reach(in, got > 0 ? (offset < 0 ? again_at(in) : offset) + got : 0);
	return sendfile(fd_of(out), in, offset < 0 ? NULL : &offset, (size_t)count);
}

/* One side is a pipe, which no trace has: what failed fails again. */
int64_t again_splice(int in, int64_t inoff, int out, int64_t outoff, int64_t size, int flags, int64_t got, int err)
{
	loff_t from = inoff, to = outoff;
	return splice(fd_of(in), inoff < 0 ? NULL : &from, fd_of(out), outoff < 0 ? NULL : &to, (size_t)size, (unsigned)flags);
}

int64_t again_tee(int in, int out, int64_t size, int flags, int64_t got, int err)
{
	return tee(fd_of(in), fd_of(out), (size_t)size, (unsigned)flags);
}

/* ---- what is kept of a file ---- */

#define PLAIN(name, args, call)          \
	int64_t again_##name args        \
	{                                \
		return call;             \
	}

PLAIN(fsync, (int fd, int64_t got, int err), fsync(fd_of(fd)))
PLAIN(fdatasync, (int fd, int64_t got, int err), fdatasync(fd_of(fd)))
PLAIN(sync_file_range, (int fd, int64_t offset, int64_t count, int flags, int64_t got, int err), sync_file_range(fd, offset, count, (unsigned)flags))
PLAIN(ftruncate, (int fd, int64_t length, int64_t got, int err), ftruncate(fd, length))
PLAIN(fallocate, (int fd, int mode, int64_t offset, int64_t length, int64_t got, int err), fallocate(fd, mode, offset, length))
PLAIN(posix_fallocate, (int fd, int64_t offset, int64_t length, int64_t got, int err), posix_fallocate(fd, offset, length))
PLAIN(posix_fadvise, (int fd, int64_t offset, int64_t length, int advice, int64_t got, int err), posix_fadvise(fd, offset, length, advice))
PLAIN(munmap, (void *at, int64_t length, int64_t got, int err), munmap(at, (size_t)length))
PLAIN(msync, (void *at, int64_t length, int flags, int64_t got, int err), msync(at, (size_t)length, flags))
PLAIN(fchdir, (int fd, int64_t got, int err), fchdir(fd))

int64_t again_mmap(int64_t length, int access, int flags, int fd, int64_t offset, int64_t got, int err)
{
	void *at = mmap(NULL, (size_t)length, access, flags & ~(MAP_FIXED | 0x100000 /* MAP_FIXED_NOREPLACE */), fd, offset);
	if (at == MAP_FAILED && !err)
		again_fail("a mapping", errno);
	return (int64_t)at;
}

/* ---- names ---- */

static struct stat *a_stat(void)
{
	static _Thread_local struct stat s;
	return &s;
}

/* A call on one name: there has to be something, or it makes it. */
#define NAMED(name, need, args, call)                      \
	int64_t again_##name args                          \
	{                                                  \
		int dir = AT_FDCWD;                        \
		path = again_ready(&dir, path, need, err); \
		return call;                               \
	}
#define NAMED_AT(name, need, args, call)                   \
	int64_t again_##name args                          \
	{                                                  \
		path = again_ready(&dir, path, need, err); \
		return call;                               \
	}

NAMED(truncate, SOME_FILE, (const char *path, int64_t length, int64_t got, int err), truncate(path, length))
NAMED(stat, SOME_FILE, (const char *path, int64_t got, int err), stat(path, a_stat()))
NAMED(lstat, SOME_FILE, (const char *path, int64_t got, int err), lstat(path, a_stat()))
PLAIN(fstat, (int fd, int64_t got, int err), fstat(fd_of(fd), a_stat()))
NAMED_AT(fstatat, SOME_FILE, (int dir, const char *path, int flags, int64_t got, int err), fstatat(dir, path, a_stat(), flags))
NAMED(access, SOME_FILE, (const char *path, int mode, int64_t got, int err), access(path, mode))
NAMED_AT(faccessat, SOME_FILE, (int dir, const char *path, int mode, int flags, int64_t got, int err), faccessat(dir, path, mode, flags))
NAMED(unlink, SOME_FILE, (const char *path, int64_t got, int err), unlink(path))
NAMED_AT(unlinkat, flags & AT_REMOVEDIR ? SOME_FOLDER : SOME_FILE, (int dir, const char *path, int flags, int64_t got, int err), unlinkat(dir, path, flags))
NAMED(remove, SOME_FILE, (const char *path, int64_t got, int err), remove(path))
NAMED(rmdir, SOME_FOLDER, (const char *path, int64_t got, int err), rmdir(path))
NAMED(chdir, SOME_FOLDER, (const char *path, int64_t got, int err), chdir(path))

int64_t again_statx(int dir, const char *path, int flags, int mask, int64_t got, int err)
{
	static _Thread_local struct statx s;
	path = again_ready(&dir, path, SOME_FILE, err);
	return statx(dir, path, flags, (unsigned)mask, &s);
}

int64_t again_mkdir(const char *path, unsigned mode, int64_t got, int err)
{
	int dir = AT_FDCWD;
	path = again_ready(&dir, path, NOTHING, err);
	if (!err)
		again_gone(dir, path); /* if it is empty */
	return mkdir(path, mode);
}

int64_t again_mkdirat(int dir, const char *path, unsigned mode, int64_t got, int err)
{
	path = again_ready(&dir, path, NOTHING, err);
	if (!err)
		again_gone(dir, path);
	return mkdirat(dir, path, mode);
}

#define TWO_NAMES                                          \
	path = again_ready(&dir, path, SOME_FILE, err);    \
	to = again_ready(&todir, to, NOTHING, err == EEXIST ? err : 0)

int64_t again_rename(const char *path, const char *to, int64_t got, int err)
{
	int dir = AT_FDCWD, todir = AT_FDCWD;
	TWO_NAMES;
	return rename(path, to);
}

int64_t again_renameat(int dir, const char *path, int todir, const char *to, int64_t got, int err)
{
	TWO_NAMES;
	return renameat(dir, path, todir, to);
}

int64_t again_renameat2(int dir, const char *path, int todir, const char *to, int flags, int64_t got, int err)
{
	TWO_NAMES;
	return renameat2(dir, path, todir, to, (unsigned)flags);
}

int64_t again_link(const char *path, const char *to, int64_t got, int err)
{
	int dir = AT_FDCWD, todir = AT_FDCWD;
	TWO_NAMES;
	if (!err)
		again_gone(todir, to);
	return link(path, to);
}

int64_t again_linkat(int dir, const char *path, int todir, const char *to, int flags, int64_t got, int err)
{
	TWO_NAMES;
	if (!err)
		again_gone(todir, to);
	return linkat(dir, path, todir, to, flags);
}

int64_t again_symlink(const char *target, const char *path, int64_t got, int err)
{
	int dir = AT_FDCWD;
	path = again_ready(&dir, path, NOTHING, err);
	target = again_target(target, dir, path);
	if (!err)
		again_gone(dir, path);
	return symlink(target, path);
}

int64_t again_symlinkat(const char *target, int dir, const char *path, int64_t got, int err)
{
	path = again_ready(&dir, path, NOTHING, err);
	target = again_target(target, dir, path);
	if (!err)
		again_gone(dir, path);
	return symlinkat(target, dir, path);
}

int64_t again_readlink(const char *path, int64_t count, int64_t got, int err)
{
	int dir = AT_FDCWD;
	path = again_ready(&dir, path, NOTHING, err);
	again_aim(dir, path, err ? 0 : got);
	return readlink(path, again_room(count), (size_t)count);
}

int64_t again_readlinkat(int dir, const char *path, int64_t count, int64_t got, int err)
{
	path = again_ready(&dir, path, NOTHING, err);
	again_aim(dir, path, err ? 0 : got);
	return readlinkat(dir, path, again_room(count), (size_t)count);
}

/* ---- directories ---- */

static int64_t folder(DIR *d, int err, const char *what)
{
	if (!d && !err)
		again_fail(what, errno);
	if (d && err) {
		syscall(SYS_close, dirfd(d));
		errno = 0;
		return 0;
	}
	return (int64_t)d;
}

int64_t again_opendir(const char *path, int64_t got, int err)
{
	int dir = AT_FDCWD;
	path = again_ready(&dir, path, SOME_FOLDER, err);
	return folder(opendir(path), err, path);
}

int64_t again_fdopendir(int fd, int64_t got, int err)
{
	return folder(fdopendir(fd), err, "a folder");
}

/* Other names than there were may be there. */
PLAIN(readdir, (DIR *dir, int64_t got, int err), dir && readdir(dir))

int64_t again_closedir(DIR *dir, int64_t got, int err)
{
	errno = EINVAL;
	return dir ? closedir(dir) : -1;
}
