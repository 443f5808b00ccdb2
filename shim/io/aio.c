/*
 * aio.c: what the control blocks of POSIX's asynchronous operations say.
 *
 * The C library reads a block before it does anything else, and so crashes where there is
 * none: it is read here as it is. A list may have gaps, which are operations that do nothing.
 */
#include <aio.h>

#undef MAP_FAILED
#undef MAP_ANONYMOUS
#include "io.h"

enum field { FD, OPERATION, COUNT, OFFSET };

int sp_aio_fd(const void *cb)
{
	return cb ? ((const struct aiocb *)cb)->aio_fildes : -1;
}

/* The C library notes there what it was asked for. */
int sp_aio_operation(const void *cb)
{
	int op = cb ? ((const struct aiocb *)cb)->aio_lio_opcode & 0x7f : LIO_NOP; /* of aio_read64 128 is added */
	return op == LIO_READ ? 0 : op == LIO_WRITE ? 1 : 2;
}

size_t sp_aio_count(const void *cb)
{
	return cb ? ((const struct aiocb *)cb)->aio_nbytes : 0;
}

int64_t sp_aio_offset(const void *cb)
{
	return cb ? ((const struct aiocb *)cb)->aio_offset : 0;
}

int sp_aio_counts(void **list, int n)
{
	for (int i = 0; i < n; i++)
		if (list[i] && sp_io_descriptor(sp_aio_fd(list[i])))
			return 1;
	return n <= 0;
}

/* Lists are of any length: their pointers are put first, then what is asked of each in its place. */
static uint64_t *put(struct sp_thread *t, uint64_t *w, void **list, int n, enum field field)
{
	n = n > 0 ? n : 0;
	w = sp_put_64s(t, w, list, n);
	for (int i = 0; i < n && sp_writable(t); i++) {
		const void *cb = list[i];
		w[i - n] = field == FD ? (uint64_t)(int64_t)sp_aio_fd(cb) : field == OPERATION ? (uint64_t)sp_aio_operation(cb)
			: field == COUNT ? sp_aio_count(cb) : (uint64_t)sp_aio_offset(cb);
	}
	return w;
}

uint64_t *sp_put_aio_fds(struct sp_thread *t, uint64_t *w, void **list, int n)
{
	return put(t, w, list, n, FD);
}

uint64_t *sp_put_aio_operations(struct sp_thread *t, uint64_t *w, void **list, int n)
{
	return put(t, w, list, n, OPERATION);
}

uint64_t *sp_put_aio_counts(struct sp_thread *t, uint64_t *w, void **list, int n)
{
	return put(t, w, list, n, COUNT);
}

uint64_t *sp_put_aio_offsets(struct sp_thread *t, uint64_t *w, void **list, int n)
{
	return put(t, w, list, n, OFFSET);
}
