/* values.c: one value of a call each, as it stands in the log. */
#include "log.h"

int o_readable(const void *p)
{
	uintptr_t u = (uintptr_t)p;
	return u >= 4096 && u <= UINTPTR_MAX - 4096 && p != (const void *)MPI_UNWEIGHTED &&
	       p != (const void *)MPI_WEIGHTS_EMPTY;
}

static void separate(void)
{
	if (o_self.comma)
		o_put(",");
	o_self.comma = 1;
}

void o_null(void)
{
	separate();
	o_put("null");
}

void o_int(int64_t value)
{
	separate();
	o_put("%lld", (long long)value);
}

void o_handle(uint64_t raw)
{
	separate();
	o_put("\"h:%llx\"", (unsigned long long)raw);
}

void o_pointer(const void *p)
{
	separate();
	o_put("\"p:%llx\"", (unsigned long long)(uintptr_t)p);
}

void o_request(uint64_t raw, const void *address)
{
	separate();
	o_put("\"r:%llx@%llx\"", (unsigned long long)raw, (unsigned long long)(uintptr_t)address);
}

void o_string(const char *s)
{
	if (!o_readable(s)) {
		o_pointer(s);
		return;
	}
	separate();
	o_put("\"s:");
	o_quote(s);
	o_put("\"");
}

void o_list_begin(void)
{
	separate();
	o_put("[");
	o_self.comma = 0;
}

void o_list_end(void)
{
	o_put("]");
	o_self.comma = 1;
}

/* n < 0: up to the null pointer. */
void o_strings(char *const *list, int64_t n)
{
	if (!o_readable(list)) {
		o_pointer(list);
		return;
	}
	o_list_begin();
	for (int64_t i = 0; n < 0 ? list[i] != NULL : i < n; i++)
		o_string(list[i]);
	o_list_end();
}

void o_string_lists(char **const *list, int64_t n)
{
	if (!o_readable(list)) {
		o_pointer(list);
		return;
	}
	o_list_begin();
	for (int64_t i = 0; i < n; i++)
		o_strings(list[i], -1);
	o_list_end();
}

void o_status(const MPI_Status *status)
{
	if (!o_readable(status)) {
		o_pointer(status);
		return;
	}
	MPI_Count bytes = -1;
	int cancelled = 0;
	if (atomic_load(&o_in_mpi)) {
		REAL(MPI_Get_elements_x)((MPI_Status *)(uintptr_t)status, MPI_BYTE, &bytes);
		REAL(MPI_Test_cancelled)((MPI_Status *)(uintptr_t)status, &cancelled);
	}
	separate();
	o_put("{\"source\":%d,\"tag\":%d,\"error\":%d,\"bytes\":%lld,\"cancelled\":%d}", status->MPI_SOURCE,
	    status->MPI_TAG, status->MPI_ERROR, (long long)bytes, cancelled);
}

void o_statuses(const MPI_Status *list, int64_t n)
{
	if (!o_readable(list)) {
		o_pointer(list);
		return;
	}
	o_list_begin();
	for (int64_t i = 0; i < n; i++)
		o_status(&list[i]);
	o_list_end();
}
