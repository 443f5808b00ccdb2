/* put.c: parts of variable size. */
#include "put.h"

#include <stdlib.h>

/* Write the length word; NULL if nothing follows it. */
static uint64_t *length(uint64_t *w, const void *array, int64_t *n)
{
	if (*n >= 0) {
		if (array == NULL)
			*n = SP_LEN_NULL;
		else if (array == sp_fl.unweighted)
			*n = SP_LEN_UNWEIGHTED;
		else if (array == sp_fl.weights_empty)
			*n = SP_LEN_WEIGHTS_EMPTY;
	}
	*w = (uint64_t)*n;
	return *n > 0 ? w + 1 : NULL;
}

uint64_t *sp_put_32s(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	if (!length(w, array, &n))
		return w + 1;
	size_t words = ((size_t)n + 1) / 2;
	if (!(w = sp_room(t, w, words + 1)))
		return sp_room_none();
	w[words] = 0; /* the odd half */
	memcpy(w + 1, array, (size_t)n * 4);
	return w + 1 + words;
}

uint64_t *sp_put_64s(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	if (!length(w, array, &n))
		return w + 1;
	if (!(w = sp_room(t, w, (size_t)n + 1)))
		return sp_room_none();
	memcpy(w + 1, array, (size_t)n * 8);
	return w + 1 + n;
}

static void copy_handles(uint64_t *w, const void *array, int64_t n)
{
	if (sp_fl.handle_size == 8)
		memcpy(w, array, (size_t)n * 8);
	else
		for (int64_t i = 0; i < n; i++)
			w[i] = ((const uint32_t *)array)[i];
}

uint64_t *sp_put_handles(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	if (!length(w, array, &n))
		return w + 1;
	if (!(w = sp_room(t, w, (size_t)n + 1)))
		return sp_room_none();
	copy_handles(w + 1, array, n);
	return w + 1 + n;
}

uint64_t *sp_put_requests(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	if (!length(w, array, &n))
		return w + 1;
	if (!(w = sp_room(t, w, (size_t)n + 3)))
		return sp_room_none();
	w[1] = (uint64_t)(uintptr_t)array;
	w[2] = (uint64_t)sp_fl.handle_size;
	copy_handles(w + 3, array, n);
	return w + 3 + n;
}

uint64_t *sp_put_statuses(struct sp_thread *t, uint64_t *w, const void *array, int64_t n, int form)
{
	if (n >= 0 && array == sp_fl.statuses_ignore)
		n = SP_LEN_IGNORED;
	if (!length(w, array, &n))
		return w + 1;
	if (!(w = sp_room(t, w, (size_t)n * SP_STATUS_WORDS + 1)))
		return sp_room_none();
	w++;
	for (int64_t i = 0; i < n; i++)
		w = sp_put_status(w, (const char *)array + i * sp_fl.status_size, form);
	return w;
}

uint64_t *sp_put_string(struct sp_thread *t, uint64_t *w, const void *string, int64_t room)
{
	if (room < 0 || !string) {
		*w = (uint64_t)(room < 0 ? room : SP_LEN_NULL);
		return w + 1;
	}
	size_t n = strnlen(string, (size_t)room);
	size_t words = (n + 7) / 8;
	if (!(w = sp_room(t, w, words + 1)))
		return sp_room_none();
	w[words] = 0;
	w[0] = n;
	memcpy(w + 1, string, n);
	return w + 1 + words;
}

uint64_t *sp_put_strings(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	char *const *list = array;
	if (n == SP_TO_NULL)
		for (n = 0; list && list[n];)
			n++;
	if (!length(w, array, &n))
		return w + 1;
	w++;
	for (int64_t i = 0; i < n; i++)
		w = sp_put_string(t, w, list[i], INT64_MAX);
	return w;
}

uint64_t *sp_put_string_lists(struct sp_thread *t, uint64_t *w, const void *array, int64_t n)
{
	char **const *lists = array;
	if (!length(w, array, &n))
		return w + 1;
	w++;
	for (int64_t i = 0; i < n; i++) {
		if (!(w = sp_room(t, w, 1)))
			return sp_room_none();
		w = sp_put_strings(t, w, lists[i], SP_TO_NULL);
	}
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
	sp_self.busy++;
	void *p = calloc(1, need);
	sp_self.busy--;
	return p ? p : (void *)(uintptr_t)sp_fl.statuses_ignore;
}

void sp_statuses_free(void *array, void *few)
{
	if (array == few || array == sp_fl.statuses_ignore)
		return;
	sp_self.busy++;
	free(array);
	sp_self.busy--;
}
