/* runtime.c: see runtime.h. */
#define _GNU_SOURCE
#include "runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int rank, ranks, member;
_Thread_local int flag, number[8];
_Thread_local MPI_Aint aint[4];
_Thread_local MPI_Count count64[4];
_Thread_local MPI_Offset offset[4];
_Thread_local MPI_Status status;
_Thread_local void *pointer;

static void fail(const char *what, const char *detail)
{
	fprintf(stderr, "proxy: rank %d: %s%s%s\n", rank, what, detail ? ": " : "", detail ? detail : "");
	fflush(stderr);
	_exit(1);
}

int64_t mod(int64_t a, int64_t m)
{
	a %= m;
	return a < 0 ? a + m : a;
}

/* Calls under way, for the watchdog. */
#define THREADS 64
static struct {
	const char *volatile call;
	volatile uint64_t calls;
} streams[THREADS];
static _Thread_local int stream;
static int limit = 120; /* seconds */

static void *watch(void *unused)
{
	uint64_t last[THREADS] = {0};
	int idle[THREADS] = {0};
	(void)unused;
	for (;;) {
		sleep(1);
		for (int i = 0; i < THREADS; i++) {
			if (!streams[i].call || streams[i].calls != last[i]) {
				last[i] = streams[i].calls;
				idle[i] = 0;
				continue;
			}
			if (++idle[i] < limit)
				continue;
			fprintf(stderr, "proxy: rank %d, thread %d: for %d s in call %llu: %s\n", rank, i, idle[i],
			        (unsigned long long)streams[i].calls, streams[i].call);
			fflush(stderr);
			_exit(3);
		}
	}
	return NULL;
}

/* Time between calls. */
static enum { NONE, SLEEP, SPIN } compute;
static double speed = 1;
static _Thread_local double left; /* seconds after the last call, 0: none yet */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void wait_until(double end)
{
	for (;;) {
		double rest = end - now();
		if (rest <= 0)
			return;
		if (compute == SLEEP && rest > 100e-6) {
			rest -= 60e-6; /* what waking up takes */
			struct timespec t = {(time_t)rest, (long)((rest - (double)(time_t)rest) * 1e9)};
			nanosleep(&t, NULL);
		}
	}
}

/* Memory of arguments, given back when the call is over. */
static _Thread_local struct {
	char *at, *end;
	char *block[64];
	int blocks;
} scrap;

static void *private_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		fail("no memory", strerror(errno));
	return p;
}

void *room(size_t bytes)
{
	bytes = (bytes + 63) & ~(size_t)63;
	if ((size_t)(scrap.end - scrap.at) < bytes) {
		size_t size = bytes > 1 << 20 ? bytes : 1 << 20;
		if (scrap.blocks == 64)
			fail("too many arguments", NULL);
		scrap.at = scrap.block[scrap.blocks++] = private_memory(size);
		scrap.end = scrap.at + size;
	}
	void *p = scrap.at;
	scrap.at += bytes;
	return p;
}

char *text(size_t bytes)
{
	char *p = room(bytes + 1);
	p[0] = 0;
	return p;
}

void *ramp32(int runs, const int64_t *run)
{
	size_t n = 0, at = 0;
	for (int i = 0; i < runs; i++)
		n += (size_t)run[3 * i + 2];
	int32_t *a = room(n * sizeof *a);
	for (int i = 0; i < runs; i++, run += 3)
		for (int64_t k = 0; k < run[2]; k++)
			a[at++] = (int32_t)(run[0] + run[1] * k);
	return a;
}

void *ramp64(int runs, const int64_t *run)
{
	size_t n = 0, at = 0;
	for (int i = 0; i < runs; i++)
		n += (size_t)run[3 * i + 2];
	int64_t *a = room(n * sizeof *a);
	for (int i = 0; i < runs; i++, run += 3)
		for (int64_t k = 0; k < run[2]; k++)
			a[at++] = run[0] + run[1] * k;
	return a;
}

void *row32(const int64_t *table, int n)
{
	int32_t *a = room((size_t)n * sizeof *a);
	for (int i = 0; i < n; i++)
		a[i] = (int32_t)table[(size_t)member * (size_t)n + (size_t)i];
	return a;
}

void *row64(const int64_t *table, int n)
{
	int64_t *a = room((size_t)n * sizeof *a);
	memcpy(a, table + (size_t)member * (size_t)n, (size_t)n * sizeof *a);
	return a;
}

MPI_Status *statuses(int64_t n)
{
	return room((size_t)(n > 0 ? n : 1) * sizeof(MPI_Status));
}

MPI_Status *status_of(int source, int tag, int64_t bytes, int cancelled)
{
	MPI_Status *s = room(sizeof *s);
	memset(s, 0, sizeof *s);
	PMPI_Status_set_cancelled(s, cancelled);
	if (bytes >= 0)
		PMPI_Status_set_elements_x(s, MPI_BYTE, bytes);
	s->MPI_SOURCE = source;
	s->MPI_TAG = tag;
	return s;
}

MPI_Status *status_empty(void)
{
	return status_of(MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
}

MPI_Fint *fstatus_of(MPI_Status *s)
{
	MPI_Fint *f = room(sizeof(MPI_Status) * 2);
	PMPI_Status_c2f(s, f);
	return f;
}

/* Requests. The ring is used from its beginning again when nothing in it is
   alive, so that what is made in a row stands in a row. */
static _Thread_local struct {
	MPI_Request *slot;
	int64_t next, size;
} ring;
static int64_t farthest;
static _Thread_local MPI_Request none;

struct slot { MPI_Request *p, saved; };
static _Thread_local struct {
	struct slot *list;
	int n, room;
} hidden;
static _Thread_local struct {
	MPI_Request *list;
	MPI_Request **home;
	int n;
} gathered;

MPI_Request *no_request(void)
{
	none = MPI_REQUEST_NULL;
	return &none;
}

MPI_Request *request(int64_t ago)
{
	int64_t at = ring.next - ago;
	if (at >= 0)
		return &ring.slot[at];
	at += ring.size;
	return at < ring.next || !ring.slot ? no_request() : &ring.slot[at];
}

MPI_Request *new_request(void)
{
	if (!ring.slot) {
		ring.size = 4 * farthest + 4096;
		ring.slot = private_memory((size_t)ring.size * sizeof *ring.slot);
		for (int64_t i = 0; i < ring.size; i++)
			ring.slot[i] = MPI_REQUEST_NULL;
	}
	if (ring.next > ring.size / 2) {
		int64_t d = 1;
		while (d <= farthest && *request(d) == MPI_REQUEST_NULL)
			d++;
		if (d > farthest)
			ring.next = 0;
		for (int64_t i = 0; ring.next == 0 && i < ring.size; i++)
			ring.slot[i] = MPI_REQUEST_NULL;
	}
	if (ring.next == ring.size)
		ring.next = 0;
	ring.slot[ring.next] = MPI_REQUEST_NULL;
	return &ring.slot[ring.next++];
}

MPI_Request *these(int n, const int64_t *code)
{
	gathered.list = room(((size_t)n + 1) * sizeof *gathered.list);
	gathered.home = room(((size_t)n + 1) * sizeof *gathered.home);
	gathered.n = n;
	for (int i = 0; i < n; i++) {
		gathered.home[i] = code[i] == 0 ? NULL : code[i] & 1 ? &kept[code[i] >> 1] : request(code[i] >> 1);
		gathered.list[i] = code[i] == 0 ? MPI_REQUEST_NULL : *gathered.home[i];
	}
	return gathered.list;
}

MPI_Request *window(int64_t ago)
{
	if (ring.next >= ago)
		return &ring.slot[ring.next - ago];
	/* It goes round the end: in a copy. */
	int64_t *code = room((size_t)ago * sizeof *code);
	for (int64_t i = 0; i < ago; i++)
		code[i] = 2 * (ago - i);
	return these((int)ago, code);
}

static int complete(MPI_Request r)
{
	int f = 0;
	if (r == MPI_REQUEST_NULL)
		return 1;
	PMPI_Request_get_status(r, &f, MPI_STATUS_IGNORE);
	return f;
}

static void hide(MPI_Request *p)
{
	if (hidden.n == hidden.room) {
		hidden.room = hidden.room ? 2 * hidden.room : 64;
		struct slot *list = private_memory((size_t)hidden.room * sizeof *list);
		if (hidden.n) {
			memcpy(list, hidden.list, (size_t)hidden.n * sizeof *list);
			munmap(hidden.list, (size_t)hidden.n * sizeof *list);
		}
		hidden.list = list;
	}
	hidden.list[hidden.n].p = p;
	hidden.list[hidden.n++].saved = *p;
	*p = MPI_REQUEST_NULL;
}

MPI_Request *done(MPI_Request *p)
{
	while (!complete(*p))
		sched_yield();
	return p;
}

MPI_Request *all_done(int n, MPI_Request *p)
{
	for (int i = 0; i < n; i++)
		done(&p[i]);
	return p;
}

static int is_kept(const MPI_Request *p, int i)
{
	if (gathered.n && p == gathered.list)
		p = gathered.home[i], i = 0;
	return !(p >= ring.slot && p < ring.slot + ring.size);
}

/* Between looking and waiting another request than the wanted one may finish.
   Then the wanted one is late: it takes that one's place when its turn comes. */
static _Thread_local struct {
	MPI_Request **slot;
	int n, room;
} late;
static _Thread_local struct {
	MPI_Request **slot; /* where the requests are at home that the call should finish */
	int n, room;
} wanted_now;

static void push(MPI_Request ***list, int *n, int *size, MPI_Request *p)
{
	if (*n == *size) {
		*size = *size ? 2 * *size : 64;
		if (!(*list = realloc(*list, (size_t)*size * sizeof **list)))
			fail("no memory", NULL);
	}
	(*list)[(*n)++] = p;
}

static MPI_Request *home(MPI_Request *p)
{
	return gathered.n && p >= gathered.list && p < gathered.list + gathered.n ? gathered.home[p - gathered.list] : p;
}

/* Finds a late request for place i of n, where there is none any more: at its own
   place, or put there, as the original's array had none in its place by now. */
static int take_late(int i, int n, MPI_Request *p)
{
	for (int k = 0; k < late.n; k++)
		for (int own = 0; own < n; own++)
			if (home(&p[own]) == late.slot[k] && p[own] != MPI_REQUEST_NULL) {
				late.slot[k] = late.slot[--late.n];
				return own;
			}
	if (late.n == 0 || !gathered.n || p != gathered.list)
		return -1;
	gathered.home[i] = late.slot[--late.n];
	p[i] = *gathered.home[i];
	return i;
}

/* After the call: which of the wanted were not finished? */
static void settle(void)
{
	for (int k = late.n; k-- > 0;)
		if (*late.slot[k] == MPI_REQUEST_NULL)
			late.slot[k] = late.slot[--late.n];
	for (int i = 0; i < wanted_now.n; i++)
		if (*wanted_now.slot[i] != MPI_REQUEST_NULL)
			push(&late.slot, &late.n, &late.room, wanted_now.slot[i]);
	wanted_now.n = 0;
}

MPI_Request *some(int wanted, const int32_t *index, int n, MPI_Request *p)
{
	int open = 0; /* requests that were not finished before their time */
	int32_t *now = room(((size_t)wanted + 1) * sizeof *now);
	for (int i = 0; i < wanted; i++) {
		now[i] = index[i] >= 0 && index[i] < n ? index[i] : -1;
		if (now[i] >= 0 && p[now[i]] == MPI_REQUEST_NULL)
			now[i] = take_late(now[i], n, p);
		if (now[i] < 0)
			continue;
		done(&p[now[i]]);
		open++;
		if (!is_kept(p, now[i]) && home(&p[now[i]]))
			push(&wanted_now.slot, &wanted_now.n, &wanted_now.room, home(&p[now[i]]));
	}
	for (int again = 1; again;) {
		again = 0; /* looking may finish what was looked at before */
		for (int i = 0; i < n; i++) {
			if (open == 0 && wanted > 0) {
				hide(&p[i]);
				continue;
			}
			int asked = p[i] == MPI_REQUEST_NULL || is_kept(p, i);
			for (int k = 0; k < wanted && !asked; k++)
				asked = now[k] == i;
			if (!asked && complete(p[i])) {
				hide(&p[i]);
				again = 1;
			}
		}
	}
	return p;
}

MPI_Request *only(int index, int n, MPI_Request *p)
{
	int32_t i = index;
	return some(1, &i, n, p);
}

int pending(MPI_Request *p)
{
	int yes = !complete(*p);
	return yes;
}

int any_pending(int n, MPI_Request *p)
{
	int yes = 0;
	for (int i = 0; i < n && !yes; i++)
		yes = !complete(p[i]);
	gathered.n = 0;
	return yes;
}

int none_done(int n, MPI_Request *p)
{
	int yes = 1;
	for (int i = 0; i < n && yes; i++)
		yes = p[i] == MPI_REQUEST_NULL || !complete(p[i]);
	gathered.n = 0;
	return yes;
}

int nothing_from(int source, int tag, MPI_Comm c)
{
	int f = 0;
	PMPI_Iprobe(source, tag, c, &f, MPI_STATUS_IGNORE);
	return !f;
}

void arrived(int source, int tag, MPI_Comm c)
{
	if (source == MPI_PROC_NULL)
		return;
	streams[stream].calls++;
	streams[stream].call = "waiting for a message that the next call finds";
	while (nothing_from(source, tag, c))
		sched_yield();
}

int any_source(int recorded, MPI_Comm c)
{
	int inter = 0, n = 0;
	PMPI_Comm_test_inter(c, &inter);
	if (inter)
		PMPI_Comm_remote_size(c, &n), n++;
	else
		PMPI_Comm_size(c, &n);
	return n <= 2 || recorded < 0 ? MPI_ANY_SOURCE : recorded;
}

void before(double gap, const char *call)
{
	streams[stream].calls++;
	streams[stream].call = call;
	if (compute != NONE) {
		double t = left ? left : now();
		wait_until(t + gap * 1e-6 / speed);
	}
	streams[stream].calls++;
}

void after(void)
{
	while (hidden.n > 0) {
		struct slot *s = &hidden.list[--hidden.n];
		*s->p = s->saved;
	}
	for (int i = 0; i < gathered.n; i++)
		if (gathered.home[i])
			*gathered.home[i] = gathered.list[i];
	gathered.n = 0;
	settle();
	while (scrap.blocks > 1)
		munmap(scrap.block[--scrap.blocks], 1 << 20);
	if (scrap.blocks)
		scrap.at = scrap.block[0], scrap.end = scrap.at + (1 << 20);
	if (compute != NONE)
		left = now();
	streams[stream].call = NULL;
}

/* Memory. */
struct seg {
	char *base;
	int64_t low, high;
	int known, ours, win;
};
static struct {
	struct seg *seg;
	int64_t n;
} table[8];

static struct seg *segment(int class, int64_t id)
{
	if (id >= table[class].n) {
		int64_t n = 2 * id + 16;
		struct seg *s = private_memory((size_t)n * sizeof *s);
		if (table[class].n)
			memcpy(s, table[class].seg, (size_t)table[class].n * sizeof *s);
		table[class].seg = s;
		table[class].n = n;
	}
	return &table[class].seg[id];
}

void area(int class, int64_t id, int64_t n, int64_t low, int64_t high)
{
	for (int64_t i = 0; i < n; i++) {
		struct seg *s = segment(class, id + i);
		s->low = class == DATA || class == STACK || low < 0 ? low : 0;
		s->high = high + 64;
		s->known = 1;
	}
}

void block(int class, int64_t id, int64_t size)
{
	release(class, id);
	struct seg *s = segment(class, id);
	s->low = 0;
	s->high = size;
	s->known = 1;
}

void blocks(int class, int64_t first, int64_t n, int64_t size)
{
	while (n-- > 0)
		block(class, first++, size);
}

/* Small places share pages; none of them is memory that a recorder would take
   for a block of the heap. */
static void *small(size_t size)
{
	static char *at, *end;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	size = (size + 63) & ~(size_t)63;
	pthread_mutex_lock(&lock);
	if ((size_t)(end - at) < size) {
		size_t block = size > 1 << 20 ? size : 1 << 20;
		at = private_memory(block);
		end = at + block;
	}
	void *p = at;
	at += size;
	pthread_mutex_unlock(&lock);
	return p;
}

static char *base_of(int class, int64_t id)
{
	struct seg *s = segment(class, id);
	if (s->base)
		return s->base;
	size_t size = (size_t)(s->high - s->low);
	void *p = NULL;
	if (class != PLACE && class != MPI_MEMORY) {
		if (posix_memalign(&p, 64, size < 1024 ? 1024 : size))
			fail("no memory", NULL);
		s->ours = 1;
	} else {
		p = small(size);
	}
	return s->base = (char *)p - s->low;
}

char *heap(int64_t id) { return base_of(HEAP, id); }
char *device(int64_t id) { return base_of(DEVICE, id); }
char *data(int64_t id) { return base_of(DATA, id); }
char *stack(int64_t id) { return base_of(STACK, id); }
char *place(int64_t id) { return base_of(PLACE, id); }
char *mpi_memory(int64_t id) { return base_of(MPI_MEMORY, id); }

void release(int class, int64_t id)
{
	struct seg *s = segment(class, id);
	/* A request that is late may still write there. */
	if (s->base && s->ours && late.n == 0)
		free(s->base + s->low);
	s->base = NULL;
	s->ours = 0;
}

void gave(int class, int64_t id, void *base, int win)
{
	struct seg *s = segment(class, id);
	s->base = base;
	s->ours = 0;
	s->win = win + 1;
}

void taken(int class, int64_t id)
{
	struct seg *s = segment(class, id);
	if (!s->ours)
		s->base = NULL;
}

void taken_with(int win)
{
	for (int c = 0; c < 8; c++)
		for (int64_t i = 0; i < table[c].n; i++)
			if (table[c].seg[i].win == win + 1) {
				table[c].seg[i].base = NULL;
				table[c].seg[i].win = 0;
			}
}

int64_t stack_size(int64_t id)
{
	struct seg *s = segment(STACK, id);
	int64_t n = s->known ? s->high - s->low + 64 : 0;
	return n > 1 << 20 ? 0 : n; /* large ones are elsewhere */
}

void data_is(int64_t id, char *from)
{
	segment(DATA, id)->base = from - (segment(DATA, id)->low & ~(int64_t)63);
}

void stack_is(int64_t id, char *from, int64_t size)
{
	struct seg *s = segment(STACK, id);
	if (size > 0)
		s->base = (char *)(((uintptr_t)from + 63) & ~(uintptr_t)63) - s->low;
}

/* Files. */
static const char *files = "scratch";

const char *scratch(const char *name)
{
	static int made;
	if (!made && mkdir(files, 0777) && errno != EEXIST)
		fail(files, strerror(errno));
	made = 1;
	char *path = text(strlen(files) + strlen(name) + 2);
	char *p = path + sprintf(path, "%s/", files);
	for (; *name; name++)
		*p++ = *name == '/' ? '_' : *name;
	*p = 0;
	return path;
}

const char *scratch_of(const char *name, int64_t bytes)
{
	const char *path = scratch(name);
	int fd = open(path, O_CREAT | O_RDWR, 0666);
	struct stat st;
	if (fd < 0)
		fail(path, strerror(errno));
	if (fstat(fd, &st) == 0 && st.st_size < bytes && ftruncate(fd, bytes))
		fail(path, strerror(errno));
	close(fd);
	return path;
}

/* Stand-ins. They leave data alone: what is sent has no meaning here. */
void stand_in_op(void *in, void *inout, int *n, MPI_Datatype *t) { (void)in, (void)inout, (void)n, (void)t; }

static int copy(void *in, void *out, int *f)
{
	*(void **)out = in;
	*f = 1;
	return MPI_SUCCESS;
}

int stand_in_copy(MPI_Comm o, int k, void *x, void *in, void *out, int *f) { (void)o, (void)k, (void)x; return copy(in, out, f); }
int stand_in_type_copy(MPI_Datatype o, int k, void *x, void *in, void *out, int *f) { (void)o, (void)k, (void)x; return copy(in, out, f); }
int stand_in_win_copy(MPI_Win o, int k, void *x, void *in, void *out, int *f) { (void)o, (void)k, (void)x; return copy(in, out, f); }
int stand_in_delete(MPI_Comm o, int k, void *v, void *x) { (void)o, (void)k, (void)v, (void)x; return MPI_SUCCESS; }
int stand_in_type_delete(MPI_Datatype o, int k, void *v, void *x) { (void)o, (void)k, (void)v, (void)x; return MPI_SUCCESS; }
int stand_in_win_delete(MPI_Win o, int k, void *v, void *x) { (void)o, (void)k, (void)v, (void)x; return MPI_SUCCESS; }
void stand_in_comm_errors(MPI_Comm *o, int *c, ...) { (void)o, (void)c; }
void stand_in_win_errors(MPI_Win *o, int *c, ...) { (void)o, (void)c; }
void stand_in_file_errors(MPI_File *o, int *c, ...) { (void)o, (void)c; }
#if MPI_VERSION >= 4
void stand_in_session_errors(MPI_Session *o, int *c, ...) { (void)o, (void)c; }
#endif

/* Queries are told apart by their extra state, requests by their place. */
static struct answer {
	MPI_Request *request;
	void *extra;
	int source, tag, cancelled;
	int64_t bytes;
} answers[256];
static int answer_count;

void queries(MPI_Request *r, void *extra)
{
	int i = 0;
	while (i < answer_count && answers[i].request != r)
		i++;
	if (i == 256)
		return;
	if (i == answer_count)
		answer_count++;
	answers[i] = (struct answer){r, extra, MPI_UNDEFINED, MPI_UNDEFINED, 0, 0};
}

void told(MPI_Request *r, int source, int tag, int64_t bytes, int cancelled)
{
	for (int i = 0; i < answer_count; i++)
		if (answers[i].request == r)
			answers[i] = (struct answer){r, answers[i].extra, source, tag, cancelled, bytes};
}

int stand_in_query(void *extra, MPI_Status *s)
{
	struct answer a = {NULL, NULL, MPI_UNDEFINED, MPI_UNDEFINED, 0, 0};
	for (int i = 0; i < answer_count; i++)
		if (answers[i].extra == extra)
			a = answers[i];
	PMPI_Status_set_elements_x(s, MPI_BYTE, a.bytes < 0 ? 0 : a.bytes);
	PMPI_Status_set_cancelled(s, a.cancelled);
	s->MPI_SOURCE = a.source;
	s->MPI_TAG = a.tag;
	return MPI_SUCCESS;
}

int stand_in_extent(MPI_Datatype t, MPI_Aint *n, void *x)
{
	MPI_Aint low;
	(void)x;
	return PMPI_Type_get_extent(t, &low, n);
}

int stand_in_convert(void *u, MPI_Datatype t, int n, void *f, MPI_Offset o, void *x)
{
	(void)u, (void)t, (void)n, (void)f, (void)o, (void)x;
	return MPI_SUCCESS;
}

int stand_in_free(void *x) { (void)x; return MPI_SUCCESS; }
int stand_in_cancel(void *x, int c) { (void)x, (void)c; return MPI_SUCCESS; }

/* Start and end. */
int position(const struct run *run, int runs)
{
	int before_it = 0;
	for (int i = 0; i < runs; before_it += run[i++].count) {
		int d = rank - run[i].first, step = run[i].stride ? run[i].stride : 1;
		if (d >= 0 && d % step == 0 && d / step < run[i].count)
			return before_it + d / step;
	}
	return -1;
}

static int from_environment(const char *const *names)
{
	for (; *names; names++) {
		const char *s = getenv(*names);
		if (s && *s)
			return atoi(s);
	}
	return -1;
}

void start(int world, const char *how, int64_t distance)
{
	static const char *const rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MPI_RANK", "SLURM_PROCID", NULL};
	static const char *const size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_SIZE", "SLURM_NTASKS", NULL};
	const char *s = getenv("PROXY_COMPUTE");
	if (s && *s)
		how = s;
	compute = strcmp(how, "sleep") == 0 ? SLEEP : strcmp(how, "spin") == 0 ? SPIN : NONE;
	if ((s = getenv("PROXY_SPEED")) && atof(s) > 0)
		speed = atof(s);
	if ((s = getenv("PROXY_FILES")) && *s)
		files = s;
	if ((s = getenv("PROXY_WATCHDOG")) && *s)
		limit = atoi(s);
	farthest = distance;
	ranks = world;
	rank = from_environment(rank_names);
	int size = from_environment(size_names);
	if (rank < 0 && world == 1)
		rank = 0;
	if (rank < 0)
		fail("can't tell which rank this is; start it with mpiexec -n", NULL);
	if ((size > 0 && size != world) || rank >= world) {
		if (rank == 0)
			fprintf(stderr, "proxy: made for %d ranks: mpiexec -n %d\n", world, world);
		_exit(1);
	}
	pthread_t t;
	if (limit > 0 && pthread_create(&t, NULL, watch, NULL) == 0)
		pthread_detach(t);
}

void begun(void)
{
	int r, n;
	PMPI_Comm_rank(MPI_COMM_WORLD, &r);
	PMPI_Comm_size(MPI_COMM_WORLD, &n);
	if (r != rank || n != ranks)
		fail("the launcher numbers ranks unlike the MPI", NULL);
}

static pthread_t threads[THREADS];
static void (*const *thread_of)(void);
static int thread_count;
static pthread_mutex_t ending = PTHREAD_MUTEX_INITIALIZER;

static void *run_thread(void *number_)
{
	stream = (int)(intptr_t)number_;
	int64_t size = stack_size(stream);
	char local[size > 0 ? size : 1];
	stack_is(stream, local, size);
	thread_of[stream - 1]();
	/* A recorder may give what it has for a thread that ended to the next one. */
	pthread_mutex_lock(&ending);
	pthread_mutex_unlock(&ending);
	return NULL;
}

void begin_threads(int n, void (*const *list)(void))
{
	thread_of = list;
	static int begun_once;
	if (begun_once++)
		return;
	pthread_mutex_lock(&ending);
	for (int i = 0; i < n && i + 1 < THREADS; i++, thread_count++) {
		if (pthread_create(&threads[i], NULL, run_thread, (void *)(intptr_t)(i + 1)))
			fail("no thread", NULL);
		/* Threads have their numbers from the order of their first calls. */
		while (streams[i + 1].calls < 2)
			sched_yield();
		usleep(2000);
	}
}

void end_threads(void)
{
	if (thread_count > 0)
		pthread_mutex_unlock(&ending);
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	thread_count = 0;
}

int finish(void)
{
	streams[stream].call = NULL;
	return 0;
}
