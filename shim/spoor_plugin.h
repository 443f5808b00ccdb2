/*
 * spoor.h: plugins of spoor.
 *
 *     cc -shared -fPIC -o my.so my.c
 *     spoor run --plugin ./my.so mpirun -n 4 ./app
 *
 * A plugin is a shared object that is loaded into each rank inside MPI_Init. It
 * exports spoor_init, and spoor_pre or spoor_post or both, which are then called
 * around each MPI call of the program, in the calling thread, C and Fortran alike.
 * It may attach named numbers to a call; the trace keeps for each function and
 * call site how many there were, their sum, and the least and the greatest.
 *
 * What holds
 *  1. Calls come from several threads at once, if the program's MPI calls do.
 *  2. A plugin may call MPI; its calls are not recorded and don't call it again.
 *     A call of a callback that MPI calls inside of a call of the program comes
 *     nested between that one's spoor_pre and spoor_post.
 *  3. spoor_pre is called before the call begins and spoor_post after it has
 *     returned; neither's time counts as the call's or as the program's. There is
 *     no spoor_post of a call that doesn't return.
 *  4. The call that initialises MPI has its spoor_post alone: the plugin is loaded
 *     when it is through. Calls before it, and while recording is switched off, are
 *     left out. MPI_Finalize has both before it is entered.
 *  5. A spoor_call and all it points to are valid until the function returns.
 *  6. A plugin may name the phases of a program; every verb takes the calls of one
 *     (`spoor calltree --phase solve`).
 *  7. What a plugin does to the program's memory is its own affair.
 */
#ifndef SPOOR_H
#define SPOOR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a field changes its meaning. Fields are added at the end: `size`
   tells whether they are there. */
#define SPOOR_PLUGIN_ABI 1

/* A call of the program. */
typedef struct spoor_call {
	uint32_t size;       /* of this struct */
	uint32_t function;   /* spoor's number of it, the same in every run and version */
	const char *name;    /* "MPI_Send" */
	int32_t rank;        /* in MPI_COMM_WORLD */
	int32_t thread;      /* 0 called MPI_Init */
	uint64_t ticks;      /* now; in spoor_post when the call returned */
	int64_t result;      /* in spoor_post: the return code, or what the function returned instead */
	int32_t returned;    /* 0 in spoor_pre, 1 in spoor_post */
	int32_t nparams;
	const int64_t *params; /* values as in C: numbers, handles (as the MPI library has them) and pointers.
	                          Where the program ignores a status there is one nevertheless. */
	const void *site;    /* where the program called: the return address; NULL of the call that
	                        initialised MPI */
	uint64_t sequence;   /* the how-manieth call of the thread that plugins see, from 1 on: the same in both */
	uint64_t elapsed;    /* ticks since the thread's spoor_pre or spoor_post before: in spoor_pre the time
	                        outside of MPI, in spoor_post that of the call; 0 in the first */
} spoor_call;

/* What a plugin can ask of spoor. */
typedef struct spoor_api {
	uint32_t abi;  /* SPOOR_PLUGIN_ABI */
	uint32_t size; /* of this struct */
	int32_t rank, ranks; /* in MPI_COMM_WORLD */
	double ticks_per_ns;

	/* The clock that calls are timed with. */
	uint64_t (*ticks)(void);
	/* The number of a name, for attach: up to 64 bytes, up to 64 names; -1 if that
	   is exceeded. The same name has the same number. */
	int32_t (*value)(const char *name);
	/* Attach a number to the call: in spoor_pre or spoor_post, up to 32 times. */
	void (*attach)(const spoor_call *call, int32_t value, int64_t number);
	/* The parameter's index by its name in the standard; -1 if there is none. */
	int32_t (*find)(const spoor_call *call, const char *name);
	/* Its name, and its kind: "count", "rank", "tag", "comm", "buffer", …; NULL if
	   there is no such index. */
	const char *(*name)(const spoor_call *call, int32_t index);
	const char *(*kind)(const spoor_call *call, int32_t index);
	/* How many bytes the first buffer holds that the call hands on or fills, and that is not in
	   place: count × the datatype's size, in a gather or an all-to-all that of all ranks.
	   0 where only the root's counts; -1 of calls without, or with a count for each rank. */
	int64_t (*bytes)(const spoor_call *call);
	/* Begin a phase of the thread: with this call, from spoor_pre; with its next one, from
	   spoor_post. It goes on until the next phase begins, or the program calls MPI_Pcontrol. Of
	   the name 64 bytes count; a thread may have 4,096 distinct ones, less if they begin in several places. */
	void (*phase)(const spoor_call *call, const char *name);
} spoor_api;

/* Called once, inside MPI_Init. api stays valid. What is not 0 means that the
   plugin can't work; it should have said why. */
int spoor_init(const spoor_api *api);
void spoor_pre(const spoor_call *call);
void spoor_post(const spoor_call *call);
/* Called inside MPI_Finalize, if it is there. */
void spoor_fini(void);

#ifdef __cplusplus
}
#endif

#endif
