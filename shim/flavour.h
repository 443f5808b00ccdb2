/*
 * flavour.h: what differs between families of MPI libraries. The tables are
 * generated from package mpi; sp_fl is the row of the library found at run
 * time, with addresses filled in.
 */
#ifndef SPOOR_FLAVOUR_H
#define SPOOR_FLAVOUR_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

#define SP_FLAVOURS 3

enum sp_sentinel_form { SP_SENT_NONE, SP_SENT_VALUE, SP_SENT_ADDRESS, SP_SENT_CONTENTS };

struct sp_sentinel {
	int form;
	int64_t value;
	const char *symbol;
};

enum sp_count_form { SP_COUNT_HIDDEN, SP_COUNT_SPLIT, SP_COUNT_WORD };

struct sp_layout {
	const char *name;
	int handle_size;
	int status_size, st_source, st_tag, st_error, st_count;
	int any_source, any_tag, proc_null, root, undefined, err_in_status, unsupported;
	int cart, graph, dist_graph;
	struct sp_sentinel bottom, in_place, buffer_automatic, status_ignore, statuses_ignore;
	struct sp_sentinel unweighted, weights_empty;
};

/* A predefined handle: a number or the address of an object, per flavour. */
struct sp_predefined {
	const char *kind, *name;
	int abi;
	int64_t raw[SP_FLAVOURS]; /* meaningless where there is a symbol */
	const char *symbol[SP_FLAVOURS]; /* "" for a number, NULL if there is none */
};

extern const struct sp_layout sp_layouts[SP_FLAVOURS];
extern const struct sp_predefined sp_predefined[];
extern const int sp_npredefined;

struct sp_flavour {
	int number; /* enum spoor_flavour */
	int handle_size;
	uint64_t handle_mask;
	int status_size, st_source, st_tag, st_error, st_count;
	int any_source, any_tag, proc_null, root, undefined, err_in_status, unsupported, error_mask;
	int cart, graph, dist_graph;
	const void *bottom, *in_place, *buffer_automatic, *status_ignore, *statuses_ignore;
	const void *unweighted, *weights_empty;
	intptr_t comm_world, comm_null, datatype_null, byte, bor, group_null, request_null, errors_return, session_null;
};

extern struct sp_flavour sp_fl;

/* Fill sp_fl. */
void sp_flavour_set(int number);
/* Value of a predefined handle; 0 if the library has no such object. */
int sp_predefined_value(const struct sp_predefined *p, intptr_t *value);
/* After PMPI_Init: the sentinels that libraries compute. */
void sp_flavour_late(void);

#pragma GCC visibility pop

#endif
