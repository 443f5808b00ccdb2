/* runtime.h: the shim's slow paths and its life cycle. */
#ifndef SPOOR_RUNTIME_H
#define SPOOR_RUNTIME_H

#include "shim.h"

/* One line on stderr, "spoor: …". */
void sp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, but only the first in this process. */
void sp_warn_once(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Warn and never record again. */
void sp_give_up(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set up what every thread and call needs, once. */
void sp_loaded(void);
/* After PMPI_Init: start recording for good. */
void sp_start(unsigned call, const int64_t *params);
/* The same where a layer called PMPI_Init from `site`: it may keep this rank, and never return to the program. */
void sp_start_inside(const void *site, unsigned call, const int64_t *params);
/* After the LEAVE of the call that it was in: the time for that is not the call's. */
void sp_started_inside(unsigned call, const int64_t *params);
/* The same without MPI_COMM_WORLD. */
void sp_start_alone(unsigned call, const int64_t *params);
/* A wrapper is inside of a function that initialises MPI, or at its own start. */
extern int sp_initialising;
/* The same where MPI was initialised and no wrapper saw it. */
void sp_start_late(void);
/* Before PMPI_Finalize: merge, write, clean up, and stop. */
void sp_finish(void);
/* The program calls MPI_Finalize: whether that is left to the layer's call of PMPI_Finalize. */
int sp_finish_inside(void);
/* The layer came back: it may have found another way to finalize MPI. */
void sp_finish_missed(void);
/* The same where there was no start together: the records are complete. */
void sp_finish_alone(void);
/* After PMPI_Session_init and before PMPI_Session_finalize: in a program that
   doesn't call MPI_Init, the first session starts the recording, and when none
   is open it is complete. */
void sp_session_opened(intptr_t session, const int64_t *params);
void sp_session_closing(void);
/* The program switches recording on or off. */
void sp_switch(int on);
void sp_switch_by_info(const char *key, const char *value);
/* Whether a call that may start the recording is itself recorded; `pmpi`: it is by the PMPI_
   name. */
int sp_open_start(struct sp_thread *t, const void *site, int pmpi);
/* Move what was recorded before MPI_Init into ring 0 and make it t's. 0 if
   there is no memory. */
int sp_attach_first(struct sp_thread *t, uint64_t capacity);

/* Whether a call of a file can be recorded before MPI_Init: there is room for many. */
int sp_early_files(struct sp_thread *t);
/* Whether a call before MPI_Init can be recorded; where MPI is initialised unseen, recording starts. */
int sp_early_open(struct sp_thread *t);
uint64_t sp_early_bytes(void);

/* The records before MPI_Init shall be t's: t is in MPI_Init. */
void sp_early_claim(struct sp_thread *t);

/* Where a running process stands. */
extern struct sp_run {
	int rank, ranks, spawned;
	int alone;     /* sessions only: there is no MPI_COMM_WORLD */
	int late;      /* MPI_Init was not seen, or not all ranks returned from it */
	int inside;    /* recording started in a layer's call of PMPI_Init */
	int finalizing; /* the program called MPI_Finalize, and a layer will call PMPI_Finalize */
	int start_off; /* switched off before MPI_Init */
	intptr_t comm;        /* private duplicate of MPI_COMM_WORLD */
	intptr_t world_group; /* of MPI_COMM_WORLD; 0 if there is none */
	double ticks_per_ns;
	uint64_t start_ticks;
	int64_t start_ns;
} sp_run;

#endif
