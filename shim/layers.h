/* layers.h: other libraries that wrap MPI functions. */
#ifndef SPOOR_LAYERS_H
#define SPOOR_LAYERS_H

#include <stdint.h>

/* Find the layers below, when sp_real and sp_next are known. */
void sp_layers_find(void);
/* What a Fortran wrapper forwards to: the MPI's, or a layer's. */
void sp_layers_fortran(const void *procedure);
/* Whether an address is code of a layer below. */
int sp_is_layer(const void *address);
/* The file of the i-th layer, NULL after the last. */
const char *sp_layer_path(int i);

/* A call of a PMPI_ function before the recording started; `handles`: it makes handles. */
void sp_layer_calls(const void *site, int handles);
/* MPI was initialised by a call from `site`. */
void sp_layer_initialises(const void *site);
/* Whether a layer has functions by which it could show the program another MPI_COMM_WORLD. */
int sp_layers_may_change_world(void);
/* After MPI_Init: whether a layer shows the program another MPI_COMM_WORLD than the MPI's. All
   ranks that the program sees have to ask. */
int sp_layers_change_world(void);

#endif
