/* streams.c: calls on streams, made again. See posix.h. */
#include "scratch.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first three are named by number in a trace. */
static FILE *of(FILE *s)
{
	uintptr_t n = (uintptr_t)s;
	FILE *standard[] = {stdin, stdout, stderr};
	for (int i = 0; i < 3; i++)
		if (n == (uintptr_t)i + 1 || s == standard[i]) {
			again_standard(i);
			return standard[i];
		}
	if (!s)
		errno = EBADF;
	return s;
}

/* Functions of the C library itself, which no recorder stands in front of. */
static void *plain(const char *name)
{
	static void *library;
	if (!library)
		library = dlopen("libc.so.6", RTLD_LAZY);
	void *f = library ? dlsym(library, name) : NULL;
	if (!f)
		again_fail(name, ENOSYS);
	return f;
}

/* Where a stream is. */
static int64_t at(FILE *s)
{
	int64_t n = again_at(s->_fileno);
	if (s->_IO_read_ptr < s->_IO_read_end)
		return n - (s->_IO_read_end - s->_IO_read_ptr);
	return n + (s->_IO_write_ptr > s->_IO_write_base ? s->_IO_write_ptr - s->_IO_write_base : 0);
}

static void go(FILE *s, int64_t offset, int whence)
{
	int was = errno;
	int (*seek)(FILE *, off_t, int);
	*(void **)&seek = plain("fseeko");
	seek(s, offset, whence);
	errno = was;
}

/* A descriptor of the same file that can be read and written. */
static int both_ways(FILE *s)
{
	char link[64];
	snprintf(link, sizeof link, "/proc/self/fd/%d", s->_fileno);
	return (int)syscall(SYS_openat, AT_FDCWD, link, O_RDWR | O_CLOEXEC, 0);
}

/* There is this text where the stream reads next, whatever was there: in its buffer, and
   behind that in the file. */
static void say(FILE *s, const char *text, int64_t n)
{
	int was = errno;
	char old[4096];
	int64_t from = at(s), held = s->_IO_read_end - s->_IO_read_ptr;
	held = held < 0 ? 0 : held > n ? n : held;
	memcpy(s->_IO_read_ptr, text, (size_t)held);
	int fd = syscall(SYS_lseek, s->_fileno, 0L, SEEK_CUR) < 0 ? -1 : both_ways(s);
	for (int64_t i = 0, part; fd >= 0 && i < n; i += part) {
		part = n - i < (int64_t)sizeof old ? n - i : (int64_t)sizeof old;
		if (syscall(SYS_pread64, fd, old, part, from + i) != part || memcmp(old, text + i, (size_t)part))
			syscall(SYS_pwrite64, fd, text + i, part, from + i); /* others may read the same */
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	errno = was;
}

/* So many bytes are between where the stream reads and the end of its file. */
static void ends_in(FILE *s, int64_t n)
{
	int was = errno;
	int64_t here = syscall(SYS_lseek, s->_fileno, 0L, SEEK_CUR);
	int64_t end = syscall(SYS_lseek, s->_fileno, 0L, SEEK_END);
	if (here >= 0)
		syscall(SYS_lseek, s->_fileno, here, SEEK_SET);
	errno = was;
	if (here >= 0 && end - n > at(s))
		go(s, end - n, SEEK_SET);
}

/* Text that ends a line, as most that programs write does: who reads it again finds as many. */
static const char *sentence(int64_t n)
{
	const char *text = again_text(n);
	if (n > 0)
		((char *)(uintptr_t)text)[n - 1] = '\n';
	return text;
}

/* The next line has so many bytes; -1: there is none. */
static void line(FILE *s, int64_t n, int err)
{
	if (n < 0 && !err)
		ends_in(s, 0);
	if (n > 0)
		say(s, sentence(n), n);
}

static int64_t given(FILE *s, int err, const char *what)
{
	if (!s && !err)
		again_fail(what ? what : "a stream", errno);
	if (s && err) {
		syscall(SYS_close, s->_fileno);
		errno = 0;
		return 0;
	}
	return (int64_t)s;
}

/* ---- opening and closing ---- */

static const char *to_open(const char *path, const char *mode, int err)
{
	int dir = AT_FDCWD;
	return again_ready(&dir, path, mode && *mode == 'r' ? SOME_FILE : NOTHING, err);
}

AGAIN(fopen)
{
	path = to_open(path, mode, err);
	return given(fopen(path, mode), err, path);
}

PLAIN(fdopen, given(fdopen(fd, mode), err, NULL))

AGAIN(freopen)
{
	path = to_open(path, mode, err);
	stream = of(stream);
	return stream ? given(freopen(path, mode, stream), err, path) : 0;
}

PLAIN(tmpfile, given(fdopen(again_nameless(), "w+"), err, NULL))

/* A call on a stream, and what it gives if there is none. */
#define ON_STREAM(name, none, call)            \
	AGAIN(name)                            \
	{                                      \
		stream = of(stream);           \
		return stream ? (call) : none; \
	}

ON_STREAM(fclose, -1, fclose(stream))
ON_STREAM(fileno, -1, fileno(stream))

/* ---- reading and writing ---- */

AGAIN(fread)
{
	if (!(stream = of(stream)))
		return 0;
	again_reach(stream->_fileno, got > 0 ? at(stream) + got * size : 0);
	if (got < n && size > 0 && !err)
		ends_in(stream, got * size);
	return (int64_t)fread(again_room(size * n), (size_t)size, (size_t)n, stream);
}

AGAIN(fwrite)
{
	if (!(stream = of(stream)))
		return 0;
	return (int64_t)fwrite(again_bytes(size * n), (size_t)size, (size_t)(got < n ? got : n), stream);
}

AGAIN(fgets)
{
	if (!(stream = of(stream)))
		return -1;
	line(stream, got, err);
	char *s = fgets(again_room(n), n, stream);
	return s ? (int64_t)strlen(s) : -1;
}

ON_STREAM(fputs, -1, fputs(sentence(text), stream))
ON_STREAM(fprintf, -1, fprintf(stream, "%.*s", (int)got, sentence(got > 0 ? got : 0)))
PLAIN(puts, of(stream) ? puts(again_text(text)) : -1)

AGAIN(dprintf)
{
	again_standard(fd);
	return dprintf(fd, "%.*s", (int)got, sentence(got > 0 ? got : 0));
}

AGAIN(getline)
{
	static _Thread_local char *text;
	static _Thread_local size_t size;
	if (!(stream = of(stream)))
		return -1;
	line(stream, got, err);
	return getline(&text, &size, stream);
}

/* How far it read is not known: it finds as many numbers. */
AGAIN(fscanf)
{
	static const char format[] = "%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d", zeros[] = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ";
	int x;
	if (!(stream = of(stream)))
		return -1;
	if (got < 0 && !err)
		ends_in(stream, 0);
	int64_t n = got < 0 ? 1 : got > 16 ? 16 : got;
	if (got > 0)
		say(stream, zeros, 2 * n);
	return fscanf(stream, format + 2 * (16 - n), &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x, &x);
}

/* ---- places ---- */

ON_STREAM(fseek, -1, fseek(stream, offset, whence))

/* Behind fseek to the end it says how large the file was, behind fscanf how far that read. */
AGAIN(ftell)
{
	if (!(stream = of(stream)))
		return -1;
	if (!err && got != at(stream)) {
		again_reach(stream->_fileno, got);
		go(stream, got, SEEK_SET);
	}
	return ftell(stream);
}

AGAIN(rewind)
{
	if ((stream = of(stream)))
		rewind(stream);
	return 0;
}

static _Thread_local fpos_t place;
static _Thread_local FILE *placed;

AGAIN(fgetpos)
{
	if (!(stream = of(stream)))
		return -1;
	placed = stream;
	return fgetpos(stream, &place);
}

/* Which place it was is not in a trace: the last that was asked for, or where it is. */
AGAIN(fsetpos)
{
	if (!(stream = of(stream)))
		return -1;
	if (placed != stream) {
		int (*tell)(FILE *, fpos_t *);
		*(void **)&tell = plain("fgetpos");
		tell(stream, &place);
	}
	return fsetpos(stream, &place);
}

PLAIN(fflush, fflush(stream ? of(stream) : NULL))
ON_STREAM(setvbuf, -1, setvbuf(stream, NULL, mode, (size_t)size))
