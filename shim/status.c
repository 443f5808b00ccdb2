/* status.c: what a status says, whatever the library's layout of it. */
#include "calls.h"
#include "put.h"

static int field(const void *status, int offset)
{
	int32_t v;
	memcpy(&v, (const char *)status + offset, sizeof v);
	return v;
}

static int64_t bytes_hidden(const void *status)
{
	int64_t n = -1;
	if (P_MPI_Get_elements_c)
		P_MPI_Get_elements_c(status, sp_fl.byte, &n);
	else if (P_MPI_Get_elements_x)
		P_MPI_Get_elements_x(status, sp_fl.byte, &n);
	return n < 0 ? -1 : n;
}

/* Both read the library's own fields where their place is part of its ABI;
   asking costs more than the rest of a record. The questions that are asked
   otherwise look into the status and call nothing back. */
static int64_t bytes(const void *status)
{
	uint32_t low, high;
	int64_t n;
	switch (sp_fl.st_count) {
	case SP_COUNT_SPLIT:
		memcpy(&low, status, 4);
		memcpy(&high, (const char *)status + 4, 4);
		return (int64_t)((uint64_t)(high >> 1) << 32 | low);
	case SP_COUNT_WORD:
		memcpy(&n, (const char *)status + 16, sizeof n);
		return n < 0 ? -1 : n;
	}
	return bytes_hidden(status);
}

static int cancelled(const void *status)
{
	int flag = 0;
	switch (sp_fl.st_count) {
	case SP_COUNT_SPLIT:
		return field(status, 4) & 1;
	case SP_COUNT_WORD:
		return field(status, 12) & 1;
	}
	P_MPI_Test_cancelled(status, &flag);
	return flag != 0;
}

uint64_t *sp_put_status(uint64_t *w, const void *status, int form)
{
	if (form == SP_STATUS_ABSENT || status == NULL || status == sp_fl.status_ignore) {
		memset(w, 0, SP_STATUS_WORDS * sizeof *w);
		return w + SP_STATUS_WORDS;
	}
	int source = field(status, sp_fl.st_source), tag = field(status, sp_fl.st_tag);
	int64_t n = bytes(status);
	int gone = cancelled(status);
	if (source == sp_fl.any_source && tag == sp_fl.any_tag && n == 0 && !gone)
		form = SP_STATUS_EMPTY;
	w[0] = (uint64_t)form;
	w[1] = (uint64_t)(int64_t)source;
	w[2] = (uint64_t)(int64_t)tag;
	w[3] = (uint64_t)n;
	w[4] = (uint64_t)gone;
	w[5] = (uint64_t)(int64_t)field(status, sp_fl.st_error);
	return w + SP_STATUS_WORDS;
}
