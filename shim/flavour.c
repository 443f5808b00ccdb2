/* flavour.c: the row of the flavour tables that this process uses. */
#include "flavour.h"

#include <string.h>

#include "resolve.h"

struct sp_flavour sp_fl;

/* An address that no argument can have. */
static const char nobody;

static const void *sentinel(const struct sp_sentinel *s)
{
	void *p;
	switch (s->form) {
	case SP_SENT_VALUE:
		return (const void *)(uintptr_t)s->value;
	case SP_SENT_ADDRESS:
		p = sp_symbol(s->symbol);
		return p ? p : &nobody;
	case SP_SENT_CONTENTS:
		p = sp_symbol(s->symbol);
		return p && *(void **)p ? *(void **)p : &nobody;
	}
	return &nobody;
}

int sp_predefined_value(const struct sp_predefined *p, intptr_t *value)
{
	const char *symbol = p->symbol[sp_fl.number];
	if (!symbol)
		return 0;
	*value = (intptr_t)p->raw[sp_fl.number];
	if (*symbol)
		*value = (intptr_t)sp_symbol(symbol);
	return *symbol == 0 || *value != 0;
}

static intptr_t named(const char *name)
{
	intptr_t value = 0;
	for (int i = 0; i < sp_npredefined; i++)
		if (strcmp(sp_predefined[i].name, name) == 0)
			sp_predefined_value(&sp_predefined[i], &value);
	return value;
}

void sp_flavour_set(int number)
{
	const struct sp_layout *l = &sp_layouts[number];
	sp_fl.number = number;
	sp_fl.handle_size = l->handle_size;
	sp_fl.handle_mask = l->handle_size == 4 ? 0xffffffffu : UINT64_MAX;
	sp_fl.status_size = l->status_size;
	sp_fl.st_source = l->st_source;
	sp_fl.st_tag = l->st_tag;
	sp_fl.st_error = l->st_error;
	sp_fl.st_count = l->st_count;
	sp_fl.any_source = l->any_source;
	sp_fl.any_tag = l->any_tag;
	sp_fl.proc_null = l->proc_null;
	sp_fl.root = l->root;
	sp_fl.undefined = l->undefined;
	sp_fl.cart = l->cart;
	sp_fl.graph = l->graph;
	sp_fl.dist_graph = l->dist_graph;
	sp_fl.err_in_status = l->err_in_status;
	sp_fl.unsupported = l->unsupported;
	/* MPICH puts more into the code; the class is its low bits */
	sp_fl.error_mask = l->handle_size == 4 ? 0x7f : -1;
	sp_fl.bottom = sentinel(&l->bottom);
	sp_fl.in_place = sentinel(&l->in_place);
	sp_fl.buffer_automatic = sentinel(&l->buffer_automatic);
	sp_fl.status_ignore = sentinel(&l->status_ignore);
	sp_fl.statuses_ignore = sentinel(&l->statuses_ignore);
	sp_fl.comm_world = named("MPI_COMM_WORLD");
	sp_fl.comm_null = named("MPI_COMM_NULL");
	sp_fl.datatype_null = named("MPI_DATATYPE_NULL");
	sp_fl.byte = named("MPI_BYTE");
	sp_fl.bor = named("MPI_BOR");
	sp_fl.group_null = named("MPI_GROUP_NULL");
	sp_fl.request_null = named("MPI_REQUEST_NULL");
	sp_fl.errors_return = named("MPI_ERRORS_RETURN");
	sp_fl.session_null = named("MPI_SESSION_NULL");
	sp_flavour_late();
}

void sp_flavour_late(void)
{
	const struct sp_layout *l = &sp_layouts[sp_fl.number];
	sp_fl.unweighted = sentinel(&l->unweighted);
	sp_fl.weights_empty = sentinel(&l->weights_empty);
}
