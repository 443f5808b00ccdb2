/* put.c: parts of variable size. */
#include "put.h"

#include <stdlib.h>

/* What the length word has to say; > 0 if elements follow. */
static int64_t length(const void *array, int64_t n)
{
	if (n < 0)
		return n;
	if (array == NULL)
		return SP_LEN_NULL;
	if (array == sp_fl.unweighted)
		return SP_LEN_UNWEIGHTED;
	if (array == sp_fl.weights_empty)
		return SP_LEN_WEIGHTS_EMPTY;
	return n;
}

/* Make room for the length word and `words` more, as the record may move, then
   write it. NULL if there is no room. */
static uint64_t *start(struct sp_thread *t, uint64_t *w, int64_t n, size_t words)
{
	w = sp_room(t, w, words + 1);
	if (w)
		*w++ = (uint64_t)n;
	return w;
}

uint64_t *sp_put_32s(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	n = length(array, n);
	size_t words = n > 0 ? ((size_t)n + 1) / 2 : 0;
	if (!(w = start(t, w, n, words)))
		return sp_room_none();
	if (words == 0)
		return w;
	w[words - 1] = 0; /* the odd half */
	memcpy(w, array, (size_t)n * 4);
	return w + words;
}

uint64_t *sp_put_64s(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	n = length(array, n);
	size_t words = n > 0 ? (size_t)n : 0;
	if (!(w = start(t, w, n, words)))
		return sp_room_none();
	if (words)
		memcpy(w, array, words * 8);
	return w + words;
}

static void copy_handles(uint64_t *w, const void *array, size_t n)
{
	if (sp_fl.handle_size == 8)
		memcpy(w, array, n * 8);
	else
		for (size_t i = 0; i < n; i++)
			w[i] = ((const uint32_t *)array)[i];
}

uint64_t *sp_put_handles(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	n = length(array, n);
	size_t words = n > 0 ? (size_t)n : 0;
	if (!(w = start(t, w, n, words)))
		return sp_room_none();
	if (words)
		copy_handles(w, array, words);
	return w + words;
}

uint64_t *sp_put_requests(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	n = length(array, n);
	if (!(w = start(t, w, n, n > 0 ? (size_t)n + 2 : 0)))
		return sp_room_none();
	if (n <= 0)
		return w;
	w[0] = (uint64_t)(uintptr_t)(t->request_at ? t->request_at : array);
	w[1] = t->request_at ? 4 : (uint64_t)sp_fl.handle_size;
	copy_handles(w + 2, array, (size_t)n);
	return w + 2 + n;
}

uint64_t *sp_put_statuses(struct sp_thread *t, uint64_t *w, const void *array, int64_t n, int form)
{
	n = n >= 0 && array == sp_fl.statuses_ignore ? SP_LEN_IGNORED : length(array, n);
	if (!(w = start(t, w, n, n > 0 ? (size_t)n * SP_STATUS_WORDS : 0)))
		return sp_room_none();
	for (int64_t i = 0; i < n; i++)
		w = sp_put_status(w, (const char *)array + i * sp_fl.status_size, form);
	return w;
}

uint64_t *sp_put_string(struct sp_thread *t, uint64_t *w, const void *string, int64_t room)
{
	int64_t n = room < 0 ? room : !string ? SP_LEN_NULL : (int64_t)strnlen(string, (size_t)room);
	size_t words = n > 0 ? ((size_t)n + 7) / 8 : 0;
	if (!(w = start(t, w, n, words)))
		return sp_room_none();
	if (words == 0)
		return w;
	w[words - 1] = 0;
	memcpy(w, string, (size_t)n);
	return w + words;
}

uint64_t *sp_put_strings(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	char *const *list = array;
	if (n == SP_TO_NULL)
		for (n = 0; list && list[n];)
			n++;
	n = length(array, n);
	if (!(w = start(t, w, n, 0)))
		return sp_room_none();
	for (int64_t i = 0; i < n; i++)
		w = sp_put_string(t, w, list[i], INT64_MAX);
	return w;
}

uint64_t *sp_put_string_lists(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	char **const *lists = array;
	n = length(array, n);
	if (!(w = start(t, w, n, 0)))
		return sp_room_none();
	for (int64_t i = 0; i < n; i++)
		w = sp_put_strings(t, w, lists[i], SP_TO_NULL);
	return w;
}

int64_t sp_sum32(const void *array, int64_t n)
{
	int64_t sum = 0;
	for (int64_t i = 0; array && i < n; i++)
		sum += ((const int32_t *)array)[i];
	return sum;
}

int64_t sp_last32(const void *array, int64_t n)
{
	return array && n > 0 ? ((const int32_t *)array)[n - 1] : 0;
}

void *sp_statuses_new(int64_t n, void *few, size_t size)
{
	if (n < 0)
		n = 0;
	size_t need = (size_t)n * (size_t)sp_fl.status_size;
	if (need <= size)
		return memset(few, 0, need);
	sp_self.in[SP_BUSY]++;
	void *p = calloc(1, need);
	sp_self.in[SP_BUSY]--;
	return p ? p : (void *)(uintptr_t)sp_fl.statuses_ignore;
}

void sp_statuses_free(void *array, void *few)
{
	if (array == few || array == sp_fl.statuses_ignore)
		return;
	sp_self.in[SP_BUSY]++;
	free(array);
	sp_self.in[SP_BUSY]--;
}
