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

AGAIN(open)
{
	int dir = AT_FDCWD;
	flags = here(flags);
	path = to_open(&dir, path, flags, err);
	int fd = open(path, flags, mode);
	if (fd < 0 && !err && (flags & O_DIRECT))
		fd = open(path, flags & ~O_DIRECT, mode); /* this file system has none */
	return given(fd, err, path);
}

AGAIN(openat)
{
	flags = here(flags);
	path = to_open(&dir, path, flags, err);
	return given(openat(dir, path, flags, mode), err, path);
}

AGAIN(mkstemp)
{
	char copy[2 * PATH_MAX];
	int dir = AT_FDCWD;
	template = again_ready(&dir, template, NOTHING, err);
	snprintf(copy, sizeof copy, "%s", template ? template : "");
	return given(mkstemp(copy), err, template);
}

PLAIN(close, close(fd_of(fd)))
PLAIN(dup, given(dup(fd_of(fd)), err, NULL))

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

PLAIN(dup2, given(dup2(fd_of(fd), number(newfd, err)), err, NULL))
PLAIN(dup3, given(dup3(fd_of(fd), number(newfd, err), flags), err, NULL))
PLAIN(fcntl, given(fcntl(fd_of(fd), command, argument), err, NULL))

/* ---- reading and writing ---- */

/* What a program could not write for want of room is not written here either. */
static size_t part(int64_t count, int64_t got, int err)
{
	if (err == ENOSPC || err == EDQUOT || err == EFBIG || err == EIO)
		return 0;
	return (size_t)(got > 0 && got < count ? got : count);
}

/* Reads from a place in a file, which is as long as the program found it. */
#define READS(name, file, from, call)                          \
	AGAIN(name)                                            \
	{                                                      \
		again_reach(file, got > 0 ? (from) + got : 0); \
		return call;                                   \
	}

READS(read, fd, again_at(fd), read(fd_of(fd), again_room(count), (size_t)count))
PLAIN(write, write(fd_of(fd), again_bytes(count), part(count, got, err)))
READS(pread, fd, offset, pread(fd_of(fd), again_room(count), (size_t)count, offset))
PLAIN(pwrite, pwrite(fd_of(fd), again_bytes(count), part(count, got, err), offset))

/* Pieces that lie on each other. Beyond what is there the kernel may not read the list. */
static struct iovec *pieces(const int64_t *lengths, int n)
{
	static _Thread_local struct iovec v[IOV_MAX];
	int64_t most = 0;
	if (!lengths || n < 0 || n > IOV_MAX)
		return NULL;
	for (int i = 0; i < n; i++)
		most = lengths[i] > most ? lengths[i] : most;
	for (int i = 0; i < n; i++)
		v[i] = (struct iovec){again_bytes(most), (size_t)lengths[i]};
	return v;
}

READS(readv, fd, again_at(fd), readv(fd_of(fd), pieces(iov, iovcnt), iovcnt))
PLAIN(writev, writev(fd_of(fd), pieces(iov, iovcnt), iovcnt))
READS(preadv, fd, offset, preadv(fd_of(fd), pieces(iov, iovcnt), iovcnt, offset))
PLAIN(pwritev, pwritev(fd_of(fd), pieces(iov, iovcnt), iovcnt, offset))
READS(preadv2, fd, offset < 0 ? again_at(fd) : offset, preadv2(fd_of(fd), pieces(iov, iovcnt), iovcnt, offset, flags))
PLAIN(pwritev2, pwritev2(fd_of(fd), pieces(iov, iovcnt), iovcnt, offset, flags))

AGAIN(lseek)
{
	if (whence == SEEK_END)
		again_reach(fd, got - offset);
	return lseek(fd_of(fd), offset, whence);
}

READS(copy_file_range, in, inoff < 0 ? again_at(in) : inoff, copy_file_range(in, inoff < 0 ? NULL : &inoff, out, outoff < 0 ? NULL : &outoff, (size_t)size, (unsigned)flags))
READS(sendfile, in, offset < 0 ? again_at(in) : offset, sendfile(fd_of(out), in, offset < 0 ? NULL : &offset, (size_t)count))

/* One side is a pipe, which no trace has: what failed fails again. */
AGAIN(splice)
{
	loff_t from = inoff, to = outoff;
	return splice(fd_of(in), inoff < 0 ? NULL : &from, fd_of(out), outoff < 0 ? NULL : &to, (size_t)size, (unsigned)flags);
}

PLAIN(tee, tee(fd_of(in), fd_of(out), (size_t)size, (unsigned)flags))

/* ---- what is kept of a file ---- */

PLAIN(fsync, fsync(fd_of(fd)))
PLAIN(fdatasync, fdatasync(fd_of(fd)))
PLAIN(sync_file_range, sync_file_range(fd, offset, count, (unsigned)flags))
PLAIN(ftruncate, ftruncate(fd, length))
PLAIN(fallocate, fallocate(fd, mode, offset, length))
PLAIN(posix_fallocate, posix_fallocate(fd, offset, length))
PLAIN(posix_fadvise, posix_fadvise(fd, offset, length, advice))
PLAIN(munmap, munmap(at, (size_t)length))
PLAIN(msync, msync(at, (size_t)length, flags))
PLAIN(fchdir, fchdir(fd))

AGAIN(mmap)
{
	void *at = mmap(NULL, (size_t)length, access, flags & ~(MAP_FIXED | 0x100000 /* MAP_FIXED_NOREPLACE */), fd, offset);
	if (at == MAP_FAILED && !err)
		again_fail("a mapping", errno);
	return (int64_t)at;
}

/* ---- names ---- */

static _Thread_local struct stat a_stat;
static _Thread_local struct statx a_statx;

/* A call on one name: there has to be something, or it makes it. */
#define NAMED_AT(name, need, call)                         \
	AGAIN(name)                                        \
	{                                                  \
		path = again_ready(&dir, path, need, err); \
		return call;                               \
	}
#define NAMED(name, need, call)                            \
	AGAIN(name)                                        \
	{                                                  \
		int dir = AT_FDCWD;                        \
		path = again_ready(&dir, path, need, err); \
		return call;                               \
	}

NAMED(creat, NOTHING, given(creat(path, mode), err, path))
NAMED(truncate, SOME_FILE, truncate(path, length))
NAMED(stat, SOME_FILE, stat(path, &a_stat))
NAMED(lstat, SOME_FILE, lstat(path, &a_stat))
PLAIN(fstat, fstat(fd_of(fd), &a_stat))
NAMED_AT(fstatat, SOME_FILE, fstatat(dir, path, &a_stat, flags))
NAMED_AT(statx, SOME_FILE, statx(dir, path, flags, (unsigned)mask, &a_statx))
NAMED(access, SOME_FILE, access(path, mode))
NAMED_AT(faccessat, SOME_FILE, faccessat(dir, path, mode, flags))
NAMED(unlink, SOME_FILE, unlink(path))
NAMED_AT(unlinkat, flags & AT_REMOVEDIR ? SOME_FOLDER : SOME_FILE, unlinkat(dir, path, flags))
NAMED(remove, SOME_FILE, remove(path))
NAMED(rmdir, SOME_FOLDER, rmdir(path))
NAMED(chdir, SOME_FOLDER, chdir(path))

/* Nothing is there, but of an earlier run. */
static void gone(int dir, const char *path, int err)
{
	if (!err)
		again_gone(dir, path);
}

NAMED(mkdir, NOTHING, (gone(dir, path, err), mkdir(path, mode)))
NAMED_AT(mkdirat, NOTHING, (gone(dir, path, err), mkdirat(dir, path, mode)))
NAMED(symlink, NOTHING, (target = again_target(target, dir, path), gone(dir, path, err), symlink(target, path)))
NAMED_AT(symlinkat, NOTHING, (target = again_target(target, dir, path), gone(dir, path, err), symlinkat(target, dir, path)))
NAMED(readlink, NOTHING, (again_aim(dir, path, err ? 0 : got), readlink(path, again_room(count), (size_t)count)))
NAMED_AT(readlinkat, NOTHING, (again_aim(dir, path, err ? 0 : got), readlinkat(dir, path, again_room(count), (size_t)count)))

/* From one name to another. */
#define NAMES_AT(name, call)                                                    \
	AGAIN(name)                                                             \
	{                                                                       \
		path = again_ready(&dir, path, SOME_FILE, err);                 \
		to = again_ready(&todir, to, NOTHING, err == EEXIST ? err : 0); \
		return call;                                                    \
	}
#define NAMES(name, call)                                                       \
	AGAIN(name)                                                             \
	{                                                                       \
		int dir = AT_FDCWD, todir = AT_FDCWD;                           \
		path = again_ready(&dir, path, SOME_FILE, err);                 \
		to = again_ready(&todir, to, NOTHING, err == EEXIST ? err : 0); \
		return call;                                                    \
	}

NAMES(rename, rename(path, to))
NAMES_AT(renameat, renameat(dir, path, todir, to))
NAMES_AT(renameat2, renameat2(dir, path, todir, to, (unsigned)flags))
NAMES(link, (gone(todir, to, err), link(path, to)))
NAMES_AT(linkat, (gone(todir, to, err), linkat(dir, path, todir, to, flags)))

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

NAMED(opendir, SOME_FOLDER, folder(opendir(path), err, path))
PLAIN(fdopendir, folder(fdopendir(fd), err, "a folder"))

/* Other names than there were may be there. */
PLAIN(readdir, dir && readdir(dir))

AGAIN(closedir)
{
	errno = EINVAL;
	return dir ? closedir(dir) : -1;
}
