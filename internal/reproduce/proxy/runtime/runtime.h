/*
 * runtime.h: what a proxy program stands on. It is the same in every proxy.
 *
 * A line of the program is DO(gap, call): `gap` microseconds pass as they did
 * between the calls of the original, then the call is made. Handles stand in
 * arrays under the numbers that the trace gives them (comm[0], type[2]); memory
 * in segments, of which an address is a place (heap(3) + 800).
 */
#ifndef RUNTIME_H
#define RUNTIME_H

#define OMPI_OMIT_MPI1_COMPAT_DECLS 0 /* Open MPI hides what MPI-3 removed */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#include "common.h"
#include "posix.h"

/* Programs call what they call; MPICH's (MPI_Status *)1 is no overflow. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#if __GNUC__ >= 11
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif
#endif
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC visibility push(hidden)

/* This process. member is its position in its class of ranks. */
extern int rank, ranks, member;

/* Calls. The text of the one under way is what the watchdog prints. */
#define DO(gap, ...) (before(gap, #__VA_ARGS__), (void)(__VA_ARGS__), after())
#define POLL(open, gap, ...) do { if (open) DO(gap, __VA_ARGS__); else PASS(gap); } while (0)
#define PASS(gap) pass(gap)   /* time goes by, without a call */
#define ENTER(gap) entered(gap) /* the next call comes after so much, whatever its line says */
/* What callbacks of a call use is freed when its place is needed: they are no callbacks here, and their calls come behind. */
#define FREE_LATER(free, type, place) free_later((int (*)(void *))(free), place, sizeof(type))
void free_later(int (*)(void *), const void *place, size_t size);
void free_now(const void *place); /* NULL: all */
#define UNTIL(gap, ...) do DO(gap, __VA_ARGS__); while (!flag && again())
/* Calls until so many requests are finished, or none is left. */
#define FINISH(n, got, gap, ...) do { int64_t left_ = (n); DO(gap, __VA_ARGS__); \
	while ((left_ -= got()) > 0) DO(0, __VA_ARGS__); } while (0)
#define REPEAT(n) for (int64_t i_ = 0, n_ = (n); i_ < n_; i_++)
struct gap { double share, us; };
/* One of n gaps, in an order that looks random and is the same in every run: in so many
   calls as there are at the place, each as often as it should be. */
#define DRAWN(calls, n, gaps) ({ static _Thread_local uint32_t times_; drawn(&times_, __LINE__, calls, n, gaps); })
double drawn(uint32_t *times, uint32_t place, uint32_t calls, int n, const struct gap *);
void before(double gap, const char *call);
int again(void); /* what was made is not yet the call of the trace */
void follow(void); /* gaps are those in the files of folder gaps beside the program, one for each call */
void pass(double gap);
void entered(double gap);
void after(void);

/* Arguments that are arrays, or are written. */
#define A32(...) ((void *)(int32_t[]){__VA_ARGS__})
#define A64(...) ((void *)(int64_t[]){__VA_ARGS__})
void *ramp32(int runs, const int64_t *run); /* each run: start, stride, count */
void *ramp64(int runs, const int64_t *run);
void *row32(const int64_t *table, int n); /* this member's row of n */
void *row64(const int64_t *table, int n);
void *room(size_t bytes); /* until the call is over */
char *text(size_t bytes);
int64_t mod(int64_t a, int64_t m); /* never negative */

/* Where outputs go that nobody asks for. */
extern _Thread_local int flag, number[8];
extern _Thread_local MPI_Aint aint[4];
extern _Thread_local MPI_Count count64[4];
extern _Thread_local MPI_Offset offset[4];
extern _Thread_local MPI_Status status;
extern _Thread_local void *pointer;
MPI_Status *statuses(int64_t n);
void *no_types(void *array, int n); /* n times MPI_DATATYPE_NULL */
MPI_Status *status_of(int source, int tag, int64_t bytes, int cancelled);
MPI_Status *status_empty(void);
MPI_Fint *fstatus_of(MPI_Status *);

/* Requests: one-shot ones by how many creations ago they were made, others by
   number. Codes in these(): 0 none, 2d the one made d ago, 2p+1 kept[p]. */
extern MPI_Request kept[];
MPI_Request *new_request(void);
MPI_Request *request(int64_t ago);
MPI_Request *window(int64_t ago); /* the requests from there on */
MPI_Request *these(int n, const int64_t *code);
MPI_Request *passes(int n, MPI_Request *); /* of a call that may leave some of them, */
MPI_Request *as_left(int n);               /* which the next such call is given */
MPI_Request *no_request(void);

/* Completion happens in the order of the trace: these wait, without a call that
   shows, until what is to be finished can be, and hide what is early. */
MPI_Request *done(MPI_Request *);
MPI_Request *all_done(int n, MPI_Request *);
MPI_Request *only(int index, int n, MPI_Request *);
MPI_Request *some(int wanted, const int32_t *index, int n, MPI_Request *);
/* Whether a test would find nothing, as it did in the trace. */
int pending(MPI_Request *);
int any_pending(int n, MPI_Request *);
int none_done(int n, MPI_Request *);
int nothing_from(int source, int tag, MPI_Comm);
void arrived(int source, int tag, MPI_Comm); /* waits until such a message is there */
/* MPI_ANY_SOURCE where only one other rank can send, else the rank that the
   original's message came from: who takes another one's may wait for that one
   later, in vain. */
int any_source(int recorded, MPI_Comm);

/* How many requests a call has finished; if there was none, as many as anybody wants. */
int64_t flag_(void);
int64_t testany(void);
int64_t index_(void);
int64_t outcount(void);

/* Memory. */
enum { HEAP = 1, DEVICE = 2, DATA = 3, STACK = 4, PLACE = 5, MPI_MEMORY = 6 };
/* A segment is as large as in the original, or, where the trace does not say so,
   reaches as far as calls do. It is allocated when it is first used. */
void block(int class, int64_t id, int64_t size);
void blocks(int class, int64_t first, int64_t n, int64_t size); /* n from number first on */
void area(int class, int64_t first, int64_t n, int64_t low, int64_t high);
void release(int class, int64_t id); /* freed; the number may be used again */
char *heap(int64_t id);
char *device(int64_t id);
char *data(int64_t id);
char *stack(int64_t id);
char *place(int64_t id);
char *mpi_memory(int64_t id);
void gave(int class, int64_t id, void *base, int win); /* by the MPI; win: of the window that owns it, or -1 */
void taken(int class, int64_t id);
void taken_with(int win);

/* What the original named by its address in a displacement, relocate(0x7ffd3a2c1040), lies
   in memory that is set aside at the same place in all ranks. A page of it is memory
   once it is touched. */
void relocate_regions(int n, const int64_t *regions); /* each 4 GiB, by the upper halves of addresses in it */
MPI_Aint relocate(int64_t original);
void *relocate_all(int n, const int64_t *displacements); /* those that are no addresses stay */
void attach_relocated(MPI_Win); /* all of it, to a dynamic window */

/* Values that are others in each call: LANE(n, k) is the k-th of lane n, and step(n)
   goes on to those of the next call. A step adds one row of steps; order says which
   follow each other, as rules: turns of a step ({2, 10}: row 2 ten times) or of another
   rule ({-1, 10}), and {0, 0} behind each rule. Rule 0 is all of it. */
struct turn { int id; int64_t count; };
extern int64_t **lane_values;
#define LANE(n, k) lane_values[n][k]
void lane(int n, int values, const int64_t *first, const int64_t *steps, int turns, const struct turn *order);
void step(int n);

/* Files: scratch files below PROXY_FILES instead of the program's, see posix.h. */
void on_files(void);
const char *numbered(const char *before, int width, int64_t n, const char *after); /* "before007after" */
const char *scratch(const char *name); /* of MPI-IO */
const char *scratch_of(const char *name, int64_t bytes); /* that exists already */

/* Stand-ins for functions of the program: in common.h, and these. */
/* The attribute, if there is one, gets a value that a copy callback of the program made. */
void comm_attribute(MPI_Comm, int key, void *value);
void win_attribute(MPI_Win, int key, void *value);
void type_attribute(MPI_Datatype, int key, void *value);
int stand_in_query(void *, MPI_Status *);
void queries(MPI_Request *, void *extra); /* a generalised request was made */
void told(MPI_Request *, int source, int tag, int64_t bytes, int cancelled); /* what its query will say */
int stand_in_extent(MPI_Datatype, MPI_Aint *, void *);

/* Values that are others in each call, row by row: ROW(n, k) is the k-th of the row of table n at hand. */
extern int64_t const **row_values;
#define ROW(n, k) row_values[n][k]
void rows(int n, int width, const int64_t *values, const int *order); /* numbers of rows; -k: the last one k times more */
void next_row(int n);

/* Messages that come and go in an order that is another in each run. An EXCHANGE goes on until each kind of call was made
   as often as the row of a table says, and all requests are finished. MAKES makes a call if no more than so many requests
   of its kind are open, and none at that address; TESTS tests for each request of a kind, TESTS_OF for all of some kinds at
   once; what follows is asked of each that is finished. What waits for all of them is called where as many are open as were at
   most, and all are done (not_all). TAKES receives messages that are probed for. Calls that would wait are not made as long as
   they are in vain. */
#define EXCHANGE(n, kinds, gap, ...) do { PASS(gap); exchange(n, kinds); while (exchanging()) { __VA_ARGS__ } next_row(n); } while (0)
#define MAKES(kind, most, where, ...) for (const void *at_; at_ = where, may_open(kind, most, at_);) { __VA_ARGS__ opened(kind, at_); }
#define TESTS(kind, test, ...) for (int i_ = 0; test_next(kind, &i_);) { test if (*opened_request() != MPI_REQUEST_NULL) i_++; else { closed(); __VA_ARGS__ } }
#define TESTS_OF(kinds, in_vain, test, ...) if (gather(kinds) > 0 && !(in_vain)) { test for (int n_ = gathered_done(); n_ > 0; n_--) { __VA_ARGS__ } }
#define TAKES(kind, in_vain, probe, ...) while (may_open(kind, 1, NULL) && !(in_vain)) { flag = 1; DO(0, probe); if (!flag) break; __VA_ARGS__ opened(kind, NULL); }
void exchange(int n, int kinds);
int exchanging(void);
int may_open(int kind, int most, const void *where);
MPI_Request *opening(int kind);
void opened(int kind, const void *where);
int test_next(int kind, int *at);
MPI_Request *opened_request(void);
void closed(void);
int gather(unsigned kinds);
int gathered_open(void);
MPI_Request *opened_requests(void);
int gathered_done(void);
int not_all(void);
int sent(MPI_Datatype); /* how much of it the message has that status tells of */

/* Start and end. */
struct run { int first, stride, count; };
int position(const struct run *, int runs);  /* this rank's, or -1 */
void start(int world, const char *compute, int64_t distance); /* world: number of ranks; 0: any number */
void begin_threads(int n, void (*const *streams)(void));
void end_threads(void);
/* Calls of MPI for the proxy's own ends: a trace of the proxy is to be without them. */
void apart(int on);
#define APART(call) (apart(1), (void)(call), apart(0))

void begun(void); /* after MPI_Init */
int finish(void);
/* So many calls of each thread of a rank, rank by rank, are all that the program came to,
   or that can be made without what others did not come to. Then ranks finish. */
void ends(int threads, const int64_t *calls);
/* Calls of a thread that begin after a call of another is over: both use one object. */
struct later { int rank, thread; uint64_t call; int of; uint64_t after; };
void turns(int n, const struct later *);
void stack_is(int64_t id, char *from, int64_t size);
void data_is(int64_t id, char *from);
int64_t stack_size(int64_t id);

#pragma GCC visibility pop
#endif
