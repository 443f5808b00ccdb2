/* fortran_copy.c: arrays and strings as C would have passed them. */
#include "fortran.h"

#include <stdlib.h>

void *sp_f_room(struct sp_f_pool *pool, size_t bytes)
{
	size_t need = (bytes + 15) & ~(size_t)15;
	if (need <= sizeof pool->bytes - pool->used) {
		void *p = pool->bytes + pool->used;
		pool->used += need;
		return p;
	}
	sp_self.in[SP_BUSY]++;
	void **block = malloc(need + 16);
	sp_self.in[SP_BUSY]--;
	if (!block)
		return NULL;
	*block = pool->more;
	pool->more = block;
	return (char *)block + 16;
}

void sp_f_free(struct sp_f_pool *pool)
{
	sp_self.in[SP_BUSY]++;
	while (pool->more) {
		void *next = *(void **)pool->more;
		free(pool->more);
		pool->more = next;
	}
	sp_self.in[SP_BUSY]--;
}

void *sp_f_handles(struct sp_f_pool *pool, void *p, int64_t n, unsigned f2c)
{
	if (n < 1 || !p || sp_fl.handle_size == 4)
		return p;
	intptr_t *copy = sp_f_room(pool, (size_t)n * sizeof *copy);
	for (int64_t i = 0; copy && i < n; i++)
		copy[i] = sp_f_handle((const int *)p + i, f2c);
	return copy;
}

int *sp_f_logicals(struct sp_f_pool *pool, void *p, int64_t n)
{
	if (n < 1 || !p)
		return p;
	int *copy = sp_f_room(pool, (size_t)n * sizeof *copy);
	for (int64_t i = 0; copy && i < n; i++)
		copy[i] = ((const int *)p)[i] != 0;
	return copy;
}

int *sp_f_indices(struct sp_f_pool *pool, void *p, int64_t n, int64_t count, int form)
{
	if (n < 1 || !p)
		return p;
	int *copy = sp_f_room(pool, (size_t)n * sizeof *copy);
	for (int64_t i = 0; copy && i < n; i++)
		copy[i] = sp_f_index((const int *)p + i, count, form);
	return copy;
}

int64_t *sp_f_widened(struct sp_f_pool *pool, void *p, int64_t n)
{
	if (n < 1 || !p)
		return p;
	int64_t *copy = sp_f_room(pool, (size_t)n * sizeof *copy);
	for (int64_t i = 0; copy && i < n; i++)
		copy[i] = ((const int *)p)[i];
	return copy;
}

/* ---- characters ---- */

static size_t trimmed(const char *s, size_t length)
{
	while (length > 0 && s[length - 1] == ' ')
		length--;
	return length;
}

char *sp_f_string(struct sp_f_pool *pool, const void *p, size_t length, int strip)
{
	const char *s = p;
	if (!s)
		return NULL;
	size_t n = trimmed(s, length & 0x7fffffff);
	if (strip == SP_F_INFO || (strip == SP_F_INPUT && sp_fl.number == SPOOR_OPENMPI))
		while (n > 0 && *s == ' ') {
			s++;
			n--;
		}
	char *copy = sp_f_room(pool, n + 1);
	if (!copy)
		return NULL;
	memcpy(copy, s, n);
	copy[n] = 0;
	return copy;
}

/* A list of strings, `apart` bytes from one to the next, with a NULL behind. */
static char **list(struct sp_f_pool *pool, const char *s, size_t length, size_t apart, int64_t n)
{
	char **copy = sp_f_room(pool, ((size_t)n + 1) * sizeof *copy);
	for (int64_t i = 0; copy && i < n; i++)
		copy[i] = sp_f_string(pool, s + (size_t)i * apart, length, SP_F_OUTPUT);
	if (copy)
		copy[n] = NULL;
	return copy;
}

static int64_t until_blank(const char *s, size_t length, size_t apart)
{
	int64_t n = 0;
	while (trimmed(s + (size_t)n * apart, length) > 0)
		n++;
	return n;
}

char **sp_f_argv(struct sp_f_pool *pool, const void *p, size_t length, int wanted)
{
	length &= 0x7fffffff;
	if (!p || !wanted || sp_f_special(p) == SP_F_ARGV)
		return NULL;
	return list(pool, p, length, length, until_blank(p, length, length));
}

char **sp_f_strings(struct sp_f_pool *pool, const void *p, size_t length, int64_t n)
{
	length &= 0x7fffffff;
	return p && n >= 0 ? list(pool, p, length, length, n) : NULL;
}

/* Row i of the matrix has its elements n strings apart. */
char ***sp_f_argvs(struct sp_f_pool *pool, const void *p, size_t length, int64_t n)
{
	length &= 0x7fffffff;
	if (!p || n < 0 || sp_f_special(p) == SP_F_ARGVS)
		return NULL;
	char ***copy = sp_f_room(pool, ((size_t)n + 1) * sizeof *copy);
	size_t apart = (size_t)n * length;
	for (int64_t i = 0; copy && i < n; i++) {
		const char *row = (const char *)p + (size_t)i * length;
		copy[i] = list(pool, row, length, apart, until_blank(row, length, apart));
	}
	return copy;
}
