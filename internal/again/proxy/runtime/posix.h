/*
 * posix.h: calls of POSIX's and C's functions on files, made again in a scratch folder.
 *
 * again_NAME makes the call of that name. It is passed what a trace has of the call:
 * parameters without buffers, then what came of it, the result and errno. What the
 * call needs in order to end like that is made before: a file that the program found,
 * and as much of it as was read.
 *
 * The scratch folder is the root of all names: /data/x is data/x in there, and the
 * working directory of the program is here/. No name leads out of it: ".." is taken away
 * before the kernel sees it, and what symbolic links point to is below it too.
 *
 * What is done besides is done by system calls, which no recorder sees.
 */
#ifndef POSIX_H
#define POSIX_H

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>

#pragma GCC visibility push(hidden)

#define NO_DESCRIPTOR (-1)

/* The folder, which is made, and who is told why a file can't be opened; that does not return. */
typedef void failing(const char *what, const char *why);
void again_root(const char *folder, int rank, failing *);
void again_begin(const char *folder, int rank, failing *); /* the process is in it besides, as the program was in its own */

/* Where a file of MPI-IO is, until the next calls by this thread. */
const char *again_place(const char *name);
/* The same of one that had so many bytes when the program found it. */
enum { NOTHING_FOUND = -1, NOT_THERE = -2 /* which is why the call failed */ };
const char *again_file(const char *name, int64_t found);

#define AGAIN_CALLS(CALL, CALL0)                                                                                      \
	CALL(open, const char *path, int flags, unsigned mode)                                                     \
	CALL(openat, int dir, const char *path, int flags, unsigned mode)                                          \
	CALL(creat, const char *path, unsigned mode)                                                               \
	CALL(close, int fd)                                                                                        \
	CALL(dup, int fd)                                                                                          \
	CALL(dup2, int fd, int newfd)                                                                              \
	CALL(dup3, int fd, int newfd, int flags)                                                                   \
	CALL(fcntl, int fd, int command, int64_t argument)                                                         \
	CALL(mkstemp, const char *name)                                                                            \
	CALL(read, int fd, int64_t count)                                                                          \
	CALL(write, int fd, int64_t count)                                                                         \
	CALL(pread, int fd, int64_t count, int64_t offset)                                                         \
	CALL(pwrite, int fd, int64_t count, int64_t offset)                                                        \
	CALL(readv, int fd, const int64_t *lengths, int n)                                                         \
	CALL(writev, int fd, const int64_t *lengths, int n)                                                        \
	CALL(preadv, int fd, const int64_t *lengths, int n, int64_t offset)                                        \
	CALL(pwritev, int fd, const int64_t *lengths, int n, int64_t offset)                                       \
	CALL(preadv2, int fd, const int64_t *lengths, int n, int64_t offset, int flags)                            \
	CALL(pwritev2, int fd, const int64_t *lengths, int n, int64_t offset, int flags)                           \
	CALL(lseek, int fd, int64_t offset, int whence)                                                            \
	CALL(copy_file_range, int in, int64_t inoff, int out, int64_t outoff, int64_t size, int flags)             \
	CALL(sendfile, int out, int in, int64_t offset, int64_t count)                                             \
	CALL(splice, int in, int64_t inoff, int out, int64_t outoff, int64_t size, int flags)                      \
	CALL(tee, int in, int out, int64_t size, int flags)                                                        \
	CALL(fsync, int fd)                                                                                        \
	CALL(fdatasync, int fd)                                                                                    \
	CALL(sync_file_range, int fd, int64_t offset, int64_t count, int flags)                                    \
	CALL(ftruncate, int fd, int64_t length)                                                                    \
	CALL(truncate, const char *path, int64_t length)                                                           \
	CALL(fallocate, int fd, int mode, int64_t offset, int64_t length)                                          \
	CALL(posix_fallocate, int fd, int64_t offset, int64_t length)                                              \
	CALL(posix_fadvise, int fd, int64_t offset, int64_t length, int advice)                                    \
	CALL(mmap, int64_t length, int access, int flags, int fd, int64_t offset)                                  \
	CALL(munmap, void *at, int64_t length)                                                                     \
	CALL(msync, void *at, int64_t length, int flags)                                                           \
	CALL(stat, const char *path)                                                                               \
	CALL(lstat, const char *path)                                                                              \
	CALL(fstat, int fd)                                                                                        \
	CALL(fstatat, int dir, const char *path, int flags)                                                        \
	CALL(statx, int dir, const char *path, int flags, int mask)                                                \
	CALL(access, const char *path, int mode)                                                                   \
	CALL(faccessat, int dir, const char *path, int mode, int flags)                                            \
	CALL(unlink, const char *path)                                                                             \
	CALL(unlinkat, int dir, const char *path, int flags)                                                       \
	CALL(remove, const char *path)                                                                             \
	CALL(rename, const char *path, const char *to)                                                             \
	CALL(renameat, int dir, const char *path, int todir, const char *to)                                       \
	CALL(renameat2, int dir, const char *path, int todir, const char *to, int flags)                           \
	CALL(mkdir, const char *path, unsigned mode)                                                               \
	CALL(mkdirat, int dir, const char *path, unsigned mode)                                                    \
	CALL(rmdir, const char *path)                                                                              \
	CALL(chdir, const char *path)                                                                              \
	CALL(fchdir, int fd)                                                                                       \
	CALL(link, const char *path, const char *to)                                                               \
	CALL(linkat, int dir, const char *path, int todir, const char *to, int flags)                              \
	CALL(symlink, const char *target, const char *path)                                                        \
	CALL(symlinkat, const char *target, int dir, const char *path)                                             \
	CALL(readlink, const char *path, int64_t count)                                                            \
	CALL(readlinkat, int dir, const char *path, int64_t count)                                                 \
	CALL(opendir, const char *path)                                                                            \
	CALL(fdopendir, int fd)                                                                                    \
	CALL(readdir, DIR *dir)                                                                                    \
	CALL(closedir, DIR *dir)                                                                                   \
	CALL(fopen, const char *path, const char *mode)                                                            \
	CALL(fdopen, int fd, const char *mode)                                                                     \
	CALL(freopen, const char *path, const char *mode, FILE *stream)                                            \
	CALL(fclose, FILE *stream)                                                                                 \
	CALL(fileno, FILE *stream)                                                                                 \
	CALL(fread, int64_t size, int64_t n, FILE *stream)                                                         \
	CALL(fwrite, int64_t size, int64_t n, FILE *stream)                                                        \
	CALL(fgets, int n, FILE *stream)                                                                           \
	CALL(fputs, int64_t length, FILE *stream)                                                                  \
	CALL(fprintf, FILE *stream)                                                                                \
	CALL(fseek, FILE *stream, int64_t offset, int whence)                                                      \
	CALL(ftell, FILE *stream)                                                                                  \
	CALL(rewind, FILE *stream)                                                                                 \
	CALL(fgetpos, FILE *stream)                                                                                \
	CALL(fsetpos, FILE *stream)                                                                                \
	CALL(fflush, FILE *stream)                                                                                 \
	CALL(setvbuf, FILE *stream, int mode, int64_t size)                                                        \
	CALL(getline, FILE *stream)                                                                                \
	CALL(fscanf, FILE *stream)                                                                                 \
	CALL(puts, FILE *stream, int64_t length)                                                                   \
	CALL(dprintf, int fd)                                                                                      \
	CALL0(tmpfile)

/* A call that has failed gives what the function gives then, and errno is the reason. */
#define AGAIN_DECLARE(name, ...) int64_t again_##name(__VA_ARGS__, int64_t got, int err);
#define AGAIN_DECLARE0(name) int64_t again_##name(int64_t got, int err);
AGAIN_CALLS(AGAIN_DECLARE, AGAIN_DECLARE0)

#pragma GCC visibility pop
#endif
