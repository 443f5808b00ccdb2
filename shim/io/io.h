/*
 * io.h: calls of POSIX's and C's functions that work on files.
 *
 * The library with these wrappers (libspoor-io.so) is the other one with more in it,
 * and preloaded instead of it only where a user asks for files: without, not one
 * instruction is added to a program's read and write.
 *
 * A call is recorded if it is the program's and of a file that counts. That is known
 * of each descriptor from when it was opened, or is found out at its first use.
 *
 * Invariants
 *  1. errno is what the real function left; a call that is not recorded is handed on.
 *  2. What spoor itself does is never recorded, wherever it is.
 *  3. Nothing is allocated or locked: these are called in signal handlers, between
 *     vfork and exec, inside of malloc, and before any constructor.
 */
#ifndef SPOOR_IO_H
#define SPOOR_IO_H

#include <errno.h>
#include <stdarg.h>
#include <sys/types.h>

#include "context.h"
#include "put.h"
#include "runtime.h"
#include "trampoline.h"

#pragma GCC visibility push(hidden)

struct iovec;

#define MAP_FAILED ((void *)-1)
#define MAP_ANONYMOUS 0x20

enum sp_io_state {
	SP_IO_UNKNOWN = 0,
	SP_IO_COUNTS = 1,
	SP_IO_LEFT_OUT = 2,
};

#define SP_IO_DESCRIPTORS 65536
extern uint8_t sp_io_states[SP_IO_DESCRIPTORS];
extern void *sp_io_functions[];
extern const char *const sp_io_names[]; /* of all wrappers; the last is NULL */

void *sp_io_find(int index, const char *name);

/* The next function of the name. */
static inline void *sp_io_real(int index, const char *name)
{
	void *p = __atomic_load_n(&sp_io_functions[index], __ATOMIC_RELAXED);
	return sp_likely(p != NULL) ? p : sp_io_find(index, name);
}

/* ---- which files count ---- */

int sp_io_look(int fd);
int sp_io_path(const char *path);
int sp_io_mapping(const void *at);

static inline int sp_io_descriptor(int fd)
{
	unsigned state = (unsigned)fd < SP_IO_DESCRIPTORS ? __atomic_load_n(&sp_io_states[fd], __ATOMIC_RELAXED) : SP_IO_UNKNOWN;
	return sp_likely(state != SP_IO_UNKNOWN) ? state == SP_IO_COUNTS : sp_io_look(fd);
}

/* -1 where there is none */
int sp_io_fileno(const void *stream);
int sp_io_dirfd(void *dir);

static inline int sp_io_stream(const void *stream)
{
	int fd = sp_io_fileno(stream);
	return fd >= 0 && sp_io_descriptor(fd);
}

static inline int sp_io_directory(void *dir)
{
	return dir && sp_io_descriptor(sp_io_dirfd(dir));
}

/* What becomes of descriptors. A path is what it was opened by, if it was. */
void sp_io_opened(int fd, const char *path);
void sp_io_same(int fd, int as);
void sp_io_closed(int fd);
void sp_io_mapped(const void *at);
void sp_io_unmapped(const void *at);

/* ---- recording ---- */

int sp_io_open_slow(struct sp_thread *t, int handles, const void *site, uint64_t cfa);

extern const char __ehdr_start[], _end[];

/* Begin to record a program without MPI, if it is one and records can't wait any longer. */
int sp_serial_now(struct sp_thread *t);

/* Whether a call that comes from site is recorded. */
static inline __attribute__((always_inline)) int sp_io_open(struct sp_thread *t, int handles, const void *site)
{
	if (sp_unlikely((uintptr_t)site - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start))
		return 0;
	if (sp_likely((__atomic_load_n(&sp_mode, __ATOMIC_RELAXED) | t->depth | t->writing | t->in[SP_BUSY] | t->in[SP_ALLOCATING] | t->in[SP_HOOKED]) == 0))
		return 1;
	return sp_io_open_slow(t, handles, site, SP_CFA);
}

/* The call that was pushed last is one of a file. */
static inline void sp_io_push(struct sp_thread *t)
{
	t->files |= 1u << (t->depth - 1);
}

static inline void sp_io_pop(struct sp_thread *t)
{
	t->files &= ~(1u << (t->depth - 1));
}

static inline int sp_io_has_mode(int flags)
{
	return (flags & 0100) || (flags & 020000000); /* O_CREAT, O_TMPFILE */
}

static inline int sp_io_duplicates(int command)
{
	return command == 0 || command == 1030; /* F_DUPFD, F_DUPFD_CLOEXEC */
}

/* As x86-64 has them. */
static inline uint64_t sp_io_flags(int flags)
{
	unsigned f = (unsigned)flags;
#if defined(__aarch64__)
	static const unsigned here[] = {040000, 0100000, 0200000, 0400000}, there[] = {0200000, 0400000, 040000, 0100000};
	unsigned out = f & ~0740000u;
	for (int i = 0; i < 4; i++) /* O_DIRECTORY, O_NOFOLLOW, O_DIRECT, O_LARGEFILE */
		out |= f & here[i] ? there[i] : 0;
	f = out;
#endif
	return f;
}

uint64_t sp_io_stream_word(const void *stream);

static inline uint64_t sp_io_pos_at(const int64_t *p)
{
	return p ? (uint64_t)*p : UINT64_MAX;
}

static inline uint64_t sp_io_length(const char *s)
{
	return s ? strlen(s) : UINT64_MAX;
}

/* ---- control blocks of asynchronous operations ---- */

int sp_aio_fd(const void *cb);
int sp_aio_operation(const void *cb);
size_t sp_aio_count(const void *cb);
int64_t sp_aio_offset(const void *cb);
/* Whether one of a list is of a file that counts. */
int sp_aio_counts(void **list, int n);
uint64_t *sp_put_aio_fds(struct sp_thread *t, uint64_t *w, void **list, int n);
uint64_t *sp_put_aio_operations(struct sp_thread *t, uint64_t *w, void **list, int n);
uint64_t *sp_put_aio_counts(struct sp_thread *t, uint64_t *w, void **list, int n);
uint64_t *sp_put_aio_offsets(struct sp_thread *t, uint64_t *w, void **list, int n);

uint64_t *sp_put_iovec(struct sp_thread *t, uint64_t *w, const struct iovec *v, int n);

#pragma GCC visibility pop

#endif
